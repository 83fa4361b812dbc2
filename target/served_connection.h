// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "target/fault/command_filter.h"
#include "target/listener.h"
#include "target/options.h"
#include "target/send_queue.h"
#include "target/variation.h"

namespace mpath::target {

/// What a script has changed, for those who are told by their next command. Hosts that ask for events are
/// told by these.
enum class News : std::uint8_t { access_states, capacity, namespaces };

/// One connection that a listener has accepted, whatever is spoken on it: what is sent on it, and how it
/// ends. All on the server's thread.
class ServedConnection {
public:
    static constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

    ServedConnection(const ServedConnection&) = delete;
    ServedConnection& operator=(const ServedConnection&) = delete;
    virtual ~ServedConnection() = default;

    virtual void on_readable(Nanoseconds now) = 0;
    void on_writable() { flush(); }
    /// Carries out what is due, and sends it.
    virtual void on_timer(Nanoseconds now) = 0;
    /// When on_timer() is needed next.
    [[nodiscard]] virtual Nanoseconds next_due() const = 0;

    [[nodiscard]] int socket() const { return socket_.get(); }
    [[nodiscard]] virtual bool closed() const { return phase_ == Phase::closed; }
    /// What to wait for: the socket's buffer is full; the host does not read its answers.
    [[nodiscard]] bool wants_write() const { return blocked_; }
    [[nodiscard]] bool wants_read() const {
        return !send_queue_.congested() && !has(ActionKind::stall_reading);
    }
    /// The other side's end may not be acted on either.
    [[nodiscard]] bool stalls() const { return !wants_read() && !wants_write(); }

    // What a script has done to it.
    [[nodiscard]] const Listener& listener() const { return listener_; }
    [[nodiscard]] virtual Subject subject() const = 0;
    /// Resets it. What was answered before is not taken back.
    void drop();
    /// Closes it in order, behind what was answered before.
    void close(Nanoseconds now);
    /// Goes on after a stall.
    virtual void resume(Nanoseconds now) = 0;
    /// `group`: whose namespaces it is about; 0: all.
    virtual void hear(News /*news*/, std::uint32_t /*group*/) {}
    /// Asks the initiator to log out, and drops the connection if it has not after `within`.
    virtual void ask_to_leave(Nanoseconds /*within*/, Nanoseconds /*now*/) {}
    /// Asks the initiator whether it is there.
    virtual void ping() {}

protected:
    enum class Phase : std::uint8_t {
        open,
        lingering, ///< everything has been sent, the other side may still be sending: closing now would reset
                   ///< the connection under the last PDU
        closed,
    };

    /// `options` outlives it.
    ServedConnection(UniqueFd socket, Listener& listener, const Options& options);

    [[nodiscard]] bool has(ActionKind fault) const {
        return !listener_.faults.empty() && listener_.faults.find(fault, subject()) != nullptr;
    }
    /// Sends what is in send_queue_, as scripts and options have it.
    void flush();
    virtual void linger(Nanoseconds now);
    /// Whether it lingers, or is closed because it has for long enough.
    bool lingers(Nanoseconds now);

    UniqueFd socket_;
    Listener& listener_;
    SendQueue send_queue_;
    std::unique_ptr<Variation> variation_; ///< nullptr: nothing is left to chance
    Phase phase_ = Phase::open;
    Nanoseconds linger_until_ = kNever;

private:
    [[nodiscard]] std::size_t bytes_of_one_send();

    const Options& options_;
    bool blocked_ = false;
};

} // namespace mpath::target
