// SPDX-License-Identifier: GPL-2.0-only
#include "cli/path_details.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/text_table.h"
#include "iscsi/session_facts.h"
#include "nvme/controller_facts.h"
#include "nvme/wire/identify.h"

namespace mpath::cli {
namespace {

using Json = nlohmann::ordered_json;

bool is_iscsi(const FoundPath& path) {
    return path.uri.starts_with("iscsi:");
}

const nvme::ControllerFacts& controller(const FoundPath& path) {
    return static_cast<const nvme::ControllerFacts&>(**path.facts);
}

const iscsi::SessionFacts& session(const FoundPath& path) {
    return static_cast<const iscsi::SessionFacts&>(**path.facts);
}

std::string version_text(std::uint32_t version) {
    const std::string text = fmt::format("{}.{}", version >> 16, (version >> 8) & 0xff);
    return (version & 0xff) == 0 ? text : fmt::format("{}.{}", text, version & 0xff);
}

std::string keep_alive_text(std::uint32_t milliseconds) {
    return milliseconds == 0 ? kAbsent : fmt::format("{} ms", milliseconds);
}

std::string digests_text(bool header, bool data) {
    return header ? data ? "both" : "header" : data ? "data" : "none";
}

std::string group_text(const PathFacts& facts) {
    return facts.reports_state ? std::to_string(facts.group) : kAbsent;
}

/// With the protocol's own word, and `without`, what tells of groups, where the device knows of none.
std::string state_text(const PathFacts& facts, std::string_view without) {
    std::string text(to_string(facts.state));
    if (!facts.state_name.empty()) {
        text += fmt::format(" ({})", facts.state_name);
    }
    return facts.reports_state ? text : fmt::format("{} (no {})", text, without);
}

std::vector<std::string> nvme_row(const FoundPath& path, std::size_t index) {
    const nvme::ControllerFacts& facts = controller(path);
    return {name_of(index),
            group_text(facts),
            state_text(facts, "ANA"),
            std::to_string(facts.io_queues_allowed),
            std::to_string(facts.max_queue_entries),
            bytes_text(facts.in_capsule),
            facts.mdts == 0 ? kAbsent : bytes_text(facts.mdts),
            bytes_text(facts.max_h2c_data),
            bytes_text(nvme::alignment_bytes(facts.cpda)),
            digests_text(facts.pdu.header_digest, facts.pdu.data_digest),
            keep_alive_text(facts.keep_alive_ms)};
}

std::vector<std::string> iscsi_row(const FoundPath& path, std::size_t index) {
    const iscsi::SessionFacts& facts = session(path);
    const iscsi::SessionParameters& parameters = facts.parameters;
    return {name_of(index),
            group_text(facts),
            state_text(facts, "ALUA"),
            parameters.immediate_data ? "yes" : "no",
            parameters.initial_r2t ? "no" : "yes",
            bytes_text(parameters.first_burst),
            bytes_text(parameters.max_burst),
            bytes_text(parameters.max_send_data),
            digests_text(parameters.header_digest, parameters.data_digest),
            keep_alive_text(facts.keep_alive_ms)};
}

template <typename Row>
std::string table_of(const std::vector<FoundPath>& paths, bool iscsi, std::vector<std::string> head,
                     Row row) {
    TextTable table;
    table.add(std::move(head));
    bool any = false;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        if (paths[i].facts && is_iscsi(paths[i]) == iscsi) {
            table.add(row(paths[i], i));
            any = true;
        }
    }
    return any ? table.text() : "";
}

void add_nvme(Json& json, const nvme::ControllerFacts& facts) {
    json["subsystem_nqn"] = facts.subsystem_nqn;
    json["nsid"] = facts.nsid;
    json["controller_id"] = facts.controller_id;
    json["nvme_version"] = version_text(facts.version);
    json["mdts"] = or_null(facts.mdts != 0, facts.mdts);
    json["ana"] = facts.reports_state;
    json["anatt_s"] = or_null(facts.reports_state, facts.anatt_seconds);
    json["state_changes_reported"] = (facts.events & nvme::async_event::kAnaChange) != 0;
    json["in_capsule"] = facts.in_capsule;
    json["max_h2c_data"] = facts.max_h2c_data;
    json["data_alignment"] = nvme::alignment_bytes(facts.cpda);
    json["header_digest"] = facts.pdu.header_digest;
    json["data_digest"] = facts.pdu.data_digest;
    json["host_data_alignment"] = nvme::alignment_bytes(facts.pdu.hpda);
    json["max_r2t"] = facts.pdu.max_r2t;
    json["keep_alive_ms"] = or_null(facts.keep_alive_ms != 0, facts.keep_alive_ms);
    json["keep_alive_granularity_ms"] = facts.keep_alive_granularity_ms;
    json["traffic_based_keep_alive"] = facts.traffic_based_keep_alive;
    json["io_queues_allowed"] = facts.io_queues_allowed;
    json["max_queue_entries"] = facts.max_queue_entries;
    json["max_commands"] = or_null(facts.max_commands != 0, facts.max_commands);
}

void add_iscsi(Json& json, const iscsi::SessionFacts& facts) {
    const iscsi::SessionParameters& parameters = facts.parameters;
    json["target"] = facts.target;
    json["target_alias"] = or_null(!facts.target_alias.empty(), facts.target_alias);
    json["lun"] = facts.lun;
    json["portal_group"] = facts.portal_group;
    json["relative_port"] = or_null(facts.relative_port != 0, facts.relative_port);
    json["alua"] = facts.reports_state;
    json["tpgs"] = facts.tpgs;
    json["preferred"] = or_null(facts.reports_state, facts.preferred);
    json["transition_limit_s"] = or_null(facts.reports_state, facts.transition_limit / kSecond);
    json["immediate_data"] = parameters.immediate_data;
    json["unsolicited_data"] = !parameters.initial_r2t;
    json["first_burst"] = parameters.first_burst;
    json["max_burst"] = parameters.max_burst;
    json["max_send_data"] = parameters.max_send_data;
    json["max_receive_data"] = parameters.max_receive_data;
    json["max_r2t"] = parameters.max_outstanding_r2t;
    json["header_digest"] = parameters.header_digest;
    json["data_digest"] = parameters.data_digest;
    json["keep_alive_ms"] = or_null(facts.keep_alive_ms != 0, facts.keep_alive_ms);
}

} // namespace

