// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <sys/mount.h>

#include <string>
#include <utility>

namespace mpath::live {

/// A file system of one megabyte over a directory, as a full /dev/shm.
class SmallFileSystem {
public:
    explicit SmallFileSystem(std::string where)
        : where_(std::move(where)), mounted_(::mount("none", where_.c_str(), "tmpfs", 0, "size=1m") == 0) {}
    SmallFileSystem(const SmallFileSystem&) = delete;
    SmallFileSystem& operator=(const SmallFileSystem&) = delete;
    ~SmallFileSystem() {
        if (mounted_) {
            ::umount2(where_.c_str(), MNT_DETACH);
        }
    }
    [[nodiscard]] bool mounted() const { return mounted_; }

private:
    std::string where_;
    bool mounted_;
};

} // namespace mpath::live
