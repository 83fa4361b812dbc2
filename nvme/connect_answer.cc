// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/connect_answer.h"

#include <algorithm>
#include <cstring>

#include "nvme/pdu_check.h"
#include "nvme/status_text.h"

namespace mpath::nvme {
namespace {

constexpr unsigned kTlsAlert = 0x15; ///< TLS record types, RFC 8446 section 5.1
constexpr unsigned kTlsHandshake = 0x16;
constexpr unsigned kTlsMajor = 0x03;

unsigned byte_at(std::span<const std::byte> bytes, std::size_t index) {
    return std::to_integer<unsigned>(bytes[index]);
}

bool printable(std::byte value) {
    const auto code = std::to_integer<unsigned>(value);
    return code >= 0x20 && code < 0x7f;
}

/// The printable characters `bytes` begin with.
std::string leading_text(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte value : bytes) {
        if (!printable(value)) {
            break;
        }
        text.push_back(static_cast<char>(std::to_integer<unsigned>(value)));
    }
    return text;
}

std::string hex(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte value : bytes) {
        text += fmt::format("{}{:02x}", text.empty() ? "" : " ", std::to_integer<unsigned>(value));
    }
    return text;
}

std::string_view pdu_name(PduType type) {
    return type == PduType::ic_resp ? "ICResp" : "the completion of Connect";
}

std::size_t header_size(PduType type) {
    return type == PduType::ic_resp ? sizeof(IcResp) : sizeof(CapsuleResp);
}

Error refusal(int code, std::string text) {
    return {code, std::move(text)};
}

/// Connect was refused for one parameter, which the completion names.
Error invalid_parameter(const CapsuleResp& answer, const ConnectRequest& request) {
    const std::uint32_t dw0 = answer.cqe.dw0;
    const std::uint32_t offset = dw0 & 0xffff;
    if ((dw0 & kConnectInvalidInData) != 0) {
        switch (offset) {
        case offsetof(ConnectData, subnqn):
            return refusal(ENODEV,
                           fmt::format("the target has no subsystem {} here: check the NQN, and that the "
                                       "subsystem is offered at this address and to this host",
                                       request.subsystem_nqn));
        case offsetof(ConnectData, hostnqn):
            return refusal(
                EACCES, fmt::format("the target refuses the host NQN {}: check hostnqn", request.host.nqn));
        case offsetof(ConnectData, hostid):
            return refusal(EACCES, "the target refuses the host ID: check hostid, which must be the same for "
                                   "every association of one host NQN");
        case offsetof(ConnectData, cntlid):
            return request.queue_id == 0
                       ? refusal(EINVAL, "the target does not give out controllers dynamically, which is "
                                         "the only kind this initiator asks for")
                       : refusal(ENOTCONN, fmt::format("the target no longer knows controller {}: the "
                                                       "association was lost meanwhile",
                                                       request.controller_id));
        default:
            return refusal(EINVAL, fmt::format("the target refuses Connect for byte {} of its data", offset));
        }
    }
    switch (offset) {
    case offsetof(ConnectCommand, sqsize):
        return refusal(EINVAL, fmt::format("the target refuses a queue of {} entries: choose another "
                                           "queue_size",
                                           request.queue_size));
    case offsetof(ConnectCommand, qid):
        return refusal(EINVAL,
                       fmt::format("the target refuses queue {}: lower nr_io_queues", request.queue_id));
    case offsetof(ConnectCommand, kato):
        return refusal(EINVAL, fmt::format("the target refuses a keep-alive timeout of {} ms: choose another "
                                           "keep_alive_tmo",
                                           request.keep_alive_ms));
    case offsetof(ConnectCommand, cattr):
        return refusal(ENOTSUP, "the target can't work without submission queue flow control, which this "
                                "initiator does not do");
    default:
        return refusal(EINVAL, fmt::format("the target refuses Connect for byte {} of the command", offset));
    }
}

/// "header and data digests"
std::string_view digests_text(bool header, bool data) {
    return header && data ? "header and data digests" : header ? "header digests" : "data digests";
}

Error authentication_demanded() {
    return refusal(EACCES, "the target demands authentication (DH-HMAC-CHAP), which this initiator does not "
                           "speak: let the host in without it");
}

