// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace mpath::live {

/// A directory in memory for one test, gone with it.
class TemporaryDirectory {
public:
    TemporaryDirectory() {
        std::string pattern = "/dev/shm/fio-mpath-test.XXXXXX";
        path_ = ::mkdtemp(pattern.data());
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    ~TemporaryDirectory() { std::filesystem::remove_all(path_); }

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::set<std::string> files() const {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(path_)) {
            names.insert(entry.path().filename().string());
        }
        return names;
    }
    void touch(const std::string& name) const { std::ofstream(path_ + "/" + name) << "x"; }

private:
    std::string path_;
};

} // namespace mpath::live
