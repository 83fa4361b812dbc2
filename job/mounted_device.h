// SPDX-License-Identifier: GPL-2.0-only
// Whether this host's kernel has a device as a block device of its own and uses it: writing to it behind the
// kernel's back would corrupt what is on it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "path/device.h"

namespace mpath::job {

/// A block device of this host that is the device, too.
struct LocalDevice {
    std::string name;              ///< "nvme1n1"
    std::vector<std::string> uses; ///< "nvme1n1p1 is mounted on /data"; empty: not in use
};

/// Every block device under `root`/sys/block with that identity. Reads what the kernel publishes: block, the
/// mount tables of this process and of process 1 (where readable), swaps, btrfs. What it can't read counts as
/// unused; with DeviceIdentity::Kind::none nothing is found.
[[nodiscard]] std::vector<LocalDevice> find_local_devices(const DeviceIdentity& identity,
                                                          const std::filesystem::path& root = "/");

/// One sentence that begins with "this host", when any of `devices` is in use.
[[nodiscard]] std::optional<std::string> describe_use(const std::vector<LocalDevice>& devices);

} // namespace mpath::job
