// SPDX-License-Identifier: GPL-2.0-only
#include "target/access_state.h"

#include <array>

namespace mpath::target {

namespace {

using iscsi::AluaState;
using nvme::AnaState;

struct StateName {
    std::string_view name;
    AnaState ana;
    AluaState alua;
    bool of_nvme;
    bool of_scsi;
};

// The first that has an ANA state is the one it stands for.
constexpr std::array kStateNames = {
    StateName{"optimized", AnaState::optimized, AluaState::active_optimized, true, true},
    StateName{"non-optimized", AnaState::non_optimized, AluaState::active_non_optimized, true, true},
    StateName{"inaccessible", AnaState::inaccessible, AluaState::unavailable, true, false},
    StateName{"persistent-loss", AnaState::persistent_loss, AluaState::offline, true, false},
    StateName{"change", AnaState::change, AluaState::transitioning, true, false},
    StateName{"standby", AnaState::inaccessible, AluaState::standby, false, true},
    StateName{"unavailable", AnaState::inaccessible, AluaState::unavailable, false, true},
    StateName{"offline", AnaState::persistent_loss, AluaState::offline, false, true},
    StateName{"transitioning", AnaState::change, AluaState::transitioning, false, true},
};

const StateName* find_state(std::string_view text) {
    for (const StateName& known : kStateNames) {
        if (known.name == text) {
            return &known;
        }
    }
    return nullptr;
}

AluaState alua_of(AnaState state) {
    for (const StateName& known : kStateNames) {
        if (known.ana == state) {
            return known.alua;
        }
    }
    return AluaState::unavailable;
}

} // namespace

AccessState::AccessState(nvme::AnaState state) : ana(state), alua(alua_of(state)) {}

Result<AccessState> parse_ana(std::string_view text) {
    if (const StateName* known = find_state(text)) {
        return AccessState(known->ana, known->alua);
    }
    return failure(
        EINVAL,
        "'{}' is not an ANA state, there are optimized, non-optimized, inaccessible, "
        "persistent-loss and change, and for iSCSI standby, unavailable, offline and transitioning",
        text);
}

bool is_ana_word(std::string_view text) {
    const StateName* known = find_state(text);
    return known != nullptr && known->of_nvme;
}

std::string_view to_string(nvme::AnaState state) {
    return to_string(AccessState(state), Protocol::nvme_tcp);
}

std::string_view to_string(const AccessState& state, Protocol protocol) {
    for (const StateName& known : kStateNames) {
        if (protocol == Protocol::iscsi ? known.of_scsi && known.alua == state.alua
                                        : known.of_nvme && known.ana == state.ana) {
            return known.name;
        }
    }
    return "unknown";
}

} // namespace mpath::target
