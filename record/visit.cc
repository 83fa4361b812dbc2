// SPDX-License-Identifier: GPL-2.0-only
#include "record/visit.h"

namespace mpath::record {

std::string_view to_string(VisitCause cause) {
    switch (cause) {
    case VisitCause::start:
        return "start";
    case VisitCause::schedule:
        return "schedule";
    case VisitCause::command:
        return "command";
    }
    return "unknown";
}

std::optional<VisitCause> visit_cause_from(std::string_view text) {
    for (const VisitCause cause : kVisitCauses) {
        if (to_string(cause) == text) {
            return cause;
        }
    }
    return std::nullopt;
}

} // namespace mpath::record
