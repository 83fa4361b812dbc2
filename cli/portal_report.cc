// SPDX-License-Identifier: GPL-2.0-only
#include "cli/portal_report.h"

#include <fmt/format.h>

#include "cli/text_table.h"
#include "iscsi/uri.h"

namespace mpath::cli {
namespace {

/// Paths to a LUN through all portals of the target, ready to stand behind `paths=` in a job file.
std::string paths_text(const iscsi::DiscoveredTarget& target, std::uint64_t lun) {
    std::string text;
    for (const iscsi::Portal& portal : target.portals) {
        const iscsi::Uri uri{"", portal.host, portal.port, target.name, lun};
        text += (text.empty() ? "" : ",") + uri.text();
    }
    return text;
}

/// The LUNs to write paths for.
std::vector<std::uint64_t> luns_of(const FoundTarget& found) {
    return found.luns.value_or(std::vector<std::uint64_t>{0});
}

std::string portals_text(const iscsi::DiscoveredTarget& target) {
    TextTable table;
    table.add({"portal", "portal group"});
    for (const iscsi::Portal& portal : target.portals) {
        table.add({portal.address(), portal.tag ? std::to_string(*portal.tag) : kAbsent});
    }
    return table.text("  ");
}

std::string luns_text(const FoundTarget& found) {
    std::string text;
    if (!found.luns) {
        text += fmt::format("  LUNs not known: {}\n", found.luns.error().text);
    } else if (found.luns->empty()) {
        text += "  it shows this host no LUN\n";
    }
    for (const std::uint64_t lun : luns_of(found)) {
        text += fmt::format("paths={}\n", paths_text(found.target, lun));
    }
    return text;
}

} // namespace

std::string portal_table(const std::string& address, const std::vector<FoundTarget>& targets) {
    std::string text = fmt::format("SendTargets at {}\n", address);
    if (targets.empty()) {
        text += "no target is offered to this host\n";
    }
    for (const FoundTarget& found : targets) {
        text +=
            fmt::format("\ntarget {}\n{}{}", found.target.name, portals_text(found.target), luns_text(found));
    }
    return text;
}

nlohmann::ordered_json portal_json(const std::string& address, const std::vector<FoundTarget>& targets) {
    using Json = nlohmann::ordered_json;
    Json json;
    json["discovery"] = Json::array({address});
    json["targets"] = Json::array();
    for (const FoundTarget& found : targets) {
        Json one;
        one["target"] = found.target.name;
        one["portals"] = Json::array();
        for (const iscsi::Portal& portal : found.target.portals) {
            one["portals"].push_back(
                {{"portal", portal.address()}, {"portal_group", portal.tag ? Json(*portal.tag) : Json()}});
        }
        one["luns"] = found.luns ? Json(*found.luns) : Json();
        one["paths"] = Json::object();
        for (const std::uint64_t lun : luns_of(found)) {
            one["paths"][std::to_string(lun)] = paths_text(found.target, lun);
        }
        json["targets"].push_back(std::move(one));
    }
    json["warnings"] = Json::array();
    return json;
}

} // namespace mpath::cli
