// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/ana_log.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "nvme/wire/log_page.h"

namespace mpath::nvme {
namespace {

std::optional<PathState> path_state(std::uint8_t descriptor_state) {
    switch (static_cast<AnaState>(descriptor_state & 0x0f)) {
    case AnaState::optimized:
        return PathState::optimized;
    case AnaState::non_optimized:
        return PathState::non_optimized;
    case AnaState::inaccessible:
        return PathState::inaccessible;
    case AnaState::persistent_loss:
        return PathState::persistent_loss;
    case AnaState::change:
        return PathState::change;
    }
    return std::nullopt;
}

Result<AnaGroup> check_descriptor(const AnaGroupDescriptor& descriptor, std::size_t offset,
                                  const AnaLimits& limits) {
    if (descriptor.group == 0 || descriptor.group > limits.max_group) {
        return failure(EPROTO, "the descriptor at byte {} has group {}, the controller has groups 1 to {}",
                       offset, descriptor.group.get(), limits.max_group);
    }
    const std::optional<PathState> state = path_state(descriptor.state);
    if (!state) {
        return failure(EPROTO, "group {} has state {:X}h, which does not exist", descriptor.group.get(),
                       descriptor.state & 0x0f);
    }
    if (descriptor.nsids > limits.max_namespaces) {
        return failure(EPROTO, "group {} has {} namespaces, the controller {} at most",
                       descriptor.group.get(), descriptor.nsids.get(), limits.max_namespaces);
    }
    AnaGroup group;
    group.id = descriptor.group;
    group.state = *state;
    group.change_count = descriptor.change_count;
    return group;
}

} // namespace

const AnaGroup* AnaLog::group_of(std::uint32_t nsid, std::uint32_t identified_group) const {
    const auto listing = std::find_if(groups.begin(), groups.end(), [nsid](const AnaGroup& group) {
        return std::find(group.nsids.begin(), group.nsids.end(), nsid) != group.nsids.end();
    });
    if (listing != groups.end()) {
        return &*listing;
    }
    const auto named = std::find_if(groups.begin(), groups.end(), [identified_group](const AnaGroup& group) {
        return group.id == identified_group;
    });
    return named != groups.end() ? &*named : nullptr;
}

Result<AnaLogPart> decode_ana_log(std::span<const std::byte> bytes, const AnaLimits& limits) {
    AnaLogPart part;
    AnaLogHeader header;
    if (bytes.size() < sizeof header) {
        part.needs = sizeof header;
        return part;
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    AnaLog log;
    log.change_count = header.change_count;
    std::unordered_set<std::uint32_t> seen;
    std::size_t offset = sizeof header;
    for (unsigned i = 0; i < header.groups; ++i) {
        AnaGroupDescriptor descriptor;
        if (bytes.size() - offset < sizeof descriptor) {
            part.needs = offset + sizeof descriptor;
            return part;
        }
        std::memcpy(&descriptor, bytes.data() + offset, sizeof descriptor);
        Result<AnaGroup> group = check_descriptor(descriptor, offset, limits);
        if (!group) {
            return tl::unexpected<Error>(std::move(group.error()));
        }
        if (!seen.insert(group->id).second) {
            return failure(EPROTO, "group {} is there twice", group->id);
        }
        offset += sizeof descriptor;
        const std::size_t list = std::size_t{descriptor.nsids} * sizeof(Le32);
        if (bytes.size() - offset < list) {
            part.needs = offset + list;
            return part;
        }
        for (std::size_t n = 0; n < descriptor.nsids; ++n) {
            Le32 nsid;
            std::memcpy(&nsid, bytes.data() + offset + n * sizeof nsid, sizeof nsid);
            group->nsids.push_back(nsid);
        }
        offset += list;
        log.groups.push_back(std::move(*group));
    }
    part.log = std::move(log);
    return part;
}

} // namespace mpath::nvme
