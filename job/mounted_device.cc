// SPDX-License-Identifier: GPL-2.0-only
#include "job/mounted_device.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "job/device_files.h"

namespace mpath::job {

namespace {

namespace fs = std::filesystem;

/// A line of /proc/PID/mountinfo, as proc(5) describes it.
struct Mount {
    std::string device_number; ///< "259:3"; of no block device for btrfs and the like
    std::string target;
    std::string source; ///< "/dev/nvme1n1p1"
};

std::vector<Mount> read_mounts(const fs::path& root) {
    std::vector<Mount> mounts;
    for (const char* table : {"proc/self/mountinfo", "proc/1/mountinfo"}) {
        std::ifstream file(root / table);
        for (std::string line; std::getline(file, line);) {
            std::istringstream fields(line);
            Mount mount;
            std::string skipped;
            fields >> skipped >> skipped >> mount.device_number >> skipped >> mount.target;
            while (fields >> skipped && skipped != "-") {
            }
            fields >> skipped >> mount.source;
            mounts.push_back(std::move(mount));
        }
    }
    return mounts;
}

std::vector<std::string> read_swaps(const fs::path& root) {
    std::vector<std::string> swaps;
    std::ifstream file(root / "proc/swaps");
    std::string line;
    std::getline(file, line); // heading
    while (std::getline(file, line)) {
        swaps.push_back(line.substr(0, line.find_first_of(" \t")));
    }
    return swaps;
}

/// What the kernel's users of block devices say, read once for all of them.
class KernelUsers {
public:
    explicit KernelUsers(const fs::path& root)
        : root_(root), mounts_(read_mounts(root)), swaps_(read_swaps(root)) {}

    /// Adds how the block device or partition at `directory` is used.
    void add_uses(const fs::path& directory, std::vector<std::string>& uses) const {
        const std::string name = directory.filename();
        const std::string node = "/dev/" + name;
        const std::string number = read_line(directory / "dev");
        for (const Mount& mount : mounts_) {
            if ((!number.empty() && mount.device_number == number) || mount.source == node) {
                add(uses, fmt::format("{} is mounted on {}", name, mount.target));
            }
        }
        for (const std::string& swap : swaps_) {
            if (swap == node) {
                add(uses, fmt::format("{} is swap", name));
            }
        }
        for (const fs::path& holder : entries_of(directory / "holders")) {
            add(uses, fmt::format("{} is held by {}", name, holder.filename().string()));
        }
        // A file system over several devices is mounted by the name of one of them.
        for (const fs::path& file_system : entries_of(root_ / "sys/fs/btrfs")) {
            std::error_code ignored;
            if (fs::exists(file_system / "devices" / name, ignored)) {
                add(uses, fmt::format("{} belongs to a mounted btrfs", name));
            }
        }
    }

private:
    static void add(std::vector<std::string>& uses, std::string use) {
        if (std::find(uses.begin(), uses.end(), use) == uses.end()) {
            uses.push_back(std::move(use));
        }
    }

    fs::path root_;
    std::vector<Mount> mounts_;
    std::vector<std::string> swaps_;
};

} // namespace

std::vector<LocalDevice> find_local_devices(const DeviceIdentity& identity, const fs::path& root) {
    std::vector<LocalDevice> found;
    if (identity.kind == DeviceIdentity::Kind::none) {
        return found;
    }
    const KernelUsers users(root);
    for (const fs::path& directory : entries_of(root / "sys/block")) {
        if (!has_identity(directory, identity)) {
            continue;
        }
        LocalDevice device{.name = directory.filename(), .uses = {}};
        users.add_uses(directory, device.uses);
        for (const fs::path& child : entries_of(directory)) {
            std::error_code ignored;
            if (fs::exists(child / "partition", ignored)) {
                users.add_uses(child, device.uses);
            }
        }
        found.push_back(std::move(device));
    }
    return found;
}

std::optional<std::string> describe_use(const std::vector<LocalDevice>& devices) {
    std::vector<std::string> uses;
    std::vector<std::string> names;
    for (const LocalDevice& device : devices) {
        if (!device.uses.empty()) {
            names.push_back(device.name);
            uses.insert(uses.end(), device.uses.begin(), device.uses.end());
        }
    }
    if (uses.empty()) {
        return std::nullopt;
    }
    return fmt::format("this host has the device in use as {} ({})", fmt::join(names, ", "),
                       fmt::join(uses, ", "));
}

} // namespace mpath::job
