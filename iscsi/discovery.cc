// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/discovery.h"

#include <array>
#include <cstring>

#include "iscsi/login.h"
#include "iscsi/login_text.h"
#include "iscsi/name.h"
#include "iscsi/pong.h"
#include "iscsi/reject.h"
#include "net/async.h"
#include "net/uri_text.h"

namespace mpath::iscsi {

namespace {

constexpr int kMaxDiscoveryPdus = 4096;          ///< that a target may send
constexpr Nanoseconds kLogoutPatience = kSecond; ///< for an answer on which nothing depends
constexpr std::uint32_t kTextTaskTag = 1;
constexpr std::uint32_t kLogoutTaskTag = 2;

template <typename T>
T header_as(const Bhs& bhs) {
    T header;
    static_assert(sizeof header == sizeof bhs);
    std::memcpy(static_cast<void*>(&header), &bhs, sizeof header);
    return header;
}

/// A session in its full feature phase, which only talks text.
class DiscoverySession {
public:
    DiscoverySession(net::Reactor& reactor, LoggedIn session, Nanoseconds deadline)
        : reactor_(reactor), session_(std::move(session)), numbers_(session_.numbers), deadline_(deadline) {}

    /// The target's answer to SendTargets=`what`.
    net::Task<Result<std::string>> ask(std::string what);
    net::Task<int> log_out();

private:
    struct Received {
        Bhs header;
        std::string data;
    };

    net::Task<Result<void>> send_text(std::string text, Be32 target_tag, Lun lun);
    net::Task<Result<void>> send(std::span<const std::byte> pdu);
    /// The next PDU that has to do with what was asked.
    net::Task<Result<Received>> receive(Opcode wanted, std::uint32_t task_tag);
    net::Task<Result<Received>> receive_any();
    net::Task<Result<void>> answer_ping(const NopIn& ping);
    [[nodiscard]] Error broken(int code) const;

