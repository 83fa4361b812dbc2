// SPDX-License-Identifier: GPL-2.0-only
// The ANA log: 4 bytes ANAGRPMAX, 4 bytes NN, then the log. Read in pieces, as a log beyond MDTS is, it must
// say the same as read at once.
#include "nvme/ana_log.h"
#include "tests/fuzz/fuzz_input.h"

using namespace mpath;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const nvme::AnaLimits limits{input.take<std::uint32_t>(), input.take<std::uint32_t>()};
    const auto bytes = input.rest();
    const auto whole = nvme::decode_ana_log(bytes, limits);

    std::size_t shown = 0;
    for (;;) {
        const auto part = nvme::decode_ana_log(bytes.first(shown), limits);
        if (!part) {
            fuzz::require(!whole, "a log refused in part is refused as a whole");
            return 0;
        }
        if (part->log) {
            fuzz::require(whole && whole->log, "a log complete in part is complete as a whole");
            fuzz::require(part->log->groups.size() == whole->log->groups.size(), "with the same groups");
            fuzz::require(part->log->change_count == whole->log->change_count, "of the same change");
            break;
        }
        fuzz::require(part->needs > shown, "an incomplete log asks for more than it has");
        if (part->needs > bytes.size()) {
            fuzz::require(!whole || !whole->log, "a log that needs more is not complete");
            break;
        }
        shown = part->needs;
    }
    if (whole && whole->log) {
        for (const nvme::AnaGroup& group : whole->log->groups) {
            fuzz::require(group.id != 0 && group.id <= limits.max_group,
                          "group numbers are within ANAGRPMAX");
        }
    }
    return 0;
}
