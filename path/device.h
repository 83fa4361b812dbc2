// SPDX-License-Identifier: GPL-2.0-only
// What a path leads to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mpath {

/// Which device this is, whatever path shows it. Strongest first, as the kernel prefers them:
/// UUID, then NGUID, then EUI64 (NVMe); VPD 83h designator (SCSI). Never the NSID or LUN number.
struct DeviceIdentity {
    enum class Kind : std::uint8_t { none, eui64, nguid, uuid, vpd83 };
    Kind kind = Kind::none;
    /// A UUID with dashes; hexadecimal digits; of VPD 83h what Linux calls its wwid, "naa.6001405…". All
    /// digits in lower case.
    std::string value;

    bool operator==(const DeviceIdentity&) const = default;
    /// "uuid 1b4e…", or "none".
    [[nodiscard]] std::string text() const;
};

/// What I/O to the device must respect.
struct DeviceLimits {
    std::uint64_t size = 0;         ///< bytes
    std::uint32_t block_size = 0;   ///< bytes of one LBA, a power of two
    std::uint32_t max_transfer = 0; ///< bytes of one command (MDTS); 0 = no limit
    std::uint64_t boundary = 0;     ///< bytes: no read or write should cross a multiple (NOIOB); 0 = none
    bool can_trim = false;          ///< Dataset Management / UNMAP
    std::uint64_t max_trim = 0;     ///< bytes of one trim command (DMRSL); 0 = no limit said
    bool can_write_zeroes = false;
    std::uint64_t max_write_zeroes = 0; ///< bytes of one Write Zeroes command (WZSL); 0 = no limit said
    bool can_flush =
        false; ///< has a volatile write cache; without one a Flush does nothing, and is sent all the same
    bool read_only = false; ///< write protected

    bool operator==(const DeviceLimits&) const = default;
};

/// Who made it; for the record.
struct DeviceModel {
    std::string model;
    std::string serial;
    std::string firmware;
};

} // namespace mpath
