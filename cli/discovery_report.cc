// SPDX-License-Identifier: GPL-2.0-only
#include "cli/discovery_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/text_table.h"
#include "nvme/uri.h"

namespace mpath::cli {
namespace {

using nvme::DiscoveryEntry;

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : ", ") + word;
    }
    return text;
}

std::string security_text(const DiscoveryEntry& entry) {
    return entry.requires_tls() ? "requires TLS" : "none";
}

std::string ports_text(const FoundSubsystem& subsystem) {
    TextTable table;
    table.add({"port", "transport", "address", "port ID", "security", "told by"});
    for (const nvme::DiscoveredPort& port : subsystem.ports) {
        const DiscoveryEntry& entry = port.entry;
        table.add({entry.text(), nvme::transport_name(entry.transport), nvme::family_name(entry.family),
                   std::to_string(entry.port_id), security_text(entry), port.told_by});
    }
    std::string text = table.text("  ");
    for (const nvme::DiscoveredPort& port : subsystem.ports) {
        if (const std::string obstacle = port.entry.obstacle(); !obstacle.empty()) {
            text += fmt::format("  not used: {} {}\n", port.entry.text(), obstacle);
        }
    }
    return text;
}

/// The namespaces to write paths for.
std::vector<std::uint32_t> nsids_of(const FoundSubsystem& subsystem) {
    return subsystem.nsids.value_or(std::vector<std::uint32_t>{1});
}

std::string namespaces_text(const FoundSubsystem& subsystem) {
    std::string text;
    if (!subsystem.nsids) {
        text += fmt::format("  namespaces not known: {}\n", subsystem.nsids.error().text);
    } else if (subsystem.nsids->empty()) {
        text += "  it shows this host no namespace\n";
    }
    for (const std::uint32_t nsid : nsids_of(subsystem)) {
        if (const std::string paths = paths_text(subsystem, nsid); !paths.empty()) {
            text += fmt::format("paths={}\n", paths);
        }
    }
    return text;
}

nlohmann::ordered_json port_json(const nvme::DiscoveredPort& port) {
    const DiscoveryEntry& entry = port.entry;
    const std::string obstacle = entry.obstacle();
    nlohmann::ordered_json json;
    json["port"] = entry.text();
    json["traddr"] = entry.address;
    json["trsvcid"] = entry.service;
    json["transport"] = nvme::transport_name(entry.transport);
    json["address_family"] = nvme::family_name(entry.family);
    json["port_id"] = entry.port_id;
    json["requires_tls"] = entry.requires_tls();
    json["usable"] = obstacle.empty();
    json["obstacle"] = obstacle.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(obstacle);
    json["told_by"] = port.told_by;
    return json;
}

} // namespace

std::vector<FoundSubsystem> by_subsystem(const nvme::Discovery& found) {
    std::vector<FoundSubsystem> subsystems;
    for (const nvme::DiscoveredPort& port : found.ports) {
        const auto known =
            std::find_if(subsystems.begin(), subsystems.end(),
                         [&](const FoundSubsystem& subsystem) { return subsystem.nqn == port.entry.subnqn; });
        if (known != subsystems.end()) {
            known->ports.push_back(port);
        } else {
            subsystems.push_back({port.entry.subnqn, {port}, failure(EINPROGRESS, "not asked yet")});
        }
    }
    return subsystems;
}

std::string paths_text(const FoundSubsystem& subsystem, std::uint32_t nsid) {
    std::string text;
    for (const nvme::DiscoveredPort& port : subsystem.ports) {
        if (port.entry.obstacle().empty()) {
            const nvme::Uri uri{port.entry.address, port.entry.port(), subsystem.nqn, nsid};
            text += (text.empty() ? "" : ",") + uri.text();
        }
    }
    return text;
}

std::string discovery_table(const nvme::Discovery& found, const std::vector<FoundSubsystem>& subsystems) {
    std::string text = fmt::format("discovery at {}\n", joined(found.services));
    if (subsystems.empty()) {
        text += "no subsystem is offered to this host\n";
    }
    for (const FoundSubsystem& subsystem : subsystems) {
        text += fmt::format("\nsubsystem {}\n{}{}", subsystem.nqn, ports_text(subsystem),
                            namespaces_text(subsystem));
    }
    return text;
}

nlohmann::ordered_json discovery_json(const nvme::Discovery& found,
                                      const std::vector<FoundSubsystem>& subsystems) {
    nlohmann::ordered_json json;
    json["discovery"] = found.services;
    json["subsystems"] = nlohmann::ordered_json::array();
    for (const FoundSubsystem& subsystem : subsystems) {
        nlohmann::ordered_json one;
        one["nqn"] = subsystem.nqn;
        one["ports"] = nlohmann::ordered_json::array();
        for (const nvme::DiscoveredPort& port : subsystem.ports) {
            one["ports"].push_back(port_json(port));
        }
        one["namespaces"] =
            subsystem.nsids ? nlohmann::ordered_json(*subsystem.nsids) : nlohmann::ordered_json();
        one["paths"] = nlohmann::ordered_json::object();
        for (const std::uint32_t nsid : nsids_of(subsystem)) {
            one["paths"][std::to_string(nsid)] = paths_text(subsystem, nsid);
        }
        json["subsystems"].push_back(std::move(one));
    }
    json["warnings"] = found.warnings;
    return json;
}

} // namespace mpath::cli
