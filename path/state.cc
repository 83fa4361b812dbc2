// SPDX-License-Identifier: GPL-2.0-only
#include "path/state.h"

namespace mpath {

std::string_view to_string(PathState state) {
    switch (state) {
    case PathState::optimized:
        return "optimized";
    case PathState::non_optimized:
        return "non-optimized";
    case PathState::inaccessible:
        return "inaccessible";
    case PathState::persistent_loss:
        return "persistent-loss";
    case PathState::change:
        return "change";
    }
    return "unknown";
}

} // namespace mpath
