// SPDX-License-Identifier: GPL-2.0-only
// REPORT TARGET PORT GROUPS: a byte whose lowest bit says how it was asked for, then the answer.
#include "iscsi/port_groups.h"
#include "tests/fuzz/fuzz_input.h"

using namespace mpath;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const bool extended = (input.take<std::uint8_t>() & 1) != 0;
    const auto found = iscsi::parse_port_groups(input.rest(), extended);
    if (!found) {
        fuzz::require(!found.error().text.empty(), "a refusal has a sentence");
        return 0;
    }
    fuzz::require(!found->groups.empty(), "an answer has a group");
    fuzz::require(extended || found->transition_time == 0, "only an extended answer has a time");
    std::size_t bytes = sizeof(Be32);
    for (const iscsi::ReportedGroup& group : found->groups) {
        bytes += sizeof(iscsi::PortGroup) + group.ports.size() * sizeof(iscsi::PortDescriptor);
        const bool same_word =
            is_usable(iscsi::path_state(group.state)) && group.state != iscsi::AluaState::lba_dependent;
        fuzz::require(iscsi::own_name(group.state).empty() == same_word, "other states have their own word");
    }
    fuzz::require(bytes <= input.rest().size(), "no group comes out of nothing");
    return 0;
}
