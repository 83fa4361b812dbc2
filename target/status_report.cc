// SPDX-License-Identifier: GPL-2.0-only
#include "target/status_report.h"

#include <algorithm>

namespace mpath::target {

std::string served_text(const Server& server) {
    std::string text;
    for (const auto& listener : server.listeners()) {
        const Counters& seen = listener->counters;
        text += fmt::format(
            "served {} connections={} associations={} discoveries={} reads={} read_bytes={} writes={} "
            "write_bytes={} fua_writes={} flushes={} deallocates={} write_zeroes={} refused={} "
            "violations={} host_term_reqs={} host_fes={} host_fei={} header_digest_errors={} "
            "data_digest_errors={} expired={} dropped={} closed={} failed={} muted={} held_writes={} "
            "late_writes={} events={} unit_attentions={} logouts={} aborted={}\n",
            listener->options.name, seen.connections, seen.associations, seen.discoveries, seen.reads,
            seen.read_bytes, seen.writes, seen.write_bytes, seen.fua_writes, seen.flushes, seen.deallocates,
            seen.write_zeroes, seen.refused, seen.violations, seen.host_term_reqs, seen.host_fes,
            seen.host_fei, seen.header_digest_errors, seen.data_digest_errors, seen.expired, seen.dropped,
            seen.closed, seen.failed, seen.muted, seen.held_writes, seen.late_writes, seen.events,
            seen.unit_attentions, seen.logouts, seen.aborted);
    }
    return text;
}

namespace {

/// "optimized" if all groups are in one state, else "1:optimized,2:change".
std::string states_of(const Subsystem& subsystem, const Listener& listener) {
    std::string text;
    bool all_the_same = true;
    for (std::uint32_t group = 1; group <= subsystem.group_count(); ++group) {
        const auto state = listener.access_state(group);
        all_the_same = all_the_same && state == listener.access_state(1);
        text += fmt::format("{}{}:{}", text.empty() ? "" : ",", group,
                            to_string(state, listener.options.protocol));
    }
    return all_the_same ? std::string(to_string(listener.access_state(1), listener.options.protocol)) : text;
}

} // namespace

std::string status_text(const Server& server) {
    std::string text = served_text(server);
    for (const auto& listener : server.listeners()) {
        const auto& controllers = server.subsystem().controllers();
        const auto associations =
            static_cast<std::size_t>(std::count_if(controllers.begin(), controllers.end(),
                                                   [&](const auto& controller) {
                                                       return &controller->listener() == listener.get() &&
                                                              !controller->ended();
                                                   })) +
            server.iscsi().sessions_of(*listener);
        const bool refuses =
            listener->faults.has(ActionKind::refuse_connects) || listener->faults.has(ActionKind::down);
        const std::string faults = listener->faults.describe();
        text += fmt::format("state {} address={} takes_connects={} connections={} associations={} ana={} "
                            "faults={}\n",
                            listener->options.name, listener->address, refuses ? 0 : 1,
                            server.connections_of(*listener), associations,
                            states_of(server.subsystem(), *listener), faults.empty() ? "none" : faults);
    }
    const ScriptRunner& script = server.script();
    text += fmt::format("script waiting={} acted={}\n", script.waiting(), script.acted_times());
    return text;
}

} // namespace mpath::target
