// SPDX-License-Identifier: GPL-2.0-only
#include "target/fault/fault_injector.h"

namespace mpath::target {

/// What hosts can see of a listener and are told about when it changes.
struct FaultInjector::Before {
    std::vector<AccessState> states; ///< of groups 1, 2, ...
    std::vector<bool> removed;       ///< namespaces 1, 2, ...
    bool refuses = false;
    bool stalls = false;
};

FaultInjector::Before FaultInjector::look(const Listener& listener) const {
    Before seen;
    for (std::uint32_t group = 1; group <= subsystem_.group_count(); ++group) {
        seen.states.push_back(listener.access_state(group));
    }
    for (std::uint32_t nsid = 1; nsid <= subsystem_.namespace_count(); ++nsid) {
        seen.removed.push_back(listener.faults.has_for_group(ActionKind::remove, subsystem_.group_of(nsid)));
    }
    seen.refuses = listener.faults.has(ActionKind::refuse_connects) || listener.faults.has(ActionKind::down);
    seen.stalls =
        listener.faults.has(ActionKind::stall_reading) || listener.faults.has(ActionKind::stall_writing);
    return seen;
}

void FaultInjector::tell_changes(Listener& listener, const Before& before, bool announce, Nanoseconds now) {
    const Before after = look(listener);
    if (before.states != after.states) {
        if (listener.options.protocol == Protocol::iscsi && announce) {
            tell(News::access_states, 0, nullptr); // every portal says how all of them are
        }
        listener.ana.count_change();
        for (std::uint32_t group = 1; group <= after.states.size(); ++group) {
            if (before.states[group - 1] != after.states[group - 1]) {
                listener.ana.group_changed(group);
            }
        }
        if (announce) {
            each_controller(listener, {}, [](Controller& controller) { controller.events.ana_changed(); });
        }
    }
    std::vector<std::uint32_t> changed;
    for (std::uint32_t nsid = 1; nsid <= after.removed.size(); ++nsid) {
        if (before.removed[nsid - 1] != after.removed[nsid - 1]) {
            changed.push_back(nsid);
        }
    }
    tell_namespaces(listener, changed);
    if (!changed.empty()) {
        tell(News::namespaces, 0, &listener);
    }
    if (before.refuses != after.refuses) {
        premises_.take_connects(listener, !after.refuses);
    }
    if (before.stalls && !after.stalls) {
        premises_.each_connection([now](ServedConnection& connection) { connection.resume(now); });
    }
}

/// `listener`: whose connections; nullptr: of all that speak iSCSI.
void FaultInjector::tell(News news, std::uint32_t group, const Listener* listener) {
    premises_.each_connection([&](ServedConnection& connection) {
        if (listener == nullptr || &connection.listener() == listener) {
            connection.hear(news, group);
        }
    });
}

void FaultInjector::tell_namespaces(const Listener& listener, const std::vector<std::uint32_t>& nsids) {
    each_controller(listener, {}, [&](Controller& controller) {
        for (const std::uint32_t nsid : nsids) {
            controller.events.namespace_changed(nsid);
        }
    });
}

std::vector<std::uint32_t> FaultInjector::namespaces_of(std::uint32_t group) const {
    std::vector<std::uint32_t> nsids;
    for (std::uint32_t nsid = 1; nsid <= subsystem_.namespace_count(); ++nsid) {
        if (group == 0 || subsystem_.group_of(nsid) == group) {
            nsids.push_back(nsid);
        }
    }
    return nsids;
}

void FaultInjector::begin(Listener& listener, const Action& action, Scope scope, Activation activation,
                          Nanoseconds now) {
    if (scope.command == nullptr) {
        scope.command = action.usual_command;
    }
    const Before before = look(listener);
    const FaultLog::Moment at = moment();
    act(listener, action, scope, activation, now);
    tell_changes(listener, before, action.event, now);
    log(at, listener, action, action.kind == ActionKind::heal ? "heal" : "begin");
}

void FaultInjector::end(Listener& listener, const Action& action, Activation activation, Nanoseconds now) {
    const Before before = look(listener);
    const FaultLog::Moment at = moment();
    listener.faults.end(activation);
    listener.ana.end(activation);
    tell_changes(listener, before, action.event, now);
    log(at, listener, action, "end");
}

void FaultInjector::act(Listener& listener, const Action& action, const Scope& scope, Activation activation,
                        Nanoseconds now) {
    switch (action.kind) {
    case ActionKind::ana:
        listener.ana.set(scope.group, action.ana, activation);
        break;
    case ActionKind::drop:
    case ActionKind::close:
        end_connections(listener, scope, action.kind == ActionKind::close, now);
        break;
    case ActionKind::down:
        listener.faults.add(action, scope, activation);
        end_connections(listener, scope, false, now);
        break;
    case ActionKind::resize:
        for (const std::uint32_t nsid : namespaces_of(scope.group)) {
            subsystem_.find_namespace(nsid)->resize(action.number);
        }
        tell_namespaces(listener, namespaces_of(scope.group));
        tell(News::capacity, scope.group, &listener);
        break;
    case ActionKind::fatal:
        each_controller(listener, scope, [](Controller& controller) { controller.fail(); });
        break;
    case ActionKind::reset:
        each_controller(listener, scope, [](Controller& controller) { controller.reset_itself(); });
        break;
    case ActionKind::async_logout:
        each_connection_of(listener, scope, [&](ServedConnection& connection) {
            connection.ask_to_leave(action.duration, now);
        });
        break;
    case ActionKind::ping:
        each_connection_of(listener, scope, [](ServedConnection& connection) { connection.ping(); });
        break;
    case ActionKind::heal:
        listener.faults.clear();
        listener.ana.clear();
        break;
    default:
        listener.faults.add(action, scope, activation);
        break;
    }
}

void FaultInjector::end_connections(const Listener& listener, const Scope& scope, bool in_order,
                                    Nanoseconds now) {
    each_connection_of(listener, scope, [&](ServedConnection& connection) {
        if (in_order) {
            connection.close(now);
        } else {
            connection.drop();
        }
    });
}

void FaultInjector::each_connection_of(const Listener& listener, const Scope& scope,
                                       const std::function<void(ServedConnection&)>& visit) {
    premises_.each_connection([&](ServedConnection& connection) {
        if (&connection.listener() == &listener && scope.covers(connection.subject())) {
            visit(connection);
        }
    });
}

void FaultInjector::each_controller(const Listener& listener, const Scope& scope,
                                    const std::function<void(Controller&)>& visit) {
    for (const auto& controller : subsystem_.controllers()) {
        if (&controller->listener() == &listener && !controller->ended() && !controller->is_discovery() &&
            (scope.controller == 0 || scope.controller == controller->id())) {
            visit(*controller);
        }
    }
}

FaultLog::Moment FaultInjector::moment() const {
    return log_ == nullptr ? FaultLog::Moment{} : log_->moment();
}

void FaultInjector::log(const FaultLog::Moment& moment, const Listener& listener, const Action& action,
                        const char* phase) {
    if (log_ != nullptr) {
        log_->write(moment, listener, action, phase);
    }
}

} // namespace mpath::target
