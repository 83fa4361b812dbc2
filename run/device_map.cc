// SPDX-License-Identifier: GPL-2.0-only
#include "run/device_map.h"

#include <algorithm>

namespace mpath::run {
namespace {

constexpr std::string_view kDev = "/dev/";

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
    return std::any_of(starts.begin(), starts.end(),
                       [&](std::string_view start) { return text.starts_with(start); });
}

std::string names_of(std::span<const DeviceName> devices) {
    std::string text;
    for (const DeviceName& device : devices) {
        text += (text.empty() ? "" : ", ") + device.raw;
    }
    return text.empty() ? "none" : text;
}

/// The device whose name, as in the file or expanded, stands before '='; the longest such name, since names
/// may hold '=' themselves.
const DeviceName* device_of(std::string_view map, std::span<const DeviceName> devices, std::size_t& length) {
    const DeviceName* found = nullptr;
    length = 0;
    for (const DeviceName& device : devices) {
        for (const std::string& name : {device.raw, device.name}) {
            if (!name.empty() && name.size() > length && map.starts_with(name + "=")) {
                found = &device;
                length = name.size();
            }
        }
    }
    return found;
}

} // namespace

std::vector<std::string> split_filename(std::string_view value) {
    std::vector<std::string> names(1);
    for (std::size_t i = 0; i < value.size(); ++i) {
        std::string& name = names.back();
        if (value[i] != ':' || name.empty()) {
            name += value[i]; // a leading colon separates nothing
        } else if (name.back() == '\\') {
            name.back() = ':';
        } else {
            names.emplace_back();
        }
    }
    // fio stops at the first empty name.
    names.erase(std::find(names.begin(), names.end(), ""), names.end());
    return names;
}

const char* why_no_device(const std::string& name, EngineKind engine, bool mapped,
                          const KindOfFile& kind_of) {
    const bool in_dev = name.starts_with(kDev) &&
                        !starts_with_any(name, {"/dev/shm/", "/dev/hugepages/", "/dev/mqueue/", "/dev/fd/"});
    if (engine == EngineKind::addressed) {
        return nullptr;
    }
    switch (kind_of(name)) {
    case FileKind::block:
        return nullptr;
    case FileKind::character:
        return starts_with_any(name, {"/dev/sg", "/dev/ng", "/dev/bsg/"}) ? nullptr : "which is no disk";
    case FileKind::regular:
        return "a file";
    case FileKind::directory:
        return "a directory";
    case FileKind::other:
        return "which is no block device";
    case FileKind::absent:
        break;
    }
    return in_dev || mapped ? nullptr : "which would be a file; if it stands for a device, say so with --map";
}

std::string label_of(std::string_view name) {
    std::string label;
    for (const char c : name.starts_with(kDev) ? name.substr(kDev.size()) : name) {
        label += c == ':' ? "\\:" : std::string(1, c);
    }
    return label;
}

Result<DeviceMap> DeviceMap::create(const std::optional<std::string>& paths,
                                    std::span<const std::string> maps, std::span<const DeviceName> devices) {
    DeviceMap result;
    for (const std::string& map : maps) {
        std::size_t length = 0;
        const DeviceName* device = device_of(map, devices, length);
        if (device == nullptr) {
            return failure(EINVAL, "--map {} is about no filename= of the job file; it has {}", map,
                           names_of(devices));
        }
        if (!result.paths_of_.emplace(device->name, map.substr(length + 1)).second) {
            return failure(EINVAL, "--map {}: there are two for {}", map, device->raw);
        }
    }
    std::vector<DeviceName> rest;
    std::copy_if(devices.begin(), devices.end(), std::back_inserter(rest), [&](const DeviceName& device) {
        return device.needs_paths && result.mapped(device.name) == nullptr;
    });
    if (!rest.empty() && !paths) {
        return failure(EINVAL, "no paths for {}; give them with --paths, or --map {}=PATHS", names_of(rest),
                       rest.front().raw);
    }
    if (rest.size() > 1) {
        return failure(EINVAL,
                       "the job file works on several devices ({}), and --paths leads to one: give each its "
                       "own with --map {}=PATHS",
                       names_of(rest), rest.front().raw);
    }
    return result;
}

const std::string* DeviceMap::mapped(const std::string& name) const {
    const auto found = paths_of_.find(name);
    return found == paths_of_.end() ? nullptr : &found->second;
}

} // namespace mpath::run
