// SPDX-License-Identifier: GPL-2.0-only
// Controller properties, which Property Get and Set reach. NVM Express Base Specification, "Controller
// Properties".
#pragma once

#include <cstdint>

namespace mpath::nvme {

namespace property {
inline constexpr std::uint32_t kCap = 0x00;  ///< 8 bytes
inline constexpr std::uint32_t kVs = 0x08;   ///< 4 bytes
inline constexpr std::uint32_t kCc = 0x14;   ///< 4 bytes
inline constexpr std::uint32_t kCsts = 0x1c; ///< 4 bytes
inline constexpr std::uint32_t kNssr = 0x20; ///< 4 bytes
} // namespace property

/// Controller Capabilities.
struct Capabilities {
    std::uint64_t value = 0;

    static constexpr std::uint64_t kCqr = 1ULL << 16;          ///< contiguous queues required
    static constexpr std::uint64_t kCssNvm = 1ULL << 37;       ///< NVM command set supported
    static constexpr std::uint64_t kCssAdminOnly = 1ULL << 44; ///< no I/O command set supported

    /// Entries of the largest queue, 0's based.
    [[nodiscard]] constexpr std::uint16_t mqes() const { return static_cast<std::uint16_t>(value & 0xffff); }
    /// How long CSTS.RDY may take to follow CC.EN: units of 500 ms.
    [[nodiscard]] constexpr std::uint8_t to() const { return static_cast<std::uint8_t>(value >> 24); }
    [[nodiscard]] constexpr bool css_nvm() const { return (value & kCssNvm) != 0; }
    [[nodiscard]] constexpr bool css_admin_only() const { return (value & kCssAdminOnly) != 0; }
    /// Bytes of the smallest memory page, the unit of MDTS.
    [[nodiscard]] constexpr std::uint64_t min_page_size() const {
        return 1ULL << (12 + ((value >> 48) & 0xf));
    }
};

/// Controller Configuration.
namespace cc {
inline constexpr std::uint32_t kEnable = 1U << 0;
inline constexpr std::uint32_t kCssMask = 7U << 4; ///< 0: NVM command set
inline constexpr std::uint32_t kCssAdminOnly = 7U << 4;
inline constexpr std::uint32_t kMpsMask = 0xfU << 7; ///< log2 of the page size - 12
inline constexpr std::uint32_t kShutdownMask = 3U << 14;
inline constexpr std::uint32_t kShutdownNormal = 1U << 14;
inline constexpr std::uint32_t kShutdownAbrupt = 2U << 14;
inline constexpr std::uint32_t kIosqes64 = 6U << 16; ///< log2 of the size of an I/O submission queue entry
inline constexpr std::uint32_t kIosqesMask = 0xfU << 16;
inline constexpr std::uint32_t kIocqes16 = 4U << 20; ///< log2 of the size of an I/O completion queue entry
inline constexpr std::uint32_t kIocqesMask = 0xfU << 20;
} // namespace cc

/// Controller Status.
namespace csts {
inline constexpr std::uint32_t kReady = 1U << 0;
inline constexpr std::uint32_t kFatal = 1U << 1; ///< CFS
inline constexpr std::uint32_t kShutdownMask = 3U << 2;
inline constexpr std::uint32_t kShutdownProcessing = 1U << 2;
inline constexpr std::uint32_t kShutdownComplete = 2U << 2;
} // namespace csts

/// VS and Identify Controller VER: major in bits 31:16, minor in 15:8, tertiary in 7:0.
constexpr std::uint32_t make_version(unsigned major_number, unsigned minor_number, unsigned tertiary) {
    return (major_number << 16) | (minor_number << 8) | tertiary;
}

} // namespace mpath::nvme
