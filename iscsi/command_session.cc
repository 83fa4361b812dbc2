// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/command_session.h"

#include <algorithm>
#include <utility>

namespace mpath::iscsi {
namespace {

/// More than anybody sends at once.
constexpr std::uint16_t kCommands = 8;

/// A target keeps one unit attention for each thing that happened: more than these are no longer news.
constexpr int kAttentionLimit = 16;
constexpr int kBusyLimit = 10;
constexpr Nanoseconds kBusyPause = 100 * kMillisecond;

} // namespace

/// A command under way. Lives in the frame of the coroutine that waits for it.
struct CommandSession::Waiter {
    struct End {
        bool lost = false;
        bool failed = false;
        CommandResult result;
    };
    net::Event<End> done;
};

CommandSession::CommandSession(net::Reactor& reactor, LoggedIn logged_in, const Lun& lun, News news)
    : reactor_(reactor), lun_(lun), news_(std::move(news)),
      session_(reactor, std::move(logged_in), kCommands, *this) {}

/// Ends the session when nothing has come by then.
net::TimerQueue::Id CommandSession::fail_at(Nanoseconds deadline, const char* name) {
    const Nanoseconds begun = reactor_.clock().now();
    return reactor_.timers().add(deadline, [this, name, begun, deadline] {
        const double waited = static_cast<double>(deadline - std::min(begun, deadline)) / kSecond;
        fail({ETIMEDOUT, fmt::format("no answer to {} within {:.1f} s", name, waited)});
    });
}

Error CommandSession::lost_error(const char* name) const {
    if (end_.code == ETIMEDOUT) {
        return end_;
    }
    return {end_.code != 0 ? end_.code : ECANCELED, fmt::format("{} failed: {}", name, end_.text)};
}

net::Task<Result<CommandResult>> CommandSession::execute_once(Cdb cdb, Transfer transfer,
                                                              std::span<std::byte> data, Nanoseconds deadline,
                                                              const char* name) {
    if (session_.closing()) {
        co_return failure(ENOTCONN, "{} can't be sent: the session is closed", name);
    }
    const net::TimerQueue::Id timer = fail_at(deadline, name);
    while (!session_.closing() && session_.full()) {
        net::Event<int>& room = room_.emplace();
        co_await room;
    }
    if (session_.closing()) {
        reactor_.timers().cancel(timer);
        co_return tl::unexpected<Error>(lost_error(name));
    }
    Waiter waiter;
    session_.submit(cdb, lun_, transfer, data.data(), static_cast<std::uint32_t>(data.size()), &waiter);
    session_.flush();
    const Waiter::End end = co_await waiter.done;
    reactor_.timers().cancel(timer);
    if (end.lost) {
        co_return tl::unexpected<Error>(lost_error(name));
    }
    if (end.failed) {
        co_return failure(EIO, "the target could not carry out {}", name);
    }
    co_return end.result;
}

net::Task<Result<CommandResult>> CommandSession::execute(Cdb cdb, Transfer transfer,
                                                         std::span<std::byte> data, Nanoseconds deadline,
                                                         const char* name) {
    int attentions = 0;
    int busy = 0;
    while (true) {
        Result<CommandResult> result = co_await execute_once(cdb, transfer, data, deadline, name);
        if (!result) {
            co_return result;
        }
        const Sense& sense = result->sense;
        if (is_unit_attention(sense)) {
            if (news_.on_attention) {
                news_.on_attention(sense);
            }
            if (++attentions <= kAttentionLimit) {
                continue;
            }
        }
        const bool wait = sense.status == scsi_status::kBusy || sense.status == scsi_status::kTaskSetFull;
        if (!wait || ++busy > kBusyLimit) {
            co_return result;
        }
        co_await net::sleep_until(reactor_, reactor_.clock().now() + kBusyPause);
    }
}

net::Task<Result<CommandResult>> CommandSession::succeed(Cdb cdb, Transfer transfer,
                                                         std::span<std::byte> data, Nanoseconds deadline,
                                                         const char* name) {
    Result<CommandResult> result = co_await execute(cdb, transfer, data, deadline, name);
    if (!result || result->good()) {
        co_return result;
    }
    const int code = is_unit_missing(result->sense) ? ENODEV : EIO;
    co_return failure(code, "the target refuses {} with {}", name, status_text(result->sense));
}

net::Task<Result<void>> CommandSession::ping(Nanoseconds deadline) {
    if (session_.closing()) {
        co_return failure(ENOTCONN, "NOP-Out can't be sent: the session is closed");
    }
    net::Event<bool>& answered = pong_.emplace();
    const net::TimerQueue::Id timer = fail_at(deadline, "NOP-Out");
    if (!session_.ping()) {
        reactor_.timers().cancel(timer);
        co_return Result<void>{}; // there is more to send than fits: the session is busy, not silent
    }
    session_.flush();
    const bool alive = co_await answered;
    reactor_.timers().cancel(timer);
    if (!alive) {
        co_return failure(end_.code != 0 ? end_.code : ECANCELED, "{}", end_.text);
    }
    co_return Result<void>{};
}

net::Task<int> CommandSession::log_out(Nanoseconds deadline) {
    if (session_.closing() || !session_.log_out()) {
        co_return ENOTCONN;
    }
    session_.flush();
    net::Event<int>& over = farewell_.emplace();
    const net::TimerQueue::Id timer = reactor_.timers().add(deadline, [&over] {
        if (!over.is_set()) {
            over.set(ETIMEDOUT);
        }
    });
    const int code = co_await over;
    reactor_.timers().cancel(timer);
    co_return code;
}

net::Task<int> CommandSession::close() {
    // Named, because GCC 12 without optimization destroys a braced temporary of a coroutine twice.
    Error by_us{0, "closed"};
    session_.close(std::move(by_us), net::Stream::Ending::orderly);
    co_await closed_;
    // on_session_closed() is still on the stack, and the stream below it: come back on a fresh one.
    co_await net::sleep_until(reactor_, reactor_.clock().now());
    co_return 0;
}

void CommandSession::fail(const Error& reason) noexcept {
    if (!session_.closing()) {
        end_ = reason;
        session_.close(reason, net::Stream::Ending::abort);
        tell_end(reason);
    }
}

void CommandSession::on_command_done(const CommandEnd& end) noexcept {
    auto* waiter = static_cast<Waiter*>(end.owner);
    if (end.lost) {
        lost_.push_back(waiter); // told why as soon as we know
        return;
    }
    Waiter::End told;
    told.failed = end.failed || end.damaged;
    told.result = {parse_sense(end.status, end.sense), end.moved};
    waiter->done.set(told);
}

void CommandSession::on_room() noexcept {
    if (room_ && !room_->is_set()) {
        room_->set(0);
    }
}

void CommandSession::on_async(const AsyncEvent& event) noexcept {
    if (news_.on_async) {
        news_.on_async(event);
    }
}

void CommandSession::on_pong() noexcept {
    if (pong_ && !pong_->is_set()) {
        pong_->set(true);
    }
}

void CommandSession::on_logged_out(std::uint8_t response) noexcept {
    if (farewell_ && !farewell_->is_set()) {
        farewell_->set(response == 0 ? 0 : EPROTO);
    }
}

void CommandSession::on_session_closed(const Error& error) noexcept {
    end_ = error;
    for (Waiter* waiter : std::exchange(lost_, {})) {
        Waiter::End lost;
        lost.lost = true;
        waiter->done.set(lost);
    }
    on_room(); // the command that waits finds the session closed
    if (pong_ && !pong_->is_set()) {
        pong_->set(false);
    }
    if (farewell_ && !farewell_->is_set()) {
        farewell_->set(ECONNRESET);
    }
    tell_end(error);
    closed_.set(true);
}

void CommandSession::tell_end(const Error& reason) noexcept {
    if (!std::exchange(end_told_, true) && news_.on_end) {
        news_.on_end(reason);
    }
}

} // namespace mpath::iscsi
