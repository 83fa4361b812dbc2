// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string_view>

namespace mpath {

/// What a completion says about the path that carried it, protocol names taken out. The table that maps
/// NVMe status to these, and these to what becomes of the I/O, is in docs/architecture.md.
enum class ErrorClass : std::uint8_t {
    none,             ///< success
    path_error,       ///< NVMe SCT 3, SC 00h/60h/70h
    ana_loss,         ///< NVMe SCT 3, SC 01h
    ana_inaccessible, ///< NVMe SCT 3, SC 02h
    ana_transition,   ///< NVMe SCT 3, SC 03h
    path_error_dnr,   ///< NVMe SCT 3 with Do Not Retry
    transport_error,  ///< NVMe SC 04h, 22h: this transfer was damaged, the path is fine
    busy,             ///< NVMe SC 21h, 82h, or a retry delay (CRD): later, on the same path
    aborted,          ///< NVMe SC 07h, 08h after our own teardown
    path_down,        ///< the connection was lost before the I/O completed
    no_path,          ///< no usable path when the I/O was to be sent
    io_error,         ///< everything else: the device refused the I/O
};

std::string_view to_string(ErrorClass error);

} // namespace mpath
