// SPDX-License-Identifier: GPL-2.0-only
#include "cli/path_report.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "cli/text_table.h"
#include "nvme/wire/identify.h"

namespace mpath::cli {
namespace {

using nvme::ControllerFacts;

const ControllerFacts& controller(const FoundPath& path) {
    return static_cast<const ControllerFacts&>(**path.facts);
}

constexpr std::size_t kColumns = 100;

/// "4 KiB", "1.5 GiB".
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

std::string version_text(std::uint32_t version) {
    const std::string text = fmt::format("{}.{}", version >> 16, (version >> 8) & 0xff);
    return (version & 0xff) == 0 ? text : fmt::format("{}.{}", text, version & 0xff);
}

std::string name_of(std::size_t index) {
    return fmt::format("p{}", index);
}

/// `text` behind `label`, continued below it where the line is full.
std::string wrapped(const std::string& label, const std::string& text) {
    const std::size_t room = kColumns - label.size();
    std::string lines;
    for (std::size_t begin = 0; begin == 0 || begin < text.size(); begin += room) {
        lines += (begin == 0 ? label : std::string(label.size(), ' ')) + text.substr(begin, room) + '\n';
    }
    return lines;
}

std::string keep_alive_text(const ControllerFacts& facts) {
    return facts.keep_alive_ms == 0 ? kAbsent : fmt::format("{} ms", facts.keep_alive_ms);
}

std::string digests_text(const ControllerFacts& facts) {
    return facts.pdu.header_digest ? facts.pdu.data_digest ? "both" : "header"
           : facts.pdu.data_digest ? "data"
                                   : "none";
}

std::string group_text(const PathFacts& facts) {
    return facts.group == 0 ? kAbsent : std::to_string(facts.group);
}

std::string state_text(const PathFacts& facts) {
    return facts.reports_state ? std::string(to_string(facts.state))
                               : fmt::format("{} (no ANA)", to_string(facts.state));
}

std::string legend(const std::vector<FoundPath>& paths) {
    std::string text;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        if (paths[i].facts) {
            const ControllerFacts& facts = controller(paths[i]);
            text += wrapped(name_of(i) + "  ", paths[i].uri);
            text += fmt::format("    {} from {}, controller {}, NVMe {}\n", facts.address,
                                facts.local_address, facts.controller_id, version_text(facts.version));
        }
    }
    return text;
}

std::string states(const std::vector<FoundPath>& paths) {
    TextTable table;
    table.add({"path", "group", "state", "queues", "entries", "in-capsule", "MDTS", "MAXH2CDATA", "CPDA",
               "digests", "keep-alive"});
    for (std::size_t i = 0; i < paths.size(); ++i) {
        if (paths[i].facts) {
            const ControllerFacts& facts = controller(paths[i]);
            table.add({name_of(i), group_text(facts), state_text(facts),
                       std::to_string(facts.io_queues_allowed), std::to_string(facts.max_queue_entries),
                       bytes_text(facts.in_capsule), facts.mdts == 0 ? kAbsent : bytes_text(facts.mdts),
                       bytes_text(facts.max_h2c_data), bytes_text(nvme::alignment_bytes(facts.cpda)),
                       digests_text(facts), keep_alive_text(facts)});
        }
    }
    return table.text();
}

std::string device_text(const std::string& names, const PathFacts& facts) {
    const DeviceLimits& limits = facts.limits;
    std::string text;
    text += fmt::format("device behind {}\n", names);
    text += fmt::format("  identity  {}\n", facts.identity.text());
    text += fmt::format("  size      {} ({} bytes) in blocks of {} bytes, {}\n", bytes_text(limits.size),
                        limits.size, limits.block_size, limits.read_only ? "write protected" : "writable");
    text += fmt::format("  I/O       at most {} a command; trim {}, flush {}\n",
                        bytes_text(limits.max_transfer), limits.can_trim ? "yes" : "no",
                        limits.can_flush ? "yes" : "not needed (no volatile write cache)");
    text += fmt::format("  made by   {}, serial {}, firmware {}\n", facts.model.model, facts.model.serial,
                        facts.model.firmware);
    return text;
}

/// Which paths to show as leading to one device: those whose description is the same line for line.
std::string devices(const std::vector<FoundPath>& paths) {
    std::vector<std::pair<std::string, std::size_t>> seen; // description, index of names
    std::vector<std::string> names;
    std::vector<const PathFacts*> first;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        if (!paths[i].facts) {
            continue;
        }
        const std::string description = device_text("", **paths[i].facts);
        const auto same = std::find_if(seen.begin(), seen.end(),
                                       [&](const auto& entry) { return entry.first == description; });
        if (same != seen.end()) {
            names[same->second] += ", " + name_of(i);
        } else {
            seen.emplace_back(description, names.size());
            names.push_back(name_of(i));
            first.push_back(paths[i].facts->get());
        }
    }
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        text += (i == 0 ? "" : "\n") + device_text(names[i], *first[i]);
    }
    return text;
}

