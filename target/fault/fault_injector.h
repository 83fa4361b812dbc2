// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "target/fault/action.h"
#include "target/fault/fault_log.h"
#include "target/fault/faults.h"
#include "target/listener.h"
#include "target/served_connection.h"
#include "target/subsystem.h"

namespace mpath::target {

/// What an injector needs of whoever has the listeners and the connections.
class Premises {
public:
    Premises() = default;
    Premises(const Premises&) = delete;
    Premises& operator=(const Premises&) = delete;
    virtual ~Premises() = default;

    /// All that are not closed.
    virtual void each_connection(const std::function<void(ServedConnection&)>& visit) = 0;
    /// Whether connection attempts are taken or refused from now on.
    virtual void take_connects(Listener& listener, bool taken) = 0;
};

/// Does to listeners, controllers and connections what a script says, and undoes it.
class FaultInjector {
public:
    /// All have to outlive it; `listeners` in the order that scripts count them in.
    FaultInjector(Subsystem& subsystem, std::vector<Listener*> listeners, Premises& premises)
        : subsystem_(subsystem), listeners_(std::move(listeners)), premises_(premises) {}

    void set_log(std::unique_ptr<FaultLog> log) { log_ = std::move(log); }

    [[nodiscard]] Listener& listener(std::size_t position) const { return *listeners_[position]; }

    /// `activation`: what end() shall end, or 0.
    void begin(Listener& listener, const Action& action, Scope scope, Activation activation, Nanoseconds now);
    void end(Listener& listener, const Action& action, Activation activation, Nanoseconds now);

private:
    struct Before;

    [[nodiscard]] Before look(const Listener& listener) const;
    void tell_changes(Listener& listener, const Before& before, bool announce, Nanoseconds now);
    void tell(News news, std::uint32_t group, const Listener* listener);
    void each_connection_of(const Listener& listener, const Scope& scope,
                            const std::function<void(ServedConnection&)>& visit);
    void tell_namespaces(const Listener& listener, const std::vector<std::uint32_t>& nsids);
    [[nodiscard]] std::vector<std::uint32_t> namespaces_of(std::uint32_t group) const;
    void act(Listener& listener, const Action& action, const Scope& scope, Activation activation,
             Nanoseconds now);
    void end_connections(const Listener& listener, const Scope& scope, bool in_order, Nanoseconds now);
    void each_controller(const Listener& listener, const Scope& scope,
                         const std::function<void(Controller&)>& visit);
    [[nodiscard]] FaultLog::Moment moment() const;
    void log(const FaultLog::Moment& moment, const Listener& listener, const Action& action,
             const char* phase);

    Subsystem& subsystem_;
    std::vector<Listener*> listeners_;
    Premises& premises_;
    std::unique_ptr<FaultLog> log_;
};

} // namespace mpath::target
