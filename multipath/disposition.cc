// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/disposition.h"

namespace mpath::multipath {

Disposition disposition(ErrorClass error, const RetryRules& rules) noexcept {
    if (is_path_related(error)) {
        return Disposition::requeue;
    }
    switch (error) {
    case ErrorClass::path_error_dnr:
        return rules.dnr_fails_over ? Disposition::requeue : Disposition::finish;
    case ErrorClass::state_changed:
    case ErrorClass::unit_attention:
    case ErrorClass::transport_error:
    case ErrorClass::busy:
        return Disposition::retry;
    default:
        return Disposition::finish;
    }
}

} // namespace mpath::multipath
