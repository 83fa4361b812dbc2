// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/login.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "iscsi/authentication.h"
#include "iscsi/login_answer.h"
#include "iscsi/login_status.h"
#include "iscsi/login_text.h"
#include "iscsi/negotiation.h"
#include "iscsi/portal.h"

namespace mpath::iscsi {

namespace {

constexpr int kMaxRedirections = 4;
constexpr int kMaxRequests = 128;            ///< of one login, those that only ask for the rest included
constexpr std::size_t kMaxLoginText = 65536; ///< bytes of one answer in all its PDUs
constexpr std::size_t kMaxLoginPairs = 256;  ///< of one answer
constexpr std::uint32_t kLoginTaskTag = 1;   ///< of all requests of a login
constexpr std::uint32_t kFirstCmdSn = 1;     ///< login requests are immediate and take none

/// Whether a stage was ended, or the target sends us to somebody else.
enum class StageEnd : std::uint8_t { ended, redirected };

/// What the target said in answer to one text of ours.
struct Answer {
    std::vector<KeyValue> pairs;
    bool transit = false;    ///< the stage is over
    bool redirected = false; ///< redirection_ has the address
};

/// One connection on its way to a session.
class LoginConnection {
public:
    LoginConnection(net::Reactor& reactor, const LoginRequestOptions& options, Nanoseconds deadline)
        : reactor_(reactor), options_(options), deadline_(deadline),
          authentication_(options.chap, options.type == SessionType::normal),
          negotiation_(offer_of(options)) {}

    net::Task<Result<LoggedIn>> run(std::span<const net::SocketAddress> addresses);
    /// When run() has failed: where the target sends us instead.
    [[nodiscard]] const std::optional<net::SocketAddress>& redirection() const { return redirection_; }

private:
    static Offer offer_of(const LoginRequestOptions& options);
    net::Task<Result<StageEnd>> authenticate();
    net::Task<Result<StageEnd>> negotiate();
    net::Task<Result<Answer>> exchange(LoginStep step, std::string text);
    net::Task<Result<void>> request(LoginStep step, std::string_view text, bool goes_on);
    net::Task<Result<std::string>> response(LoginStep step);
    [[nodiscard]] std::string names() const;
    [[nodiscard]] LoginParties parties() const {
        const bool both_ways = options_.chap && !options_.chap->target_secret.empty();
        return {options_.initiator_name, options_.target_name, options_.chap.has_value(), both_ways};
    }
    [[nodiscard]] LoginStep step(LoginStage current, LoginStage next, bool transit) const {
        return {options_.isid, kLoginTaskTag, current, next, transit};
    }
    [[nodiscard]] Result<void> note_redirection(std::span<const KeyValue> pairs);
    [[nodiscard]] LoggedIn result(SessionParameters agreed);
    void set_state(LoginState state) {
        state_ = state;
        since_ = reactor_.clock().now();
    }
    [[nodiscard]] Error broken(int code) const;

