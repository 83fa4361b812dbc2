// SPDX-License-Identifier: GPL-2.0-only
// Which paths lead to the device that a job file calls by a local name.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "run/foreign_engine.h"

namespace mpath::run {

/// The names in the value of filename=, as fio splits it at ':' (options.c get_next_str); '\:' is a colon.
[[nodiscard]] std::vector<std::string> split_filename(std::string_view value);

/// What a name is on this host.
enum class FileKind : std::uint8_t { absent, block, character, regular, directory, other };
using KindOfFile = std::function<FileKind(const std::string& name)>;

/// Why a job on `name` would be a job on a file, as the rest of a sentence; nullptr if it is one on a device.
/// `mapped`: the user has said which paths this name stands for.
[[nodiscard]] const char* why_no_device(const std::string& name, EngineKind engine, bool mapped,
                                        const KindOfFile& kind_of);

/// A name for our engine's filename=: of no block device here, which fio might find mounted.
[[nodiscard]] std::string label_of(std::string_view name);

struct DeviceName {
    std::string raw;  ///< as in the job file
    std::string name; ///< expanded, without escapes
    bool needs_paths = true;

    bool operator==(const DeviceName&) const = default;
};

class DeviceMap {
public:
    /// `maps` are FILENAME=PATHS. `paths` stands for the one device that they leave; with several left, or
    /// none to leave them to, that is an error.
    static Result<DeviceMap> create(const std::optional<std::string>& paths,
                                    std::span<const std::string> maps, std::span<const DeviceName> devices);

    /// What --map says of this name; nullptr when it says nothing.
    [[nodiscard]] const std::string* mapped(const std::string& name) const;

private:
    std::map<std::string, std::string> paths_of_;
};

} // namespace mpath::run
