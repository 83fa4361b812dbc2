// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <gtest/gtest.h>

#include "net/reactor.h"

namespace mpath::job::test {

/// Timers and nothing else. Waiting takes no time: the clock is set to when the next timer is due.
class VirtualReactor final : public net::Reactor {
public:
    explicit VirtualReactor(FakeClock& clock) : Reactor(clock), clock_(clock) {}

    void run(Nanoseconds max_wait) noexcept override {
        clock_.advance(until_timer(max_wait));
        note_arrival();
        timers().run_due(clock_.now());
    }
    /// Until `end`, and everything that is due by then.
    void run_to(Nanoseconds end) {
        while (clock_.now() < end) {
            run(end - clock_.now());
        }
        run(0); // what was added as due just now
    }

    void connect(net::Operation&, int, const sockaddr*, socklen_t) noexcept override { no_sockets(); }
    void receive(net::Operation&, int, msghdr*, int) noexcept override { no_sockets(); }
    void send(net::Operation&, int, msghdr*) noexcept override { no_sockets(); }
    void read(net::Operation&, int, void*, std::uint32_t) noexcept override { no_sockets(); }
    void cancel(net::Operation&) noexcept override { no_sockets(); }
    [[nodiscard]] std::uint64_t system_calls() const noexcept override { return 0; }
    [[nodiscard]] std::string_view backend() const noexcept override { return "virtual"; }

private:
    static void no_sockets() { ADD_FAILURE() << "there are no sockets here"; }

    FakeClock& clock_;
};

} // namespace mpath::job::test
