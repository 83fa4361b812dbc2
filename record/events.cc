// SPDX-License-Identifier: GPL-2.0-only
#include "record/events.h"

namespace mpath::record {

std::string_view to_string(EventKind kind) {
    switch (kind) {
    case EventKind::connected:
        return "connected";
    case EventKind::lost:
        return "lost";
    case EventKind::state:
        return "state";
    case EventKind::refused:
        return "refused";
    case EventKind::failing:
        return "failing";
    case EventKind::given_up:
        return "given_up";
    case EventKind::namespace_changed:
        return "namespace_changed";
    }
    return "unknown";
}

} // namespace mpath::record
