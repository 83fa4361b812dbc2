// SPDX-License-Identifier: GPL-2.0-only
#include "target/misbehave.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <span>

namespace mpath::target {

namespace {

using nvme::PduType;
namespace pdu_flag = nvme::pdu_flag;

struct Victim {
    PduWriter& writer;
    const nvme::Cqe& cqe;
    const IoPlan& plan;

    [[nodiscard]] std::uint32_t length() const { return static_cast<std::uint32_t>(plan.length); }
    void read(std::uint32_t data_offset, std::uint32_t bytes, std::uint8_t flags) const {
        const ReadPiece piece{.cid = cqe.cid, .data_offset = data_offset, .length = bytes, .flags = flags};
        // Data that the command has not asked for is the block's first once more.
        writer.read_piece(piece, *plan.space, plan.offset + (data_offset < length() ? data_offset : 0));
    }
};

nvme::CapsuleResp response(const Victim& victim) {
    nvme::CapsuleResp pdu;
    pdu.common.type = static_cast<std::uint8_t>(PduType::capsule_resp);
    pdu.common.hlen = sizeof(pdu);
    pdu.common.plen = static_cast<std::uint32_t>(sizeof(pdu) + victim.writer.header_digest_size());
    pdu.cqe = victim.cqe;
    return pdu;
}

nvme::C2hData data_header(const Victim& victim, std::uint8_t pdo, std::uint32_t length) {
    nvme::C2hData pdu;
    pdu.common.type = static_cast<std::uint8_t>(PduType::c2h_data);
    pdu.common.flags = pdu_flag::kLastPdu;
    pdu.common.hlen = sizeof(pdu);
    pdu.common.pdo = pdo;
    pdu.common.plen = pdo + length + victim.writer.data_digest_size();
    pdu.cccid = victim.cqe.cid;
    pdu.datal = length;
    return pdu;
}

template <typename Pdu>
void send_raw(const Victim& victim, Pdu pdu, std::span<const std::byte> data = {}) {
    victim.writer.raw({reinterpret_cast<std::byte*>(&pdu), sizeof(pdu)}, data);
}

void data_beyond(const Victim& victim) {
    victim.read(0, victim.length(), 0);
    victim.read(victim.length(), 512, pdu_flag::kLastPdu);
    victim.writer.capsule_resp(victim.cqe);
}

void data_out_of_order(const Victim& victim) {
    const std::uint32_t half = victim.length() / 2;
    victim.read(half, half, 0);
    victim.read(0, half, pdu_flag::kLastPdu);
    victim.writer.capsule_resp(victim.cqe);
}

void data_empty(const Victim& victim) {
    auto pdu = data_header(victim, victim.writer.data_offset(), 0);
    pdu.common.flags = 0;
    send_raw(victim, pdu);
}

void success_not_last(const Victim& victim) {
    const std::uint32_t half = victim.length() / 2;
    victim.read(0, half, pdu_flag::kSuccess);
    victim.read(half, half, pdu_flag::kLastPdu | pdu_flag::kSuccess);
}

void short_success(const Victim& victim) {
    victim.read(0, victim.length() / 2, pdu_flag::kLastPdu | pdu_flag::kSuccess);
}

void plen_huge(const Victim& victim) {
    auto pdu = data_header(victim, victim.writer.data_offset(), 0);
    pdu.common.plen = 0xfffffffc;
    pdu.datal = 0xfffffffc - pdu.common.pdo - victim.writer.data_digest_size();
    constexpr std::array<std::byte, 512> kSome{};
    send_raw(victim, pdu, kSome);
}

void pdo_unaligned(const Victim& victim) {
    std::array<std::byte, 512> block{};
    const auto pdo = static_cast<std::uint8_t>(victim.writer.data_offset() + 1);
    send_raw(victim, data_header(victim, pdo, block.size()), block);
    victim.writer.capsule_resp(victim.cqe);
}

void unknown_cid(const Victim& victim) {
    nvme::Cqe cqe = victim.cqe;
    cqe.cid = static_cast<std::uint16_t>(~cqe.cid);
    victim.writer.capsule_resp(cqe);
}

void stale_cid(const Victim& victim) {
    victim.writer.capsule_resp(victim.cqe);
}

void unknown_type(const Victim& victim) {
    auto pdu = response(victim);
    pdu.common.type = 0x08;
    send_raw(victim, pdu);
}

void term_req(const Victim& victim) {
    std::array<std::byte, nvme::kMaxTermReqData> offending{};
    offending.fill(std::byte{0x5a});
    victim.writer.term_req({nvme::FatalStatus::sequence_error, 0}, offending);
}

void plen_0(const Victim& victim) {
    auto pdu = response(victim);
    pdu.common.plen = 0;
    send_raw(victim, pdu);
}

void hlen(const Victim& victim) {
    auto pdu = response(victim);
    pdu.common.hlen = sizeof(pdu) - 1;
    send_raw(victim, pdu);
}

struct Deed {
    Misdeed misdeed;
    std::string_view name;
    std::string_view text;
    Victims victims;
    Place place;
    void (*act)(const Victim&);
};

constexpr std::array kDeeds = {
    Deed{Misdeed::r2t_empty, "r2t-empty", "an R2T for no bytes", Victims::r2t_writes, Place::in_r2ts,
         nullptr},
    Deed{Misdeed::r2t_beyond, "r2t-beyond", "an R2T for 4 KiB more than the command has", Victims::r2t_writes,
         Place::in_r2ts, nullptr},
    Deed{Misdeed::r2t_overlap, "r2t-overlap", "a second R2T that begins 4 bytes before the end of the first",
         Victims::r2t_writes, Place::in_r2ts, nullptr},
    Deed{Misdeed::r2t_too_many, "r2t-too-many", "one R2T more at a time than the host allows",
         Victims::r2t_writes, Place::in_r2ts, nullptr},
    Deed{Misdeed::early_error, "early-error",
         "Internal Error after the first data of a write (legal: the host has to stop sending)",
         Victims::r2t_writes, Place::in_r2ts, nullptr},
    Deed{Misdeed::data_beyond, "data-beyond", "512 bytes behind the end of a read's data", Victims::reads,
         Place::instead, data_beyond},
    Deed{Misdeed::data_out_of_order, "data-out-of-order", "a read's second half before its first",
         Victims::reads, Place::instead, data_out_of_order},
    Deed{Misdeed::data_empty, "data-empty", "C2HData without data", Victims::reads, Place::before,
         data_empty},
    Deed{Misdeed::success_not_last, "success-not-last", "SUCCESS in a C2HData that is not the last",
         Victims::reads, Place::instead, success_not_last},
    Deed{Misdeed::short_success, "short-success", "SUCCESS after half of a read's data", Victims::reads,
         Place::instead, short_success},
    Deed{Misdeed::plen_huge, "plen-huge", "C2HData with a PLEN of 4 GiB less 4", Victims::reads,
         Place::instead, plen_huge},
    Deed{Misdeed::pdo_unaligned, "pdo-unaligned", "C2HData whose data starts at an odd offset",
         Victims::reads, Place::instead, pdo_unaligned},
    Deed{Misdeed::unknown_cid, "unknown-cid", "a completion for a command that does not exist", Victims::all,
         Place::before, unknown_cid},
    Deed{Misdeed::stale_cid, "stale-cid", "a second completion for the same command", Victims::all,
         Place::after, stale_cid},
    Deed{Misdeed::unknown_type, "unknown-type", "a PDU of type 08h", Victims::all, Place::before,
         unknown_type},
    Deed{Misdeed::term_req, "term-req", "C2HTermReq with 128 bytes of data", Victims::all, Place::instead,
         term_req},
    Deed{Misdeed::plen_0, "plen-0", "CapsuleResp with PLEN 0", Victims::all, Place::instead, plen_0},
    Deed{Misdeed::hlen, "hlen", "CapsuleResp with HLEN 23", Victims::all, Place::instead, hlen},
};

const Deed& deed_of(Misdeed misdeed) {
    return *std::find_if(kDeeds.begin(), kDeeds.end(),
                         [misdeed](const Deed& deed) { return deed.misdeed == misdeed; });
}

} // namespace

Result<Break> parse_break(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    const auto* deed =
        std::find_if(kDeeds.begin(), kDeeds.end(), [name](const Deed& known) { return known.name == name; });
    if (deed == kDeeds.end()) {
        return failure(EINVAL, "'{}' is nothing to do wrong, `fio-mpath target --help` lists what is", name);
    }
    Break told{.what = deed->misdeed};
    if (colon != std::string_view::npos) {
        const std::string_view digits = text.substr(colon + 1);
        const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), told.at);
        if (fault != std::errc{} || end != digits.data() + digits.size() || told.at == 0) {
            return failure(EINVAL, "'{}' does not say on which command, write WHAT:N with N from 1", text);
        }
    }
    return told;
}

std::string describe_misdeeds() {
    std::string text;
    for (const Deed& deed : kDeeds) {
        text += fmt::format("  {:<18}{}\n", deed.name, deed.text);
    }
    return text;
}

Misdeed Misbehaviour::next(Victims kind) {
    if (to_come_ == 0 || deed_of(what_).victims != kind) {
        return Misdeed::none;
    }
    return --to_come_ == 0 ? what_ : Misdeed::none;
}

Victims victims_of(Misdeed misdeed) {
    return deed_of(misdeed).victims;
}

Place place_of(Misdeed misdeed) {
    return deed_of(misdeed).place;
}

void misbehave(Misdeed misdeed, PduWriter& writer, const nvme::Cqe& cqe, const IoPlan& plan) {
    deed_of(misdeed).act({writer, cqe, plan});
}

} // namespace mpath::target
