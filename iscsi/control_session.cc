// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/control_session.h"

#include <algorithm>
#include <utility>

#include "iscsi/block_command.h"
#include "iscsi/clear_attentions.h"
#include "iscsi/login.h"

namespace mpath::iscsi {
namespace {

/// TCP's patience with a target where no keep-alive timeout says how long a silence may last: the kernel's
/// replacement timeout would be longer, its timeout of a command is this.
constexpr Nanoseconds kSilence = 30 * kSecond;
/// For a target that does not say how long a transition may last (SPC-4: the extended header); the kernel's
/// ALUA_FAILOVER_TIMEOUT.
constexpr Nanoseconds kTransition = 60 * kSecond;

constexpr std::size_t kPortGroupsSize = 4096;

tl::unexpected<Error> unexpected(Error error) {
    return tl::unexpected<Error>(std::move(error));
}

} // namespace

ControlSession::ControlSession(net::Reactor& reactor, Uri uri, SessionOptions options, IsidBase isids)
    : reactor_(reactor), uri_(std::move(uri)), options_(std::move(options)), isids_(isids) {
    facts_.target = uri_.target;
    facts_.lun = uri_.lun;
    facts_.io_queues = options_.io_queues;
    facts_.queue_size = options_.queue_size;
    facts_.keep_alive_ms = options_.keep_alive_ms;
    facts_.transition_limit = kTransition;
    // What a target does about an initiator it no longer hears is its own affair; a session of the same ISID,
    // which ends the old one, does not take longer to come back.
    facts_.quiet_after_loss = 2 * options_.keep_alive_ms * kMillisecond;
}

net::Task<Result<std::unique_ptr<ControlSession>>>
ControlSession::connect_to(net::Reactor& reactor, Uri uri, std::vector<net::SocketAddress> addresses,
                           SessionOptions options, IsidBase isids, net::Cancellation* cancellation) {
    std::unique_ptr<ControlSession> session(
        new ControlSession(reactor, std::move(uri), std::move(options), isids));
    session->addresses_ = std::move(addresses);
    session->cancellation_ = cancellation;
    const Nanoseconds deadline = reactor.clock().now() + session->options_.connect_timeout;
    const Result<void> up = co_await session->bring_up(deadline);
    if (!up) {
        co_await session->logout(std::min(deadline, reactor.clock().now() + kSecond));
        co_return unexpected(up.error());
    }
    co_return std::move(session);
}

net::Task<Result<void>> ControlSession::bring_up(Nanoseconds deadline) {
    Result<void> result = co_await connect(deadline);
    if (!result) {
        co_return result;
    }
    // Waits on the session end with it.
    const net::Cancellation::Hook hook(cancellation_, [this] { session_->fail({ECANCELED, "given up"}); });
    result = co_await ask_ready(deadline);
    wanted_ = {}; // all of that is read now; what is told meanwhile, start() has looked at
    if (result) {
        result = co_await identify(deadline);
    }
    if (result && (facts_.tpgs != 0 || port_group_)) {
        const Result<AluaState> state = co_await read_state(deadline);
        if (!state && session_->closing()) {
            result = unexpected(state.error());
        }
        state_ = state ? *state : state_;
        state_failure_ = state ? "" : state.error().text;
    }
    if (!facts_.reports_state) {
        state_ = ready_state_;
    }
    if (result) {
        result = co_await measure(deadline);
    }
    if (!result) {
        co_return failure_in(facts_.address, result.error());
    }
    facts_.state = path_state();
    facts_.state_name = state_name();
    facts_.alua_state = state_;
    co_return result;
}

net::Task<Result<void>> ControlSession::connect(Nanoseconds deadline) {
    LoginRequestOptions request = login_request(options_, uri_.target, isid(isids_, 0));
    request.silence = patience();
    request.cancellation = cancellation_;
    Result<LoggedIn> logged_in = co_await log_in(reactor_, addresses_, std::move(request), deadline);
    if (!logged_in) {
        co_return unexpected(logged_in.error());
    }
    facts_.address = logged_in->address;
    facts_.local_address = logged_in->local_address;
    facts_.target_alias = logged_in->target_alias;
    facts_.portal_group = logged_in->portal_group;
    facts_.parameters = logged_in->parameters;
    CommandSession::News news;
    news.on_end = [this](const Error& error) { ended(error); };
    news.on_async = [this](const AsyncEvent& event) { heard(event); };
    news.on_attention = [this](const Sense& sense) { want(attention_of(sense)); };
    session_ =
        std::make_unique<CommandSession>(reactor_, std::move(*logged_in), to_wire(uri_.lun), std::move(news));
    co_return Result<void>{};
}

net::Task<Result<std::vector<LoggedIn>>> ControlSession::log_in_io_sessions(Nanoseconds deadline) {
    std::vector<LoggedIn> sessions;
    for (std::uint16_t number = 1; number <= facts_.io_queues; ++number) {
        LoginRequestOptions request = login_request(options_, uri_.target, isid(isids_, number));
        request.silence = patience();
        request.cancellation = cancellation_;
        Result<LoggedIn> session = co_await log_in(reactor_, addresses_, std::move(request), deadline);
        if (!session) {
            const std::string which = fmt::format("session {} of {}", number, facts_.io_queues);
            co_return failure_in(which, session.error());
        }
        const Lun lun = to_wire(uri_.lun);
        const Result<void> heard_all =
            co_await clear_attentions(reactor_, *session, lun, deadline, cancellation_);
        if (!heard_all) {
            co_return failure_in(facts_.address, heard_all.error());
        }
        sessions.push_back(std::move(*session));
    }
    co_return std::move(sessions);
}

// ---- its state

/// Whether its port takes I/O, as far as TEST UNIT READY tells; and what is new. An error: the session is
/// over.
net::Task<Result<void>> ControlSession::ask_ready(Nanoseconds deadline) {
    const Result<CommandResult> done =
        co_await session_->execute(Cdb{}, Transfer::none, {}, deadline, "TEST UNIT READY");
    if (session_->closing()) {
        co_return unexpected(done ? Error{ENOTCONN, "the session is closed"} : done.error());
    }
    if (done) {
        ready_state_ = refused_for(done->sense).value_or(AluaState::active_optimized);
        want(attention_of(done->sense));
    }
    co_return Result<void>{};
}

void ControlSession::want(const Attention& attention) {
    wanted_.state = wanted_.state || attention.state;
    wanted_.capacity = wanted_.capacity || attention.capacity;
    wanted_.identity = wanted_.identity || attention.identity;
}

/// Nothing, if the target refuses to say because of the state that the port is in: `refused`.
net::Task<Result<PortGroups>> ControlSession::report_groups(Nanoseconds deadline,
                                                            std::optional<AluaState>& refused) {
    while (true) {
        std::vector<std::byte> data(kPortGroupsSize);
        PortGroupsCdb command;
        command.action |= extended_ ? kExtendedHeader : 0;
        command.allocation = static_cast<std::uint32_t>(data.size());
        const Result<CommandResult> done = co_await session_->execute(
            cdb_of(command), Transfer::to_host, data, deadline, "REPORT TARGET PORT GROUPS");
        if (!done) {
            co_return unexpected(done.error());
        }
        const Sense& sense = done->sense;
        if (done->good()) {
            co_return parse_port_groups(std::span(data).first(done->moved), extended_);
        }
        refused = refused_for(sense);
        if (refused || !extended_ || sense.key != sense_key::kIllegalRequest || is_unit_missing(sense)) {
            co_return failure(EIO, "the target refuses REPORT TARGET PORT GROUPS with {}",
                              status_text(sense));
        }
        extended_ = false; // some targets refuse what they don't know
    }
}

/// Of the group of our port. A target that does not report groups after all has none.
net::Task<Result<AluaState>> ControlSession::read_state(Nanoseconds deadline) {
    std::optional<AluaState> refused;
    const Result<PortGroups> report = co_await report_groups(deadline, refused);
    if (refused) { // a port in transition need not say more
        facts_.reports_state = true;
        co_return *refused;
    }
    if (!report) {
        co_return unexpected(report.error());
    }
    const auto group =
        std::find_if(report->groups.begin(), report->groups.end(), [this](const ReportedGroup& one) {
            const bool has_port =
                facts_.relative_port != 0 &&
                std::find(one.ports.begin(), one.ports.end(), facts_.relative_port) != one.ports.end();
            return port_group_ ? one.id == *port_group_ : has_port;
        });
    if (group == report->groups.end()) {
        co_return failure(EPROTO, "REPORT TARGET PORT GROUPS does not list the group of this port");
    }
    facts_.reports_state = true;
    facts_.group = group->id;
    facts_.preferred = group->preferred;
    facts_.transition_limit = report->transition_time == 0 ? kTransition : report->transition_time;
    co_return group->state;
}

// ---- its end

Nanoseconds ControlSession::patience() const noexcept {
    return options_.keep_alive_ms == 0 ? kSilence : options_.keep_alive_ms * kMillisecond;
}

net::Task<int> ControlSession::logout(Nanoseconds deadline) {
    stopping_ = true;
    if (transition_timer_) {
        reactor_.timers().cancel(*std::exchange(transition_timer_, std::nullopt));
    }
    if (watching_) {
        wake();
        // What is under way may have more time than we have.
        const net::TimerQueue::Id timer = reactor_.timers().add(deadline, [this] {
            session_->fail({ETIMEDOUT, "no answer"});
        });
        co_await watched_;
        reactor_.timers().cancel(timer);
    }
    if (!session_) {
        co_return 0;
    }
    const int code = co_await session_->log_out(deadline);
    co_await session_->close();
    co_return code;
}

void ControlSession::ended(const Error& error) {
    if (stopping_) {
        return;
    }
    if (listener_ == nullptr) {
        loss_ = error;
        return;
    }
    wake(); // watch() ends
    listener_->on_lost({error.code, facts_.address + ": " + error.text});
}

} // namespace mpath::iscsi
