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

} // namespace mpath::record
