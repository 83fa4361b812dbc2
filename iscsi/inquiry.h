// SPDX-License-Identifier: GPL-2.0-only
// What INQUIRY says of a logical unit. SPC-4, "INQUIRY command" and "Vital product data parameters".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "path/device.h"

namespace mpath::iscsi {

struct InquiryFacts {
    DeviceModel model;     ///< without the serial number, which is in VPD page 80h
    std::uint8_t tpgs = 0; ///< 0 no ALUA, 1 implicit, 2 explicit, 3 both
};

/// ENODEV when there is no unit behind the LUN, EMEDIUMTYPE when it is no disk, EPROTO for what is none of
/// this.
[[nodiscard]] Result<InquiryFacts> parse_inquiry(std::span<const std::byte> data);

/// The pages of VPD 00h.
[[nodiscard]] Result<std::vector<std::uint8_t>> parse_vpd_pages(std::span<const std::byte> data);

/// VPD 80h, without the blanks around it; empty for another page.
[[nodiscard]] std::string parse_unit_serial(std::span<const std::byte> data);

/// VPD 83h.
struct Identification {
    DeviceIdentity identity;                 ///< by the best designator of the unit; Kind::none without any
    std::optional<std::uint16_t> port_group; ///< target port group of the port that was asked
    std::optional<std::uint16_t> relative_port; ///< its relative target port identifier

    bool operator==(const Identification&) const = default;
};

/// The best designator is NAA 6h, then NAA 5h or 2h, EUI-64, NAA 3h, T10 vendor ID, SCSI name string: what a
/// device says of itself the same way through each of its ports, the widest name first. Its value is written
/// as Linux's wwid: "naa.6001405…", "eui.…", "t10.…". EPROTO for a page that is not 83h.
[[nodiscard]] Result<Identification> parse_identification(std::span<const std::byte> data);

} // namespace mpath::iscsi
