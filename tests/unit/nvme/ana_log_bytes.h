// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "nvme/wire/log_page.h"

namespace mpath::nvme::test {

/// A group descriptor, right or wrong.
struct RawGroup {
    std::uint32_t id;
    std::uint8_t state;
    std::vector<std::uint32_t> nsids;
};

/// An ANA log as it is on the wire.
inline std::vector<std::byte> ana_log_bytes(std::uint64_t change_count, const std::vector<RawGroup>& groups) {
    std::vector<std::byte> bytes;
    const auto append = [&bytes](const auto& value) {
        const auto* begin = reinterpret_cast<const std::byte*>(&value);
        bytes.insert(bytes.end(), begin, begin + sizeof value);
    };
    AnaLogHeader header;
    header.change_count = change_count;
    header.groups = static_cast<std::uint16_t>(groups.size());
    append(header);
    for (const RawGroup& group : groups) {
        AnaGroupDescriptor descriptor;
        descriptor.group = group.id;
        descriptor.nsids = static_cast<std::uint32_t>(group.nsids.size());
        descriptor.change_count = change_count;
        descriptor.state = group.state;
        append(descriptor);
        for (const std::uint32_t nsid : group.nsids) {
            append(Le32(nsid));
        }
    }
    return bytes;
}

} // namespace mpath::nvme::test