std::string name_of(std::size_t index) {
    return fmt::format("p{}", index);
}

std::string bytes_text(std::uint64_t bytes) {
    constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < kUnits.size()) {
        value /= 1024;
        ++unit;
    }
    return fmt::format("{:.{}f} {}", value,
                       value == static_cast<double>(static_cast<std::uint64_t>(value)) ? 0 : 1, kUnits[unit]);
}

std::string peer_text(const FoundPath& path) {
    if (is_iscsi(path)) {
        return fmt::format("portal group {}, LUN {}", session(path).portal_group, session(path).lun);
    }
    return fmt::format("controller {}, NVMe {}", controller(path).controller_id,
                       version_text(controller(path).version));
}

std::string state_tables(const std::vector<FoundPath>& paths) {
    const std::string nvme = table_of(paths, false,
                                      {"path", "group", "state", "queues", "entries", "in-capsule", "MDTS",
                                       "MAXH2CDATA", "CPDA", "digests", "keep-alive"},
                                      nvme_row);
    const std::string iscsi = table_of(paths, true,
                                       {"path", "group", "state", "immediate", "unsolicited", "first burst",
                                        "max burst", "PDU data", "digests", "keep-alive"},
                                       iscsi_row);
    return nvme + (nvme.empty() || iscsi.empty() ? "" : "\n") + iscsi;
}

void add_details(nlohmann::ordered_json& json, const FoundPath& path) {
    if (is_iscsi(path)) {
        add_iscsi(json, session(path));
    } else {
        add_nvme(json, controller(path));
    }
}

} // namespace mpath::cli