std::string verdict(const std::vector<FoundPath>& paths) {
    const auto answered = std::count_if(paths.begin(), paths.end(),
                                        [](const FoundPath& path) { return path.facts.has_value(); });
    switch (same_device(paths)) {
    case SameDevice::one_path:
        return {};
    case SameDevice::yes:
        return fmt::format("all {} paths lead to this device\n", answered);
    case SameDevice::no:
        return "the paths lead to different devices\n";
    case SameDevice::unknown:
        return "whether the paths lead to the same device can't be told: a namespace has no UUID, NGUID or "
               "EUI64\n";
    }
    return {};
}

nlohmann::ordered_json facts_json(const ControllerFacts& facts) {
    nlohmann::ordered_json json;
    const auto or_null = [](bool known, auto value) {
        return known ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
    };
    json["address"] = facts.address;
    json["local_address"] = facts.local_address;
    json["subsystem_nqn"] = facts.subsystem_nqn;
    json["nsid"] = facts.nsid;
    json["controller_id"] = facts.controller_id;
    json["nvme_version"] = version_text(facts.version);
    json["model"] = facts.model.model;
    json["serial"] = facts.model.serial;
    json["firmware"] = facts.model.firmware;
    json["identity"] = or_null(facts.identity.kind != DeviceIdentity::Kind::none, facts.identity.text());
    json["size"] = facts.limits.size;
    json["block_size"] = facts.limits.block_size;
    json["max_transfer"] = facts.limits.max_transfer;
    json["trim"] = facts.limits.can_trim;
    json["volatile_write_cache"] = facts.limits.can_flush;
    json["write_protected"] = facts.limits.read_only;
    json["mdts"] = or_null(facts.mdts != 0, facts.mdts);
    json["ana"] = facts.reports_state;
    json["group"] = or_null(facts.group != 0, facts.group);
    json["state"] = to_string(facts.state);
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
    return json;
}

} // namespace

SameDevice same_device(const std::vector<FoundPath>& paths) {
    const PathFacts* first = nullptr;
    SameDevice result = SameDevice::one_path;
    for (const FoundPath& path : paths) {
        if (!path.facts) {
            continue;
        }
        if (first == nullptr) {
            first = path.facts->get();
            continue;
        }
        const auto none = DeviceIdentity::Kind::none;
        if (first->identity.kind == none || (*path.facts)->identity.kind == none) {
            return SameDevice::unknown;
        }
        if ((*path.facts)->identity != first->identity) {
            return SameDevice::no;
        }
        result = SameDevice::yes;
    }
    return result;
}

std::string path_table(const std::vector<FoundPath>& paths) {
    const bool any =
        std::any_of(paths.begin(), paths.end(), [](const FoundPath& path) { return path.facts.has_value(); });
    if (!any) {
        return {};
    }
    return legend(paths) + '\n' + states(paths) + '\n' + devices(paths) + verdict(paths);
}

nlohmann::ordered_json path_json(const std::vector<FoundPath>& paths) {
    nlohmann::ordered_json json;
    json["paths"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < paths.size(); ++i) {
        nlohmann::ordered_json entry;
        entry["name"] = name_of(i);
        entry["uri"] = paths[i].uri;
        entry["error"] = nullptr;
        if (!paths[i].facts) {
            entry["error"] = paths[i].facts.error().text;
        } else {
            entry.update(facts_json(controller(paths[i])));
        }
        json["paths"].push_back(std::move(entry));
    }
    const SameDevice same = same_device(paths);
    const bool known = same == SameDevice::yes || same == SameDevice::no;
    json["same_device"] =
        known ? nlohmann::ordered_json(same == SameDevice::yes) : nlohmann::ordered_json(nullptr);
    return json;
}

} // namespace mpath::cli
