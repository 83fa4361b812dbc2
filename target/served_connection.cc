// SPDX-License-Identifier: GPL-2.0-only
#include "target/served_connection.h"

#include <sys/socket.h>

#include <utility>

namespace mpath::target {

ServedConnection::ServedConnection(UniqueFd socket, Listener& listener, const Options& options)
    : socket_(std::move(socket)), listener_(listener),
      variation_(make_variation(options, listener.counters.connections)), options_(options) {}

void ServedConnection::drop() {
    flush();
    const struct ::linger at_once { .l_onoff = 1, .l_linger = 0 };
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    socket_.reset();
    phase_ = Phase::closed;
    ++listener_.counters.dropped;
}

void ServedConnection::close(Nanoseconds now) {
    linger(now);
    flush();
    ++listener_.counters.closed;
}

void ServedConnection::linger(Nanoseconds now) {
    phase_ = Phase::lingering;
    linger_until_ = now + kSecond;
}

bool ServedConnection::lingers(Nanoseconds now) {
    if (phase_ != Phase::lingering) {
        return false;
    }
    if (now >= linger_until_) {
        phase_ = Phase::closed;
    }
    return true;
}

std::size_t ServedConnection::bytes_of_one_send() {
    if (!listener_.faults.empty()) {
        const Action* split = listener_.faults.find(ActionKind::split, subject());
        if (split != nullptr) {
            return split->number;
        }
    }
    if (options_.segment == 0) {
        return std::numeric_limits<std::size_t>::max();
    }
    return options_.segment == kRandomSize ? variation_->segment() : options_.segment;
}

void ServedConnection::flush() {
    if (phase_ == Phase::closed) {
        return;
    }
    if (has(ActionKind::stall_writing)) {
        blocked_ = false; // there is nothing to wait for
        return;
    }
    const auto outcome = send_queue_.empty() ? SendQueue::Outcome::drained
                                             : send_queue_.flush(socket_.get(), bytes_of_one_send());
    blocked_ = outcome == SendQueue::Outcome::blocked;
    if (outcome == SendQueue::Outcome::failed) {
        phase_ = Phase::closed;
    } else if (phase_ == Phase::lingering && !blocked_) {
        ::shutdown(socket_.get(), SHUT_WR);
    }
}

} // namespace mpath::target
