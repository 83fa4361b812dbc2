// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/clear_attentions.h"

#include <array>
#include <cstring>
#include <vector>

#include "iscsi/pong.h"
#include "iscsi/sense.h"

namespace mpath::iscsi {
namespace {

constexpr int kMaxAttentions = 16;
/// Sense data and what a ping echoes; a target that sends more to a session that has asked for nothing yet is
/// none to go on with.
constexpr std::uint32_t kMaxUnasked = 8 * 1024;

/// One PDU, received whole.
struct Received {
    std::array<std::byte, kBhsSize> header{};
    std::vector<std::byte> data;
};

net::Task<int> send_header(net::Reactor& reactor, const LoggedIn& session,
                           std::array<std::byte, kBhsSize> bhs, Nanoseconds deadline,
                           net::Cancellation* cancellation) {
    std::array<std::byte, kBhsSize + kDigestSize> bytes{};
    std::memcpy(bytes.data(), bhs.data(), kBhsSize);
    store_digest(bhs, bytes.data() + kBhsSize);
    const std::size_t size = session.parameters.header_digest ? bytes.size() : kBhsSize;
    co_return co_await net::send_all(reactor, session.socket.get(), std::span(bytes).first(size), deadline,
                                     cancellation);
}

template <typename Pdu>
std::array<std::byte, kBhsSize> header_of(const Pdu& pdu) {
    std::array<std::byte, kBhsSize> bytes;
    std::memcpy(bytes.data(), &pdu, kBhsSize);
    return bytes;
}

Error lost(int code) {
    return {code,
            fmt::format("the connection broke before the first command was answered: {}", reason_of(code))};
}

net::Task<Result<Received>> receive_pdu(net::Reactor& reactor, const LoggedIn& session, Nanoseconds deadline,
                                        net::Cancellation* cancellation) {
    const int fd = session.socket.get();
    std::array<std::byte, kBhsSize + kDigestSize> head{};
    const std::size_t size = kBhsSize + (session.parameters.header_digest ? kDigestSize : 0);
    if (const int code =
            co_await net::receive_all(reactor, fd, std::span(head).first(size), deadline, cancellation);
        code != 0) {
        co_return tl::unexpected<Error>(lost(code));
    }
    Received pdu;
    std::memcpy(pdu.header.data(), head.data(), kBhsSize);
    if (session.parameters.header_digest && !digest_matches(pdu.header, head.data() + kBhsSize)) {
        co_return failure(EPROTO, "a header's digest was wrong");
    }
    const Bhs bhs = load<Bhs>(pdu.header);
    const std::uint32_t length = bhs.data_length;
    if (bhs.ahs_length != 0 || length > kMaxUnasked) {
        co_return failure(EPROTO, "the target broke the protocol: it answered TEST UNIT READY with {} bytes",
                          length);
    }
    const std::size_t digest = session.parameters.data_digest && length > 0 ? kDigestSize : 0;
    pdu.data.resize(padded(length) + digest);
    if (const int code = co_await net::receive_all(reactor, fd, pdu.data, deadline, cancellation);
        code != 0) {
        co_return tl::unexpected<Error>(lost(code));
    }
    const std::span<const std::byte> covered = std::span(pdu.data).first(padded(length));
    if (digest != 0 && !digest_matches(covered, covered.data() + covered.size())) {
        co_return failure(EPROTO, "the digest of an answer's data was wrong");
    }
    pdu.data.resize(length);
    co_return std::move(pdu);
}

/// The answer to the command with this tag; what comes before it is answered, or needs no answer.
net::Task<Result<Sense>> receive_answer(net::Reactor& reactor, LoggedIn& session, std::uint32_t tag,
                                        Nanoseconds deadline, net::Cancellation* cancellation) {
    while (true) {
        Result<Received> pdu = co_await receive_pdu(reactor, session, deadline, cancellation);
        if (!pdu) {
            co_return tl::unexpected<Error>(pdu.error());
        }
        const auto any = load<NopIn>(pdu->header);
        if (comes_before(session.numbers.max_cmd_sn, any.max_cmd_sn)) {
            session.numbers.max_cmd_sn = any.max_cmd_sn;
        }
        switch (static_cast<Opcode>(any.opcode & kOpcodeMask)) {
        case Opcode::nop_in:
            if (any.target_tag != kNoTag) {
                const std::array<std::byte, kBhsSize> bhs = header_of(pong_to(any, session.numbers));
                if (const int code = co_await send_header(reactor, session, bhs, deadline, cancellation);
                    code != 0) {
                    co_return tl::unexpected<Error>(lost(code));
                }
            }
            break;
        case Opcode::async_message:
            ++session.numbers.exp_stat_sn;
            break;
        case Opcode::scsi_response: {
            const auto response = load<ScsiResponse>(pdu->header);
            if (response.task_tag != tag || response.stat_sn != session.numbers.exp_stat_sn) {
                co_return failure(EPROTO, "the target answered another command than TEST UNIT READY");
            }
            ++session.numbers.exp_stat_sn;
            const std::size_t prefix = std::min(pdu->data.size(), sizeof(Be16));
            co_return parse_sense(response.status, std::span(pdu->data).subspan(prefix));
        }
        default:
            co_return failure(EPROTO, "the target answered TEST UNIT READY with a PDU of type {:02x}h",
                              any.opcode);
        }
    }
}

} // namespace

net::Task<Result<void>> clear_attentions(net::Reactor& reactor, LoggedIn& session, Lun lun,
                                         Nanoseconds deadline, net::Cancellation* cancellation) {
    SessionNumbers& numbers = session.numbers;
    for (std::uint32_t tag = 0; tag < kMaxAttentions && !comes_before(numbers.max_cmd_sn, numbers.cmd_sn);
         ++tag) {
        ScsiCommand command;
        command.flags = kFinal | command_flag::kSimple;
        command.lun = lun;
        command.task_tag = tag;
        command.cmd_sn = numbers.cmd_sn++;
        command.exp_stat_sn = numbers.exp_stat_sn;
        const std::array<std::byte, kBhsSize> bhs = header_of(command);
        if (const int code = co_await send_header(reactor, session, bhs, deadline, cancellation); code != 0) {
            co_return tl::unexpected<Error>(lost(code));
        }
        const Result<Sense> sense = co_await receive_answer(reactor, session, tag, deadline, cancellation);
        if (!sense) {
            co_return tl::unexpected<Error>(sense.error());
        }
        if (!is_unit_attention(*sense)) {
            break;
        }
    }
    co_return Result<void>{};
}

} // namespace mpath::iscsi
