// SPDX-License-Identifier: GPL-2.0-only
// A bench whose listener, named "a", scripts can be played to. A second listener, "b", serves nobody.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "peer.h"
#include "target/fault/fault_injector.h"
#include "target/fault/script.h"
#include "target/fault/script_runner.h"

namespace mpath::target {

class Stage : public Bench, private Premises {
public:
    explicit Stage(Options options = small());

    /// Plays statements; they have to be right.
    void play(std::string_view text);
    /// Lets time go by, in one step.
    void wait(Nanoseconds time);
    /// Faults that end connections, and the ends of stalls, are for these.
    void reaches(Peer& peer) { peers_.push_back(&peer); }
    void reaches(Association& host) {
        reaches(host.admin);
        reaches(host.io);
    }

    ScriptContext context;
    Listener other;
    std::unique_ptr<FaultInjector> injector;
    std::unique_ptr<ScriptRunner> script;
    std::vector<bool> connects; ///< whether they were taken, at each change

private:
    void each_connection(const std::function<void(ServedConnection&)>& visit) override;
    void take_connects(Listener& changed, bool taken) override;

    std::vector<Peer*> peers_;
};

/// A read of a log page from an offset; `retain`: its event stays masked.
nvme::Sqe log_command(std::uint8_t page, std::uint32_t length, std::uint32_t offset = 0, bool retain = false);

} // namespace mpath::target
