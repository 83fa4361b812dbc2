// SPDX-License-Identifier: GPL-2.0-only
#include "target/fault/ana_lie.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "nvme/wire/log_page.h"

namespace mpath::target {

namespace {

struct AnaLieName {
    AnaLie lie;
    std::string_view name;
    std::string_view text;
};

constexpr std::array kAnaLies = {
    AnaLieName{AnaLie::group_0, "ana-group-0", "the first group's ID is 0"},
    AnaLieName{AnaLie::group_beyond, "ana-group-beyond", "the first group's ID is above ANAGRPMAX"},
    AnaLieName{AnaLie::state_0, "ana-state-0", "the first group's state is 0h, which is reserved"},
    AnaLieName{AnaLie::state_7, "ana-state-7", "the first group's state is 7h, which is reserved"},
    AnaLieName{AnaLie::nsids_beyond, "ana-nsids-beyond", "the first group has more NSIDs than the log"},
    AnaLieName{AnaLie::groups_more, "ana-groups-more", "the header counts one group more than there are"},
    AnaLieName{AnaLie::groups_fewer, "ana-groups-fewer", "the header counts one group less than there are"},
    AnaLieName{AnaLie::count_moves, "ana-count-moves",
               "the change count moves with each part that is read (legal: the host has to begin again, but "
               "not for ever)"},
};

} // namespace

std::optional<AnaLie> find_ana_lie(std::string_view name) {
    for (const AnaLieName& known : kAnaLies) {
        if (known.name == name) {
            return known.lie;
        }
    }
    return std::nullopt;
}

std::string describe_ana_lies() {
    std::string text;
    for (const AnaLieName& known : kAnaLies) {
        text += fmt::format("  {:<18}{}\n", known.name, known.text);
    }
    return text;
}

void tell(AnaLie lie, std::vector<std::byte>& log, std::uint32_t groups) {
    nvme::AnaLogHeader header;
    nvme::AnaGroupDescriptor group;
    std::memcpy(&header, log.data(), sizeof(header));
    std::memcpy(&group, log.data() + sizeof(header), sizeof(group));
    switch (lie) {
    case AnaLie::group_0:
        group.group = 0;
        break;
    case AnaLie::group_beyond:
        group.group = groups + 1;
        break;
    case AnaLie::state_0:
        group.state = 0;
        break;
    case AnaLie::state_7:
        group.state = 7;
        break;
    case AnaLie::nsids_beyond:
        group.nsids = static_cast<std::uint32_t>(log.size() / 4 + 1);
        break;
    case AnaLie::groups_more:
        header.groups = static_cast<std::uint16_t>(header.groups + 1);
        break;
    case AnaLie::groups_fewer:
        header.groups = static_cast<std::uint16_t>(header.groups - 1);
        break;
    case AnaLie::count_moves:
        break;
    }
    std::memcpy(log.data(), &header, sizeof(header));
    std::memcpy(log.data() + sizeof(header), &group, sizeof(group));
}

} // namespace mpath::target
