// SPDX-License-Identifier: GPL-2.0-only
// How sysfs shows the identity of a block device.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "path/device.h"

namespace mpath::job {

/// The first line of a file without its end; empty when there is none.
[[nodiscard]] std::string read_line(const std::filesystem::path& file);

/// What is in a directory, sorted; empty when it can't be read.
[[nodiscard]] std::vector<std::filesystem::path> entries_of(const std::filesystem::path& directory);

/// Whether the block device at `directory`, which is /sys/block/NAME, is the one of that identity. NVMe: the
/// attributes uuid, nguid, eui and wwid; SCSI: device/wwid, and the best designator of device/vpd_pg83.
[[nodiscard]] bool has_identity(const std::filesystem::path& directory, const DeviceIdentity& identity);

} // namespace mpath::job
