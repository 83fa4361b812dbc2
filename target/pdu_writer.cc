// SPDX-License-Identifier: GPL-2.0-only
#include "target/pdu_writer.h"

#include <algorithm>

namespace mpath::target {

using nvme::PduType;

namespace {

template <typename Pdu>
Pdu make(PduType type, std::uint32_t length = sizeof(Pdu)) {
    Pdu pdu;
    pdu.common.type = static_cast<std::uint8_t>(type);
    pdu.common.hlen = sizeof(Pdu);
    pdu.common.plen = length;
    return pdu;
}

} // namespace

void PduWriter::set_hpda(std::uint8_t hpda) {
    const std::uint32_t alignment = (hpda + 1U) * 4;
    data_offset_ = static_cast<std::uint8_t>((sizeof(nvme::C2hData) + alignment - 1) / alignment * alignment);
}

void PduWriter::ic_resp(std::uint8_t cpda, std::uint32_t max_h2c_data) {
    auto pdu = make<nvme::IcResp>(PduType::ic_resp);
    pdu.cpda = cpda;
    pdu.maxh2cdata = max_h2c_data;
    queue_.append(&pdu, sizeof(pdu));
}

void PduWriter::capsule_resp(const nvme::Cqe& cqe) {
    auto pdu = make<nvme::CapsuleResp>(PduType::capsule_resp);
    pdu.cqe = cqe;
    queue_.append(&pdu, sizeof(pdu));
}

void PduWriter::r2t(std::uint16_t cid, std::uint16_t tag, std::uint32_t offset, std::uint32_t length) {
    auto pdu = make<nvme::R2t>(PduType::r2t);
    pdu.cccid = cid;
    pdu.ttag = tag;
    pdu.r2to = offset;
    pdu.r2tl = length;
    queue_.append(&pdu, sizeof(pdu));
}

void PduWriter::term_req(const Fault& fault, std::span<const std::byte> offending) {
    offending = offending.first(std::min<std::size_t>(offending.size(), nvme::kMaxTermReqData));
    auto pdu = make<nvme::TermReq>(PduType::c2h_term_req,
                                   static_cast<std::uint32_t>(sizeof(nvme::TermReq) + offending.size()));
    pdu.fes = static_cast<std::uint16_t>(fault.status);
    pdu.fei = fault.information;
    queue_.append(&pdu, sizeof(pdu));
    queue_.append(offending.data(), offending.size());
}

void PduWriter::c2h_header(std::uint16_t cid, std::uint32_t offset, std::uint32_t length,
                           std::uint8_t flags) {
    auto pdu = make<nvme::C2hData>(PduType::c2h_data, data_offset_ + length);
    pdu.common.flags = flags;
    pdu.common.pdo = data_offset_;
    pdu.cccid = cid;
    pdu.datao = offset;
    pdu.datal = length;
    queue_.append(&pdu, sizeof(pdu));
    if (data_offset_ > sizeof(pdu)) {
        queue_.append_zeroes(data_offset_ - sizeof(pdu));
    }
}

void PduWriter::read_data(std::uint16_t cid, const Namespace& from, std::uint64_t offset,
                          std::uint32_t length, bool success) {
    const std::uint32_t step = c2h_size_ == 0 ? length : c2h_size_;
    for (std::uint32_t done = 0; done < length;) {
        const std::uint32_t piece = std::min(step, length - done);
        std::uint8_t flags = 0;
        if (done + piece == length) {
            flags = nvme::pdu_flag::kLastPdu | (success ? nvme::pdu_flag::kSuccess : 0);
        }
        c2h_header(cid, done, piece, flags);
        from.read(offset + done, piece, [this](const std::byte* bytes, std::uint32_t count) {
            queue_.append_external(bytes, count);
        });
        done += piece;
    }
}

void PduWriter::built_data(std::uint16_t cid, std::span<const std::byte> data) {
    const auto length = static_cast<std::uint32_t>(data.size());
    const std::uint32_t step = c2h_size_ == 0 ? length : c2h_size_;
    for (std::uint32_t done = 0; done < length;) {
        const std::uint32_t piece = std::min(step, length - done);
        c2h_header(cid, done, piece, done + piece == length ? nvme::pdu_flag::kLastPdu : 0);
        queue_.append(data.data() + done, piece);
        done += piece;
    }
}

} // namespace mpath::target
