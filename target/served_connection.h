// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <limits>

#include "base/clock.h"
#include "target/fault/command_filter.h"

namespace mpath::target {

struct Listener;

/// What a script has changed, for those who are told by their next command. Hosts that ask for events are
/// told by these.
enum class News : std::uint8_t { access_states, capacity, namespaces };

/// One connection that a listener has accepted, whatever is spoken on it. All on the server's thread.
class ServedConnection {
public:
    static constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

    ServedConnection() = default;
    ServedConnection(const ServedConnection&) = delete;
    ServedConnection& operator=(const ServedConnection&) = delete;
    virtual ~ServedConnection() = default;

    virtual void on_readable(Nanoseconds now) = 0;
    virtual void on_writable() = 0;
    /// Carries out what is due, and sends it.
    virtual void on_timer(Nanoseconds now) = 0;
    /// When on_timer() is needed next.
    [[nodiscard]] virtual Nanoseconds next_due() const = 0;

    [[nodiscard]] virtual int socket() const = 0;
    [[nodiscard]] virtual bool closed() const = 0;
    /// What to wait for: the socket's buffer is full; the host does not read its answers.
    [[nodiscard]] virtual bool wants_write() const = 0;
    [[nodiscard]] virtual bool wants_read() const = 0;
    /// The other side's end may not be acted on either.
    [[nodiscard]] bool stalls() const { return !wants_read() && !wants_write(); }

    // What a script has done to it.
    [[nodiscard]] virtual const Listener& listener() const = 0;
    [[nodiscard]] virtual Subject subject() const = 0;
    /// Resets it. What was answered before is not taken back.
    virtual void drop() = 0;
    /// Closes it in order, behind what was answered before.
    virtual void close(Nanoseconds now) = 0;
    /// Goes on after a stall.
    virtual void resume(Nanoseconds now) = 0;
    /// `group`: whose namespaces it is about; 0: all.
    virtual void hear(News /*news*/, std::uint32_t /*group*/) {}
    /// Asks the initiator to log out, and drops the connection if it has not after `within`.
    virtual void ask_to_leave(Nanoseconds /*within*/, Nanoseconds /*now*/) {}
    /// Asks the initiator whether it is there.
    virtual void ping() {}
};

} // namespace mpath::target
