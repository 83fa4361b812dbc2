// SPDX-License-Identifier: GPL-2.0-only
// Admin and Fabrics commands as submission queue entries; the queue adds command ID, flags and SGL.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "nvme/wire/command.h"
#include "nvme/wire/fabrics.h"
#include "nvme/wire/log_page.h"

namespace mpath::nvme {

inline Sqe property_get(std::uint32_t offset, PropertySize size) {
    PropertyGetCommand command;
    command.attributes = static_cast<std::uint8_t>(size);
    command.offset = offset;
    return std::bit_cast<Sqe>(command);
}

inline Sqe property_set(std::uint32_t offset, std::uint32_t value) {
    PropertySetCommand command;
    command.attributes = static_cast<std::uint8_t>(PropertySize::bytes4);
    command.offset = offset;
    command.value = value;
    return std::bit_cast<Sqe>(command);
}

inline Sqe identify(std::uint8_t cns, std::uint32_t nsid) {
    Sqe sqe;
    sqe.opcode = admin_opcode::kIdentify;
    sqe.nsid = nsid;
    sqe.cdw10 = cns;
    return sqe;
}

/// `offset` and `length`: bytes, multiples of 4. Retaining the event (RAE) leaves its repetition masked.
inline Sqe get_log_page(std::uint8_t page, std::uint64_t offset, std::size_t length, bool retain_event) {
    const auto dwords = static_cast<std::uint32_t>(length / 4 - 1);
    Sqe sqe;
    sqe.opcode = admin_opcode::kGetLogPage;
    sqe.nsid = kNsidAll;
    sqe.cdw10 = page | (retain_event ? kRetainAsyncEvent : 0) | ((dwords & 0xffff) << 16);
    sqe.cdw11 = dwords >> 16;
    sqe.cdw12 = static_cast<std::uint32_t>(offset);
    sqe.cdw13 = static_cast<std::uint32_t>(offset >> 32);
    return sqe;
}

inline Sqe set_features(std::uint8_t feature, std::uint32_t value) {
    Sqe sqe;
    sqe.opcode = admin_opcode::kSetFeatures;
    sqe.cdw10 = feature;
    sqe.cdw11 = value;
    return sqe;
}

inline Sqe async_event_request() {
    Sqe sqe;
    sqe.opcode = admin_opcode::kAsyncEventRequest;
    return sqe;
}

} // namespace mpath::nvme