Result<std::uint16_t> judge_connect_resp(std::span<const std::byte> bytes, const ConnectRequest& request) {
    const auto answer = load<CapsuleResp>(bytes);
    const unsigned flags = request.pdu.header_digest ? pdu_flag::kHeaderDigest : 0;
    if (answer.common.flags != flags) {
        return failure(EPROTO,
                       "the target broke the protocol: the completion of Connect has flags {:02x}h, which "
                       "must be {:02x}h",
                       answer.common.flags, flags);
    }
    if (request.pdu.header_digest &&
        !digest_matches(bytes.first(sizeof answer), bytes.data() + sizeof answer)) {
        return failure(EPROTO,
                       "the header digest of the completion of Connect is wrong: the target computes another "
                       "CRC32C, or something between here and there changes bytes");
    }
    if (answer.cqe.cid != 0) {
        return failure(EPROTO,
                       "the target broke the protocol: the completion of Connect has command ID {}, which "
                       "must be 0",
                       answer.cqe.cid.get());
    }
    const Status status = Status::from_cqe(answer.cqe.status);
    switch (status.code()) {
    case StatusCode::success:
        break;
    case StatusCode::connect_invalid_parameters:
        return tl::unexpected<Error>(invalid_parameter(answer, request));
    case StatusCode::connect_invalid_host:
        return failure(EACCES,
                       "subsystem {} does not let host {} in: allow it at the target, or check hostnqn",
                       request.subsystem_nqn, request.host.nqn);
    case StatusCode::connect_busy:
        return failure(EBUSY, "the target is out of {}",
                       request.queue_id == 0 ? "controllers: end other associations, or raise its limit"
                                             : "queues: lower nr_io_queues, or raise its limit");
    case StatusCode::authentication_required:
        return tl::unexpected<Error>(authentication_demanded());
    case StatusCode::connect_incompatible_format:
        return failure(ENOTSUP, "the target does not know the format (0) of our Connect command");
    case StatusCode::connect_restart_discovery:
        return failure(EAGAIN,
                       "the target wants the subsystem to be discovered anew: ask its discovery "
                       "controller which address offers {} now",
                       request.subsystem_nqn);
    case StatusCode::invalid_queue_type:
        return failure(EINVAL, "the target refuses queue {} for its type", request.queue_id);
    default:
        return failure(EIO, "the target refuses Connect with {}", status_text(status, true));
    }
    if ((answer.cqe.dw0 & (kConnectAuthRequired | kConnectSecureConcatRequired)) != 0) {
        return tl::unexpected<Error>(authentication_demanded());
    }
    const auto controller_id = static_cast<std::uint16_t>(answer.cqe.dw0 & 0xffff);
    if (request.queue_id == 0 && controller_id == kDynamicController) {
        return failure(EPROTO, "the target broke the protocol: it gave out controller ID FFFFh");
    }
    return controller_id;
}

} // namespace

Result<void> check_answer_header(std::span<const std::byte> bytes, PduType expected, std::size_t size) {
    const unsigned first = byte_at(bytes, 0);
    if ((first == kTlsAlert || first == kTlsHandshake) && byte_at(bytes, 1) == kTlsMajor) {
        return failure(EACCES,
                       "the target demands TLS, which this initiator does not speak: use a port of the "
                       "target without it");
    }
    CommonHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    const auto type = static_cast<PduType>(header.type);
    if (type == PduType::c2h_term_req && header.hlen == sizeof(TermReq) && header.plen >= sizeof(TermReq) &&
        header.plen <= sizeof(TermReq) + kMaxTermReqData) {
        return {};
    }
    if (type != expected || header.hlen != header_size(expected) || header.plen != size) {
        const std::string text = leading_text(bytes);
        if (text.size() >= sizeof(CommonHeader)) {
            return failure(
                EPROTO,
                "the peer is no NVMe/TCP target, it says \"{}\": check address and port (NVMe/TCP is "
                "usually on 4420)",
                text);
        }
        if (expected == PduType::ic_resp && type != expected) {
            return failure(
                EPROTO,
                "the peer is no NVMe/TCP target, it answers ICReq with the bytes {}: check address "
                "and port (NVMe/TCP is usually on 4420)",
                hex(bytes.first(sizeof header)));
        }
        if (type != expected) {
            return failure(EPROTO,
                           "the target broke the protocol: behind ICResp came the bytes {} instead of {}",
                           hex(bytes.first(sizeof header)), pdu_name(expected));
        }
        return failure(EPROTO,
                       "the target broke the protocol: {} has HLEN {} and PLEN {}, which must be {} and {}",
                       pdu_name(expected), header.hlen, header.plen.get(), header_size(expected), size);
    }
    return {};
}

Result<void> check_ic_resp(const IcResp& answer, const PduOptions& asked) {
    if (answer.pfv != 0) {
        return failure(EPROTO, "the target speaks version {} of the PDU format, this initiator version 0",
                       answer.pfv.get());
    }
    if (answer.cpda > kMaxPduDataAlignment) {
        return failure(EPROTO,
                       "the target broke the protocol: ICResp asks for a data alignment (CPDA) of {}, {} "
                       "is the largest",
                       answer.cpda, kMaxPduDataAlignment);
    }
    const std::uint8_t wanted = digest_bits(asked);
    if ((answer.dgst & ~wanted) != 0) {
        return failure(EPROTO,
                       "the target broke the protocol: ICResp enables digests (DGST {}) that were not "
                       "asked for (DGST {})",
                       answer.dgst, wanted);
    }
    if (const unsigned missing = wanted & ~answer.dgst; missing != 0) {
        return failure(ENOTSUP,
                       "the target does not do the {} that were asked for: enable them at the target, or do "
                       "without (hdr_digest, data_digest)",
                       digests_text((missing & dgst::kHeader) != 0, (missing & dgst::kData) != 0));
    }
    if (answer.maxh2cdata < kMinMaxH2cData || answer.maxh2cdata % 4 != 0) {
        return failure(EPROTO,
                       "the target broke the protocol: ICResp has MAXH2CDATA {}, which must be at least {} "
                       "and a multiple of 4",
                       answer.maxh2cdata.get(), kMinMaxH2cData);
    }
    return {};
}

Result<std::uint16_t> check_connect_resp(std::span<const std::byte> bytes, const ConnectRequest& request) {
    Result<std::uint16_t> judged = judge_connect_resp(bytes, request);
    if (!judged) {
        const int code = judged.error().code;
        // Of an answer that breaks the protocol no bit means anything. And these two pass by their nature:
        // some targets (Linux) say Do Not Retry all the same.
        const bool passes = code == EPROTO || code == EBUSY || code == ENOTCONN;
        judged.error().final = !passes && Status::from_cqe(load<CapsuleResp>(bytes).cqe.status).dnr();
    }
    return judged;
}

} // namespace mpath::nvme
