// SPDX-License-Identifier: GPL-2.0-only
// What becomes of an I/O whose attempt failed.
#pragma once

#include <cstdint>

#include "path/error_class.h"

namespace mpath::multipath {

enum class Disposition : std::uint8_t {
    finish,  ///< fio gets the error
    requeue, ///< another path may do it; costs nothing of the budget
    retry,   ///< the same path may do it, a little later; counted
};

struct RetryRules {
    std::uint16_t max_retries = 5; ///< on the same path: the kernel's nvme_max_retries
    /// An error of the path with Do Not Retry goes to another path; the kernel fails it.
    bool dnr_fails_over = false;
    /// Pauses an I/O makes when every usable path has refused it in turn, before it fails. The kernel goes on
    /// without end and without pause.
    std::uint16_t max_pauses = 16;
};

/// The kernel's nvme_decide_disposition(), but for transport errors and `dnr_fails_over`; unit attentions,
/// which are told once, as SCSI's scsi_check_sense() has it.
[[nodiscard]] Disposition disposition(ErrorClass error, const RetryRules& rules) noexcept;

/// Whether the error says that the path, or its connection, is what failed.
[[nodiscard]] constexpr bool is_path_related(ErrorClass error) noexcept {
    switch (error) {
    case ErrorClass::path_error:
    case ErrorClass::ana_loss:
    case ErrorClass::ana_inaccessible:
    case ErrorClass::ana_transition:
    case ErrorClass::aborted:
    case ErrorClass::path_down:
        return true;
    default:
        return false;
    }
}

} // namespace mpath::multipath