    net::Reactor& reactor_;
    LoggedIn session_;
    SessionNumbers numbers_;
    Nanoseconds deadline_;
    int received_ = 0;
};

Error DiscoverySession::broken(int code) const {
    if (code == ETIMEDOUT) {
        return {code, "the target logged us in, but does not answer SendTargets: look at its log"};
    }
    return {code, fmt::format("the connection ended ({}) before the target had answered SendTargets",
                              code == ECONNRESET ? "closed by the peer" : reason_of(code))};
}

net::Task<Result<void>> DiscoverySession::send(std::span<const std::byte> pdu) {
    const int code = co_await net::send_all(reactor_, session_.socket.get(), pdu, deadline_);
    if (code != 0) {
        co_return tl::unexpected<Error>(broken(code));
    }
    co_return Result<void>{};
}

net::Task<Result<void>> DiscoverySession::send_text(std::string text, Be32 target_tag, Lun lun) {
    Text header;
    header.data_length = static_cast<std::uint32_t>(text.size());
    header.lun = lun;
    header.task_tag = kTextTaskTag;
    header.target_tag = target_tag;
    header.cmd_sn = numbers_.cmd_sn++;
    header.exp_stat_sn = numbers_.exp_stat_sn;
    std::vector<std::byte> pdu(sizeof header + padded(static_cast<std::uint32_t>(text.size())));
    std::memcpy(pdu.data(), &header, sizeof header);
    std::memcpy(pdu.data() + sizeof header, text.data(), text.size());
    co_return co_await send(pdu);
}

net::Task<Result<void>> DiscoverySession::answer_ping(const NopIn& ping) {
    const NopOut answer = pong_to(ping, numbers_);
    co_return co_await send(std::as_bytes(std::span(&answer, 1)));
}

net::Task<Result<DiscoverySession::Received>> DiscoverySession::receive_any() {
    if (++received_ > kMaxDiscoveryPdus) {
        co_return failure(EPROTO, "the target does not come to an end with its answer, after {} PDUs",
                          kMaxDiscoveryPdus);
    }
    Received pdu;
    int code = co_await net::receive_all(reactor_, session_.socket.get(),
                                         std::as_writable_bytes(std::span(&pdu.header, 1)), deadline_);
    if (code != 0) {
        co_return tl::unexpected<Error>(broken(code));
    }
    const std::uint32_t length = pdu.header.data_length;
    if (length > session_.parameters.max_receive_data || pdu.header.ahs_length != 0) {
        co_return failure(EPROTO, "the target broke the protocol: a PDU of type {:02x}h has {} bytes of data",
                          pdu.header.opcode, length);
    }
    pdu.data.resize(padded(length));
    const auto room = std::as_writable_bytes(std::span(pdu.data));
    code = co_await net::receive_all(reactor_, session_.socket.get(), room, deadline_);
    if (code != 0) {
        co_return tl::unexpected<Error>(broken(code));
    }
    pdu.data.resize(length);
    co_return pdu;
}

net::Task<Result<DiscoverySession::Received>> DiscoverySession::receive(Opcode wanted,
                                                                        std::uint32_t task_tag) {
    while (true) {
        Result<Received> pdu = co_await receive_any();
        if (!pdu) {
            co_return pdu;
        }
        const auto opcode = static_cast<Opcode>(pdu->header.opcode & kOpcodeMask);
        if (opcode == wanted && pdu->header.task_tag == task_tag) {
            numbers_.exp_stat_sn = header_as<Text>(pdu->header).cmd_sn + 1; // where a response has its StatSN
            co_return pdu;
        }
        if (opcode == Opcode::nop_in) {
            const auto ping = header_as<NopIn>(pdu->header);
            if (ping.target_tag != kNoTag) {
                const Result<void> answered = co_await answer_ping(ping);
                if (!answered) {
                    co_return tl::unexpected<Error>(answered.error());
                }
            }
            continue;
        }
        if (opcode == Opcode::async_message) {
            const auto message = header_as<AsyncMessage>(pdu->header);
            numbers_.exp_stat_sn = message.stat_sn + 1;
            if (message.event == async_event::kScsi || message.event == async_event::kVendor) {
                continue;
            }
            co_return failure(EAGAIN, "the target ends the discovery session (asynchronous event {})",
                              message.event);
        }
        if (opcode == Opcode::reject) {
            const auto reject = header_as<Reject>(pdu->header);
            co_return failure(EPROTO, "the target rejects the question for its targets: {} (reason {:02x}h)",
                              reject_text(reject.reason), reject.reason);
        }
        co_return failure(EPROTO,
                          "the target broke the protocol: a PDU of type {:02x}h in a discovery session",
                          pdu->header.opcode);
    }
}

net::Task<Result<std::string>> DiscoverySession::ask(std::string what) {
    std::string text;
    append_pair(text, "SendTargets", what);
    Be32 target_tag = kNoTag;
    Lun lun{};
    std::string gathered;
    while (true) {
        const Result<void> sent = co_await send_text(std::move(text), target_tag, lun);
        if (!sent) {
            co_return tl::unexpected<Error>(sent.error());
        }
        const Result<Received> pdu = co_await receive(Opcode::text_response, kTextTaskTag);
        if (!pdu) {
            co_return tl::unexpected<Error>(pdu.error());
        }
        gathered += pdu->data;
        if (gathered.size() > kMaxSendTargetsText) {
            co_return failure(EPROTO, "the target's answer has more than {} bytes", kMaxSendTargetsText);
        }
        const auto response = header_as<Text>(pdu->header);
        if ((response.flags & kFinal) != 0) {
            co_return gathered;
        }
        if (response.target_tag == kNoTag) {
            co_return failure(EPROTO, "the target broke the protocol: its answer goes on, but has no tag to "
                                      "ask for the rest");
        }
        target_tag = response.target_tag;
        lun = response.lun;
        text.clear();
    }
}

net::Task<int> DiscoverySession::log_out() {
    deadline_ = reactor_.clock().now() + kLogoutPatience;
    LogoutRequest request;
    request.task_tag = kLogoutTaskTag;
    request.cmd_sn = numbers_.cmd_sn;
    request.exp_stat_sn = numbers_.exp_stat_sn;
    const Result<void> sent = co_await send(std::as_bytes(std::span(&request, 1)));
    if (sent) {
        [[maybe_unused]] const Result<Received> answer =
            co_await receive(Opcode::logout_response, kLogoutTaskTag);
    }
    co_return 0;
}

/// The interface that a link-local address is on: "eth0" of "[fe80::1%eth0]:3260".
std::string zone_of_address(const net::HostPort& address) {
    const std::size_t percent = address.host.find('%');
    return percent == std::string::npos ? std::string() : address.host.substr(percent + 1);
}

/// Where the portal that was asked is meant, its own address; and one text for one address.
void complete_portals(std::vector<DiscoveredTarget>& targets, const std::string& asked) {
    const auto self = net::parse_host_port(asked, kDefaultPort);
    if (!self) {
        return; // it had come from the kernel, so this does not happen
    }
    const std::string zone = zone_of_address(*self);
    for (DiscoveredTarget& target : targets) {
        if (target.portals.empty()) {
            target.portals.push_back({self->host, self->port, {}});
        }
        for (Portal& portal : target.portals) {
            portal.host = net::canonical_address(portal.host, zone);
        }
    }
}

} // namespace

net::Task<Result<TargetDiscovery>> discover_targets(net::Reactor& reactor,
                                                    std::span<const net::SocketAddress> addresses,
                                                    SessionOptions options, std::string target,
                                                    Nanoseconds deadline) {
    LoginRequestOptions request = login_request(options, {}, isid(random_isid_base(), 0));
    request.type = SessionType::discovery;
    Result<LoggedIn> session = co_await log_in(reactor, addresses, request, deadline);
    if (!session) {
        co_return tl::unexpected<Error>(session.error()); // names the address itself
    }
    TargetDiscovery found;
    found.address = session->address;
    DiscoverySession discovery(reactor, std::move(*session), deadline);
    std::string what = target.empty() ? "All" : std::move(target);
    const Result<std::string> text = co_await discovery.ask(std::move(what));
    if (!text) {
        co_return failure_in(found.address, text.error());
    }
    co_await discovery.log_out();
    Result<std::vector<DiscoveredTarget>> targets = parse_send_targets(*text);
    if (!targets) {
        co_return failure_in(found.address, targets.error());
    }
    found.targets = std::move(*targets);
    complete_portals(found.targets, found.address);
    co_return found;
}

} // namespace mpath::iscsi