    net::Reactor& reactor_;
    const LoginRequestOptions& options_;
    Nanoseconds deadline_;
    Authentication authentication_;
    Negotiation negotiation_;
    LoginState state_ = LoginState::tcp_connecting;
    Nanoseconds since_ = 0; ///< when that state was entered
    UniqueFd socket_;
    LoginResponse latest_; ///< header of the latest response
    int requests_ = 0;
    std::uint32_t exp_stat_sn_ = 0;
    std::optional<net::SocketAddress> redirection_;
};

Offer LoginConnection::offer_of(const LoginRequestOptions& options) {
    const bool normal = options.type == SessionType::normal;
    return {normal && options.header_digest, normal && options.data_digest, options.max_outstanding_r2t,
            !normal};
}

/// The sentence for a peer that went silent or away, by what was awaited of it.
Error LoginConnection::broken(int code) const {
    const char* advice = requests_ <= 1
                             ? "the peer is no iSCSI target, or hangs; check address and port (iSCSI "
                               "is usually on 3260)"
                             : "look at the target's log";
    if (code == ETIMEDOUT && reactor_.clock().now() >= deadline_) {
        const double waited = static_cast<double>(reactor_.clock().now() - since_) / kSecond;
        return {code, fmt::format("no answer for {:.1f} s while {}: {}", waited, to_string(state_), advice)};
    }
    if (code == ECANCELED) {
        return {code, "it was given up"};
    }
    const std::string how = code == ECONNRESET ? "closed by the peer" : reason_of(code);
    return {code, fmt::format("the connection ended ({}) while {}: {}", how, to_string(state_), advice)};
}

std::string LoginConnection::names() const {
    std::string text;
    append_pair(text, "InitiatorName", options_.initiator_name);
    if (options_.type == SessionType::normal) {
        append_pair(text, "TargetName", options_.target_name);
    }
    append_pair(text, "SessionType", options_.type == SessionType::normal ? "Normal" : "Discovery");
    return text;
}

net::Task<Result<void>> LoginConnection::request(LoginStep step, std::string_view text, bool goes_on) {
    if (++requests_ > kMaxRequests) {
        co_return failure(EPROTO, "the target does not come to an end with the login, after {} requests",
                          kMaxRequests);
    }
    LoginRequest header;
    header.flags = login_stages(step.current, step.transit ? step.next : LoginStage::security) |
                   (step.transit ? login_flag::kTransit : 0) | (goes_on ? login_flag::kContinue : 0);
    header.data_length = static_cast<std::uint32_t>(text.size());
    header.isid = options_.isid;
    header.task_tag = step.task_tag;
    header.cmd_sn = kFirstCmdSn;
    header.exp_stat_sn = exp_stat_sn_;
    std::vector<std::byte> pdu(sizeof header + padded(static_cast<std::uint32_t>(text.size())));
    std::memcpy(pdu.data(), &header, sizeof header);
    std::memcpy(pdu.data() + sizeof header, text.data(), text.size());
    const int code = co_await net::send_all(reactor_, socket_.get(), pdu, deadline_, options_.cancellation);
    // A peer that closes at once may have said why: what it said is still to be read.
    if (code != 0 && code != EPIPE && code != ECONNRESET) {
        co_return tl::unexpected<Error>(broken(code));
    }
    co_return Result<void>{};
}

/// The text of one response; its header is in latest_.
net::Task<Result<std::string>> LoginConnection::response(LoginStep step) {
    std::array<std::byte, kBhsSize> head{};
    int code = co_await net::receive_all(reactor_, socket_.get(), head, deadline_, options_.cancellation);
    const bool stranger = code == ECONNRESET && head[0] != std::byte{0};
    if (code != 0 && !stranger) {
        co_return tl::unexpected<Error>(broken(code));
    }
    const Result<void> checked = check_login_header(head, requests_ == 1);
    if (!checked) {
        co_return tl::unexpected<Error>(checked.error()); // maybe its last words (a TLS alert has 7 bytes)
    }
    if (stranger) {
        co_return tl::unexpected<Error>(broken(code));
    }
    std::memcpy(&latest_, head.data(), sizeof latest_);
    std::string text(padded(latest_.data_length), '\0');
    const auto room = std::as_writable_bytes(std::span(text));
    code = co_await net::receive_all(reactor_, socket_.get(), room, deadline_, options_.cancellation);
    if (code != 0) {
        co_return tl::unexpected<Error>(broken(code));
    }
    text.resize(latest_.data_length);
    if (latest_.status_class > status_class::kRedirection) {
        co_return tl::unexpected<Error>(login_status(latest_.status_class, latest_.status_detail, parties()));
    }
    exp_stat_sn_ = latest_.stat_sn + 1;
    if (latest_.status_class == status_class::kSuccess) {
        const Result<void> fits = check_login_response(latest_, step);
        if (!fits) {
            co_return tl::unexpected<Error>(fits.error());
        }
    }
    co_return text;
}

/// Says `text`, in several requests if it is long, and gathers the answer, likewise.
net::Task<Result<Answer>> LoginConnection::exchange(LoginStep step, std::string text) {
    LoginStep going_on = step;
    going_on.transit = false;
    std::string_view rest = text;
    std::string gathered;
    bool asking = false; // for the rest of the answer, which proposes nothing
    while (true) {
        const bool more_to_say = rest.size() > kLoginDataLength;
        const LoginStep now = more_to_say || asking ? going_on : step;
        const std::string_view piece = rest.substr(0, kLoginDataLength);
        const Result<void> sent = co_await request(now, piece, more_to_say);
        if (!sent) {
            co_return tl::unexpected<Error>(sent.error());
        }
        rest.remove_prefix(piece.size());
        const Result<std::string> said = co_await response(now);
        if (!said) {
            co_return tl::unexpected<Error>(said.error());
        }
        gathered += *said;
        if (gathered.size() > kMaxLoginText) {
            co_return failure(EPROTO, "the target broke the protocol: its answer has more than {} bytes",
                              kMaxLoginText);
        }
        asking = (latest_.flags & login_flag::kContinue) != 0;
        const bool moved = latest_.status_class == status_class::kRedirection;
        if (moved || (!more_to_say && !asking)) {
            break;
        }
    }
    Answer answer;
    Result<std::vector<KeyValue>> pairs = parse_pairs(gathered, kMaxLoginPairs);
    if (!pairs) {
        co_return failure_in("the target broke the protocol", pairs.error());
    }
    answer.pairs = std::move(*pairs);
    answer.transit = (latest_.flags & login_flag::kTransit) != 0;
    answer.redirected = latest_.status_class == status_class::kRedirection;
    if (answer.redirected) {
        const Result<void> noted = note_redirection(answer.pairs);
        if (!noted) {
            co_return tl::unexpected<Error>(noted.error());
        }
    }
    co_return answer;
}

Result<void> LoginConnection::note_redirection(std::span<const KeyValue> pairs) {
    const auto value = find_value(pairs, "TargetAddress");
    if (!value) {
        return failure(EPROTO, "the target has moved, but does not say where to");
    }
    const Result<Portal> portal = parse_portal(*value);
    if (!portal) {
        return tl::unexpected(portal.error());
    }
    // A resolver could block, and with it every other path of the job.
    if (!net::numeric_address(portal->host)) {
        return failure(
            ENOTSUP,
            "the target has moved to {}, but only numeric addresses are followed: name that one in "
            "the path",
            portal->address());
    }
    const auto address = net::resolve(portal->host, portal->port);
    if (!address) {
        return tl::unexpected(address.error());
    }
    redirection_ = address->front();
    return {};
}

net::Task<Result<StageEnd>> LoginConnection::authenticate() {
    set_state(LoginState::authenticating);
    std::string text = names() + authentication_.offer();
    while (true) {
        const LoginStep now = step(LoginStage::security, LoginStage::operational, authentication_.may_end());
        const Result<Answer> answer = co_await exchange(now, std::move(text));
        if (!answer) {
            co_return tl::unexpected<Error>(answer.error());
        }
        if (answer->redirected) {
            co_return StageEnd::redirected;
        }
        Result<std::string> next = authentication_.take(answer->pairs);
        if (!next) {
            co_return tl::unexpected<Error>(next.error());
        }
        const Result<void> taken = negotiation_.take(answer->pairs);
        if (!taken) {
            co_return tl::unexpected<Error>(taken.error());
        }
        if (answer->transit) {
            const Result<void> content = authentication_.check_end();
            if (!content) {
                co_return tl::unexpected<Error>(content.error());
            }
            co_return StageEnd::ended;
        }
        text = std::move(*next) + negotiation_.take_answers();
    }
}

net::Task<Result<StageEnd>> LoginConnection::negotiate() {
    set_state(LoginState::negotiating);
    std::string text = negotiation_.offer() + negotiation_.take_answers();
    while (true) {
        const LoginStep now = step(LoginStage::operational, LoginStage::full_feature, true);
        const Result<Answer> answer = co_await exchange(now, std::move(text));
        if (!answer) {
            co_return tl::unexpected<Error>(answer.error());
        }
        if (answer->redirected) {
            co_return StageEnd::redirected;
        }
        const Result<void> taken = negotiation_.take(answer->pairs);
        if (!taken) {
            co_return tl::unexpected<Error>(taken.error());
        }
        if (answer->transit) {
            co_return StageEnd::ended;
        }
        text = negotiation_.take_answers();
    }
}

LoggedIn LoginConnection::result(SessionParameters agreed) {
    LoggedIn session;
    session.parameters = agreed;
    session.numbers = {kFirstCmdSn, exp_stat_sn_, latest_.max_cmd_sn};
    session.isid = options_.isid;
    session.tsih = latest_.tsih;
    session.portal_group = negotiation_.portal_group();
    session.authenticated = authentication_.proven();
    session.address = net::peer_address(socket_.get());
    session.local_address = net::local_address(socket_.get());
    session.target_alias = negotiation_.target_alias();
    session.socket = std::move(socket_);
    return session;
}

net::Task<Result<LoggedIn>> LoginConnection::run(std::span<const net::SocketAddress> addresses) {
    set_state(LoginState::tcp_connecting);
    Result<UniqueFd> socket =
        co_await net::connect_tcp(reactor_, addresses, options_.socket, deadline_, options_.cancellation);
    if (!socket) {
        co_return tl::unexpected<Error>(std::move(socket.error())); // names the address itself
    }
    socket_ = std::move(*socket);
    if (options_.silence != 0) {
        net::limit_silence(socket_.get(), options_.silence);
    }
    const std::string address = net::peer_address(socket_.get());
    Result<StageEnd> end = co_await authenticate();
    if (end && *end == StageEnd::ended) {
        end = co_await negotiate();
    }
    if (!end) {
        co_return failure_in(address, end.error());
    }
    if (*end == StageEnd::redirected) {
        co_return failure(EREMCHG, "{} sends us to {}", address, redirection_->text());
    }
    const Result<SessionParameters> agreed = negotiation_.finish();
    if (!agreed) {
        co_return failure_in(address, agreed.error());
    }
    if (latest_.tsih == 0) {
        co_return failure(EPROTO, "{}: the target broke the protocol: its session has no handle (TSIH 0)",
                          address);
    }
    set_state(LoginState::logged_in);
    co_return result(*agreed);
}

} // namespace

std::string_view to_string(LoginState state) {
    switch (state) {
    case LoginState::tcp_connecting:
        return "connecting by TCP";
    case LoginState::authenticating:
        return "waiting for an answer in the login's security stage";
    case LoginState::negotiating:
        return "waiting for an answer in the login's operational stage";
    case LoginState::logged_in:
        return "logged in";
    }
    return "?";
}

LoginRequestOptions login_request(const SessionOptions& options, std::string target, const Isid& isid) {
    LoginRequestOptions request;
    request.initiator_name = options.initiator_name;
    request.target_name = std::move(target);
    request.isid = isid;
    request.chap = options.chap;
    request.header_digest = options.header_digest;
    request.data_digest = options.data_digest;
    request.max_outstanding_r2t = options.max_outstanding_r2t;
    request.socket = options.socket;
    return request;
}

net::Task<Result<LoggedIn>> log_in(net::Reactor& reactor, std::span<const net::SocketAddress> addresses,
                                   LoginRequestOptions options, Nanoseconds deadline) {
    std::string way; // that led us here
    net::SocketAddress next;
    for (int hops = 0; hops <= kMaxRedirections; ++hops) {
        LoginConnection connection(reactor, options, deadline);
        Result<LoggedIn> session = co_await connection.run(addresses);
        if (session) {
            co_return session;
        }
        if (!connection.redirection()) {
            if (!way.empty()) {
                co_return failure_in(way, session.error());
            }
            co_return session;
        }
        way = session.error().text;
        next = *connection.redirection();
        addresses = std::span(&next, 1);
    }
    co_return failure(EPROTO, "{}, after {} redirections", way, kMaxRedirections);
}

} // namespace mpath::iscsi
