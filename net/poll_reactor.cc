// SPDX-License-Identifier: GPL-2.0-only
#include "net/poll_reactor.h"

#include <algorithm>
#include <utility>

#include "net/partial_message.h"

namespace mpath::net {
namespace {

/// A receive is tried without asking from here on; each try that found something adds one, each other takes
/// one away.
constexpr std::uint8_t kLucky = 2;
constexpr std::uint8_t kMostLuck = 3;
/// And in one run of so many whatever its luck, or a change for the better would never be noticed.
constexpr unsigned kTryAnyway = 64;

bool would_block(int error) {
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

} // namespace

PollReactor::PollReactor(const Clock& clock, unsigned operations) : Reactor(clock) {
    const std::size_t room = std::max(operations, 64U);
    pending_.reserve(room);
    polled_.reserve(room);
    ended_.reserve(room);
}

// ---- staging

void PollReactor::stage(const Pending& pending) noexcept {
    pending.operation->pending = true;
    pending_.push_back(pending);
}

void PollReactor::connect(Operation& operation, int fd, const sockaddr* address, socklen_t length) noexcept {
    stage({.operation = &operation, .address = address, .length = length, .fd = fd, .kind = Kind::connect});
}

void PollReactor::receive(Operation& operation, int fd, msghdr* message, int flags) noexcept {
    const bool whole = (flags & MSG_WAITALL) != 0;
    stage({.operation = &operation,
           .message = message,
           .length = whole ? message_length(*message) : 0,
           .fd = fd,
           .kind = Kind::receive,
           .whole = whole});
}

void PollReactor::send(Operation& operation, int fd, msghdr* message) noexcept {
    stage({.operation = &operation,
           .message = message,
           .length = message_length(*message),
           .fd = fd,
           .kind = Kind::send,
           .whole = true});
}

void PollReactor::read(Operation& operation, int fd, void* buffer, std::uint32_t length) noexcept {
    stage({.operation = &operation, .buffer = buffer, .length = length, .fd = fd, .kind = Kind::read});
}

void PollReactor::cancel(Operation& operation) noexcept {
    for (Pending& pending : pending_) {
        pending.cancelled = pending.cancelled || pending.operation == &operation;
    }
}

// ---- trying

/// Reading an eventfd would block, and a connection that is being made gives no sign but through poll().
bool PollReactor::can_be_tried(const Pending& pending) noexcept {
    return pending.kind != Kind::read && (pending.kind != Kind::connect || !pending.tried);
}

bool PollReactor::worth_trying(const Pending& pending) const noexcept {
    if (pending.kind == Kind::receive) {
        return pending.operation->luck >= kLucky || runs_ % kTryAnyway == 0;
    }
    return !pending.tried && can_be_tried(pending); // a send that was tried before waits for room
}

/// What an operation gets in each run without anybody asking for it.
void PollReactor::begin(Pending& pending) noexcept {
    pending.looked = false;
    if (pending.cancelled) {
        // What was flushed before a close leaves, as it does with io_uring.
        if (pending.kind == Kind::send && !pending.tried) {
            attempt(pending);
        }
        if (!pending.ended) {
            end(pending, pending.moved > 0 ? static_cast<int>(pending.moved) : -ECANCELED);
        }
    } else if (worth_trying(pending)) {
        try_unasked(pending);
    }
}

void PollReactor::try_unasked(Pending& pending) noexcept {
    const std::size_t moved = pending.moved;
    attempt(pending);
    std::uint8_t& luck = pending.operation->luck;
    if (pending.ended) {
        luck = std::clamp<std::uint8_t>(luck + 1, kLucky, kMostLuck);
    } else if (pending.moved == moved && luck > 0) {
        --luck;
    }
}

void PollReactor::attempt(Pending& pending) noexcept {
    if (pending.kind == Kind::connect) {
        attempt_connect(pending);
    } else {
        attempt_transfer(pending);
    }
    pending.tried = pending.looked = true;
}

void PollReactor::attempt_connect(Pending& pending) noexcept {
    ++system_calls_;
    int error = 0;
    if (!pending.tried) {
        const auto length = static_cast<socklen_t>(pending.length);
        error = ::connect(pending.fd, pending.address, length) == 0 ? 0 : errno;
        if (error == EINPROGRESS) {
            return;
        }
    } else {
        socklen_t length = sizeof error;
        if (::getsockopt(pending.fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) {
            error = errno;
        }
    }
    end(pending, -error);
}

void PollReactor::attempt_transfer(Pending& pending) noexcept {
    ++system_calls_;
    ssize_t count = 0;
    if (pending.kind == Kind::read) {
        count = ::read(pending.fd, pending.buffer, pending.length);
    } else {
        count = pending.kind == Kind::send ? send_rest(pending.fd, *pending.message, pending.moved)
                                           : receive_rest(pending.fd, *pending.message, pending.moved);
    }
    if (count < 0) {
        if (!would_block(errno)) {
            end(pending, pending.moved > 0 ? static_cast<int>(pending.moved) : -errno);
        }
        return;
    }
    pending.moved += static_cast<std::size_t>(count);
    if (!pending.whole || count == 0 || pending.moved >= pending.length) {
        end(pending, static_cast<int>(pending.moved));
    }
}

void PollReactor::end(Pending& pending, int result) noexcept {
    pending.ended = true;
    pending.result = result;
    ++(pending.kind == Kind::send ? ended_sends_ : ended_others_);
}

// ---- looking

/// One socket alone that was not looked at is better tried than asked about: one call instead of two.
bool PollReactor::look_at_only_one() noexcept {
    Pending* one = nullptr;
    for (Pending& pending : pending_) {
        if (!pending.ended && !pending.looked) {
            if (one != nullptr || !can_be_tried(pending)) {
                return false;
            }
            one = &pending;
        }
    }
    if (one != nullptr) {
        try_unasked(*one);
    }
    return one != nullptr;
}

void PollReactor::look(Nanoseconds max_wait) noexcept {
    if (max_wait == 0 && look_at_only_one()) {
        return;
    }
    polled_.clear();
    for (const Pending& pending : pending_) {
        const bool out = pending.kind == Kind::send || pending.kind == Kind::connect;
        // A negative descriptor is left out.
        polled_.push_back({pending.ended ? -1 : pending.fd, static_cast<short>(out ? POLLOUT : POLLIN), 0});
    }
    const timespec timeout{static_cast<time_t>(max_wait / kSecond), static_cast<long>(max_wait % kSecond)};
    ++system_calls_;
    if (::ppoll(polled_.data(), polled_.size(), &timeout, nullptr) <= 0) {
        return;
    }
    for (std::size_t i = 0; i < polled_.size(); ++i) {
        // Whatever it is, an error or a hang-up too: the operation itself says best what it means.
        if (polled_[i].revents != 0) {
            attempt(pending_[i]);
        }
    }
}

void PollReactor::spin(Nanoseconds max_wait) noexcept {
    const Nanoseconds until = clock().now() + max_wait;
    do {
        for (Pending& pending : pending_) {
            pending.looked = false;
        }
        look(0);
    } while (ended_sends_ + ended_others_ == 0 && clock().now() < until);
}

// ---- running

void PollReactor::run(Nanoseconds max_wait) noexcept {
    ++runs_;
    ended_sends_ = ended_others_ = 0;
    bool all_looked_at = true;
    for (Pending& pending : pending_) {
        begin(pending);
        all_looked_at = all_looked_at && (pending.ended || pending.looked);
    }
    const bool put_off_before = std::exchange(put_off_, false);
    if (ended_sends_ + ended_others_ == 0 && (max_wait > 0 || !all_looked_at)) {
        max_wait = until_timer(max_wait);
        if (busy_poll() && max_wait > 0) {
            spin(max_wait);
        } else {
            look(max_wait);
        }
    } else if (!all_looked_at) {
        // Having only sent, there is seldom an answer yet, and who waits for one is back at once. But what
        // is never lucky must be looked at however busy the others are.
        if (ended_others_ > 0 || put_off_before) {
            look(0);
        } else {
            put_off_ = true;
        }
    }
    note_arrival();
    dispatch();
    if (timers().next()) {
        timers().run_due(clock().now());
    }
}

void PollReactor::dispatch() noexcept {
    if (ended_sends_ + ended_others_ == 0) {
        return;
    }
    for (const Pending& pending : pending_) {
        if (pending.ended) {
            ended_.push_back({pending.operation, pending.result});
        }
    }
    std::erase_if(pending_, [](const Pending& pending) { return pending.ended; });
    for (const auto [operation, result] : ended_) {
        operation->pending = false;
        operation->done(*operation, result);
    }
    ended_.clear();
}

} // namespace mpath::net
