// SPDX-License-Identifier: GPL-2.0-only
#include "cli/path_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/path_details.h"

namespace mpath::cli {
namespace {

constexpr std::size_t kColumns = 100;

/// `text` behind `label`, continued below it where the line is full.
std::string wrapped(const std::string& label, const std::string& text) {
    const std::size_t room = kColumns - label.size();
    std::string lines;
    for (std::size_t begin = 0; begin == 0 || begin < text.size(); begin += room) {
        lines += (begin == 0 ? label : std::string(label.size(), ' ')) + text.substr(begin, room) + '\n';
    }
    return lines;
}

std::string legend(const std::vector<FoundPath>& paths) {
    std::string text;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        if (paths[i].facts) {
            const PathFacts& facts = **paths[i].facts;
            text += wrapped(name_of(i) + "  ", paths[i].uri);
            text +=
                fmt::format("    {} from {}, {}\n", facts.address, facts.local_address, peer_text(paths[i]));
        }
    }
    return text;
}

std::string device_text(const std::string& names, const PathFacts& facts) {
    const DeviceLimits& limits = facts.limits;
    std::string text;
    text += fmt::format("device behind {}\n", names);
    text += fmt::format("  identity  {}\n", facts.identity.text());
    if (limits.size == 0) {
        return text + "  size      not told by a path that takes no I/O\n";
    }
    text += fmt::format("  size      {} ({} bytes) in blocks of {} bytes, {}\n", bytes_text(limits.size),
                        limits.size, limits.block_size, limits.read_only ? "write protected" : "writable");
    text += fmt::format("  I/O       at most {} a command; trim {}, flush {}\n",
                        bytes_text(limits.max_transfer), limits.can_trim ? "yes" : "no",
                        limits.can_flush ? "yes" : "not needed (no volatile write cache)");
    text += fmt::format("  made by   {}, serial {}, firmware {}\n", facts.model.model, facts.model.serial,
                        facts.model.firmware);
    return text;
}

/// Whether to show both paths as leading to one device: their description is the same line for line, or one
/// of them can't say more than which device it is.
bool alike(const PathFacts& a, const PathFacts& b) {
    const bool silent = a.limits.size == 0 || b.limits.size == 0;
    return silent && a.identity.kind != DeviceIdentity::Kind::none ? a.identity == b.identity
                                                                   : device_text("", a) == device_text("", b);
}

std::string devices(const std::vector<FoundPath>& paths) {
    struct Device {
        const PathFacts* facts;
        std::string names;
    };
    std::vector<Device> found;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        if (!paths[i].facts) {
            continue;
        }
        const PathFacts& facts = **paths[i].facts;
        const auto same = std::find_if(found.begin(), found.end(),
                                       [&](const Device& device) { return alike(*device.facts, facts); });
        if (same == found.end()) {
            found.push_back({&facts, name_of(i)});
        } else {
            same->names += ", " + name_of(i);
            same->facts = same->facts->limits.size == 0 ? &facts : same->facts;
        }
    }
    std::string text;
    for (const Device& device : found) {
        text += (text.empty() ? "" : "\n") + device_text(device.names, *device.facts);
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
        return "whether the paths lead to the same device can't be told: a device has no identity (UUID, "
               "NGUID, "
               "EUI64; VPD 83h)\n";
    }
    return {};
}

nlohmann::ordered_json facts_json(const PathFacts& facts) {
    nlohmann::ordered_json json;
    const bool sized = facts.limits.size != 0;
    json["address"] = facts.address;
    json["local_address"] = facts.local_address;
    json["model"] = facts.model.model;
    json["serial"] = facts.model.serial;
    json["firmware"] = facts.model.firmware;
    json["identity"] = or_null(facts.identity.kind != DeviceIdentity::Kind::none, facts.identity.text());
    json["size"] = or_null(sized, facts.limits.size);
    json["block_size"] = or_null(sized, facts.limits.block_size);
    json["max_transfer"] = facts.limits.max_transfer;
    json["trim"] = facts.limits.can_trim;
    json["volatile_write_cache"] = facts.limits.can_flush;
    json["write_protected"] = facts.limits.read_only;
    json["group"] = or_null(facts.reports_state, facts.group);
    json["state"] = to_string(facts.state);
    json["state_name"] = or_null(!facts.state_name.empty(), facts.state_name);
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
    return legend(paths) + '\n' + state_tables(paths) + '\n' + devices(paths) + verdict(paths);
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
            entry.update(facts_json(**paths[i].facts));
            add_details(entry, paths[i]);
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
