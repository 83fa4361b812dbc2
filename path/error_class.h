// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string_view>

namespace mpath {

/// What a completion says about the path that carried it, protocol names taken out. The table that maps
/// status to these, and these to what becomes of the I/O, is in docs/architecture.md.
enum class ErrorClass : std::uint8_t {
    none,             ///< success
    path_error,       ///< NVMe SCT 3, SC 00h/60h/70h; SCSI 5/25/00
    ana_loss,         ///< NVMe SCT 3, SC 01h
    ana_inaccessible, ///< NVMe SCT 3, SC 02h; SCSI 2/04/0B, 2/04/0C, 2/04/12
    ana_transition,   ///< NVMe SCT 3, SC 03h; SCSI 2/04/0A
    path_error_dnr,   ///< NVMe SCT 3 with Do Not Retry
    state_changed,    ///< SCSI 6/2A/06, 6/2A/07, 6/2A/01: the group's state is not what it was
    unit_attention,   ///< SCSI 6/xx: something happened at the device, of which the next command tells
    transport_error,  ///< NVMe SC 04h, 22h; SCSI key Bh: this transfer was damaged, the path is fine
    busy,             ///< NVMe SC 21h, 82h, or a retry delay (CRD); SCSI 08h, 28h: later, on the same path
    aborted,          ///< NVMe SC 07h, 08h after our own teardown; SCSI 40h
    path_down,        ///< the connection was lost before the I/O completed
    no_path,          ///< no usable path when the I/O was to be sent
    io_error,         ///< everything else: the device refused the I/O
};

std::string_view to_string(ErrorClass error);

} // namespace mpath
