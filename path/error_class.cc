// SPDX-License-Identifier: GPL-2.0-only
#include "path/error_class.h"

namespace mpath {

std::string_view to_string(ErrorClass error) {
    switch (error) {
    case ErrorClass::none:
        return "none";
    case ErrorClass::path_error:
        return "path_error";
    case ErrorClass::ana_loss:
        return "ana_loss";
    case ErrorClass::ana_inaccessible:
        return "ana_inaccessible";
    case ErrorClass::ana_transition:
        return "ana_transition";
    case ErrorClass::path_error_dnr:
        return "path_error_dnr";
    case ErrorClass::state_changed:
        return "state_changed";
    case ErrorClass::unit_attention:
        return "unit_attention";
    case ErrorClass::transport_error:
        return "transport_error";
    case ErrorClass::busy:
        return "busy";
    case ErrorClass::aborted:
        return "aborted";
    case ErrorClass::path_down:
        return "path_down";
    case ErrorClass::io_error:
        return "io_error";
    case ErrorClass::no_path:
        return "no_path";
    }
    return "unknown";
}

} // namespace mpath
