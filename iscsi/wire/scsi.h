// SPDX-License-Identifier: GPL-2.0-only
// SCSI commands and what they return. SPC-4 (primary commands), SBC-3 (block commands), SAM-5 (status, LUNs).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/endian.h"
#include "base/layout.h"

namespace mpath::iscsi {

/// A command descriptor block, as a SCSI command PDU carries it: shorter ones are padded with zeroes.
using Cdb = std::array<std::uint8_t, 16>;

namespace scsi_status {
inline constexpr std::uint8_t kGood = 0x00;
inline constexpr std::uint8_t kCheckCondition = 0x02;
inline constexpr std::uint8_t kConditionMet = 0x04;
inline constexpr std::uint8_t kBusy = 0x08;
inline constexpr std::uint8_t kReservationConflict = 0x18;
inline constexpr std::uint8_t kTaskSetFull = 0x28;
inline constexpr std::uint8_t kAcaActive = 0x30;
inline constexpr std::uint8_t kTaskAborted = 0x40;
} // namespace scsi_status

namespace scsi_opcode {
inline constexpr std::uint8_t kTestUnitReady = 0x00;
inline constexpr std::uint8_t kRequestSense = 0x03;
inline constexpr std::uint8_t kInquiry = 0x12;
inline constexpr std::uint8_t kModeSense6 = 0x1a;
inline constexpr std::uint8_t kStartStopUnit = 0x1b;
inline constexpr std::uint8_t kReadCapacity10 = 0x25;
inline constexpr std::uint8_t kRead10 = 0x28;
inline constexpr std::uint8_t kWrite10 = 0x2a;
inline constexpr std::uint8_t kVerify10 = 0x2f;
inline constexpr std::uint8_t kSynchronizeCache10 = 0x35;
inline constexpr std::uint8_t kWriteSame10 = 0x41;
inline constexpr std::uint8_t kUnmap = 0x42;
inline constexpr std::uint8_t kModeSense10 = 0x5a;
inline constexpr std::uint8_t kRead16 = 0x88;
inline constexpr std::uint8_t kWrite16 = 0x8a;
inline constexpr std::uint8_t kVerify16 = 0x8f;
inline constexpr std::uint8_t kSynchronizeCache16 = 0x91;
inline constexpr std::uint8_t kWriteSame16 = 0x93;
inline constexpr std::uint8_t kServiceActionIn16 = 0x9e;
inline constexpr std::uint8_t kReportLuns = 0xa0;
inline constexpr std::uint8_t kMaintenanceIn = 0xa3;
inline constexpr std::uint8_t kMaintenanceOut = 0xa4;
} // namespace scsi_opcode

namespace service_action {
inline constexpr std::uint8_t kReadCapacity16 = 0x10;         ///< of kServiceActionIn16
inline constexpr std::uint8_t kReportTargetPortGroups = 0x0a; ///< of kMaintenanceIn
inline constexpr std::uint8_t kReportSupportedOpcodes = 0x0c; ///< of kMaintenanceIn
inline constexpr std::uint8_t kSetTargetPortGroups = 0x0a;    ///< of kMaintenanceOut
} // namespace service_action

/// READ(16), WRITE(16), SYNCHRONIZE CACHE(16), WRITE SAME(16).
struct BlockCdb {
    std::uint8_t opcode = 0;
    std::uint8_t flags = 0; ///< cdb_flag::
    Be64 lba;
    Be32 blocks;
    std::uint8_t group = 0;
    std::uint8_t control = 0;
};
MPATH_SIZE(BlockCdb, 16);
MPATH_AT(BlockCdb, lba, 2);
MPATH_AT(BlockCdb, blocks, 10);

namespace cdb_flag {
inline constexpr std::uint8_t kForceUnitAccess = 0x08; ///< READ, WRITE
inline constexpr std::uint8_t kImmediate = 0x02;       ///< SYNCHRONIZE CACHE
inline constexpr std::uint8_t kNoDataOut = 0x01;       ///< WRITE SAME(16), NDOB: zeroes
inline constexpr std::uint8_t kUnmap = 0x08;           ///< WRITE SAME
} // namespace cdb_flag

struct InquiryCdb {
    std::uint8_t opcode = scsi_opcode::kInquiry;
    std::uint8_t vital = 0; ///< 1: EVPD, a page of vital product data
    std::uint8_t page = 0;
    Be16 allocation;
    std::uint8_t control = 0;
};
MPATH_SIZE(InquiryCdb, 6);
MPATH_AT(InquiryCdb, allocation, 3);

/// READ CAPACITY(16).
struct ReadCapacityCdb {
    std::uint8_t opcode = scsi_opcode::kServiceActionIn16;
    std::uint8_t action = service_action::kReadCapacity16;
    Be64 lba;
    Be32 allocation;
    std::uint8_t reserved14 = 0;
    std::uint8_t control = 0;
};
MPATH_SIZE(ReadCapacityCdb, 16);
MPATH_AT(ReadCapacityCdb, allocation, 10);

struct UnmapCdb {
    std::uint8_t opcode = scsi_opcode::kUnmap;
    std::uint8_t flags = 0;
    std::array<std::uint8_t, 4> reserved2{};
    std::uint8_t group = 0;
    Be16 length; ///< of the parameter list
    std::uint8_t control = 0;
};
MPATH_SIZE(UnmapCdb, 10);
MPATH_AT(UnmapCdb, length, 7);

struct ReportLunsCdb {
    std::uint8_t opcode = scsi_opcode::kReportLuns;
    std::uint8_t reserved1 = 0;
    std::uint8_t select = 0;
    std::array<std::uint8_t, 3> reserved3{};
    Be32 allocation;
    std::uint8_t reserved10 = 0;
    std::uint8_t control = 0;
};
MPATH_SIZE(ReportLunsCdb, 12);
MPATH_AT(ReportLunsCdb, allocation, 6);

/// REPORT TARGET PORT GROUPS, SET TARGET PORT GROUPS.
struct PortGroupsCdb {
    std::uint8_t opcode = scsi_opcode::kMaintenanceIn;
    std::uint8_t action = service_action::kReportTargetPortGroups; ///< and kExtendedHeader
    std::array<std::uint8_t, 4> reserved2{};
    Be32 allocation;
    std::uint8_t reserved10 = 0;
    std::uint8_t control = 0;
};
MPATH_SIZE(PortGroupsCdb, 12);
MPATH_AT(PortGroupsCdb, allocation, 6);
inline constexpr std::uint8_t kExtendedHeader = 0x20; ///< parameter data format 001b

// ---- data

/// Standard INQUIRY data, as far as everybody has it.
struct InquiryData {
    std::uint8_t peripheral = 0; ///< qualifier in bits 7-5 (0: connected), device type below (0: disk)
    std::uint8_t removable = 0;
    std::uint8_t version = 0;
    std::uint8_t format = 2;
    std::uint8_t additional_length = 31; ///< bytes behind this one
    std::uint8_t flags5 = 0;             ///< TPGS in bits 5-4; bit 3: third-party copy; bit 0: PROTECT
    std::uint8_t flags6 = 0;
    std::uint8_t flags7 = 0; ///< bit 1: CMDQUE
    std::array<char, 8> vendor{};
    std::array<char, 16> product{};
    std::array<char, 4> revision{};
};
MPATH_SIZE(InquiryData, 36);
MPATH_AT(InquiryData, flags5, 5);
MPATH_AT(InquiryData, vendor, 8);
MPATH_AT(InquiryData, product, 16);
MPATH_AT(InquiryData, revision, 32);
inline constexpr std::uint8_t kImplicitAlua = 0x10; ///< of flags5
inline constexpr std::uint8_t kExplicitAlua = 0x20; ///< of flags5

namespace vpd_page {
inline constexpr std::uint8_t kSupported = 0x00;
inline constexpr std::uint8_t kSerial = 0x80;
inline constexpr std::uint8_t kIdentification = 0x83;
inline constexpr std::uint8_t kBlockLimits = 0xb0;
inline constexpr std::uint8_t kBlockCharacteristics = 0xb1;
inline constexpr std::uint8_t kProvisioning = 0xb2;
} // namespace vpd_page

struct VpdHeader {
    std::uint8_t peripheral = 0;
    std::uint8_t page = 0;
    Be16 length; ///< bytes behind this header
};
MPATH_SIZE(VpdHeader, 4);

/// Of VPD 83h; `length` bytes of it follow.
struct DesignatorHeader {
    std::uint8_t protocol_and_code_set = 0; ///< code set in bits 3-0: 1 binary, 2 ASCII, 3 UTF-8
    std::uint8_t association_and_type = 0;  ///< association in bits 5-4, type in bits 3-0
    std::uint8_t reserved2 = 0;
    std::uint8_t length = 0;
};
MPATH_SIZE(DesignatorHeader, 4);

namespace designator_type {
inline constexpr std::uint8_t kVendor = 0;
inline constexpr std::uint8_t kT10 = 1;
inline constexpr std::uint8_t kEui64 = 2;
inline constexpr std::uint8_t kNaa = 3;
inline constexpr std::uint8_t kRelativePort = 4;
inline constexpr std::uint8_t kTargetPortGroup = 5;
inline constexpr std::uint8_t kLogicalUnitGroup = 6;
inline constexpr std::uint8_t kMd5 = 7;
inline constexpr std::uint8_t kScsiName = 8;
} // namespace designator_type

namespace designator_association {
inline constexpr std::uint8_t kLogicalUnit = 0;
inline constexpr std::uint8_t kTargetPort = 1;
inline constexpr std::uint8_t kTargetDevice = 2;
} // namespace designator_association

/// VPD B0h, all of it; older devices return its beginning only.
struct BlockLimits {
    VpdHeader header;
    std::uint8_t flags4 = 0; ///< bit 0: WSNZ
    std::uint8_t max_compare_write = 0;
    Be16 optimal_granularity; ///< blocks
    Be32 max_transfer;        ///< blocks; 0 = no limit said
    Be32 optimal_transfer;    ///< blocks
    Be32 max_prefetch;
    Be32 max_unmap_blocks;          ///< of one command; 0: UNMAP is not supported; ffffffffh: no limit
    Be32 max_unmap_descriptors;     ///< of one command; likewise
    Be32 optimal_unmap_granularity; ///< blocks
    Be32 unmap_alignment;           ///< bit 31: valid
    Be64 max_write_same;            ///< blocks; 0 = no limit said
    Be32 max_atomic_transfer;
    Be32 atomic_alignment;
    Be32 atomic_granularity;
    Be32 max_atomic_with_boundary;
    Be32 max_atomic_boundary;
};
MPATH_SIZE(BlockLimits, 64);
MPATH_AT(BlockLimits, max_transfer, 8);
MPATH_AT(BlockLimits, max_unmap_blocks, 20);
MPATH_AT(BlockLimits, max_unmap_descriptors, 24);
MPATH_AT(BlockLimits, max_write_same, 36);

/// VPD B2h.
struct Provisioning {
    VpdHeader header;
    std::uint8_t threshold = 0;
    std::uint8_t flags5 = 0; ///< provisioning_flag::
    std::uint8_t type = 0;   ///< bits 2-0: 0 unknown, 1 resource, 2 thin
    std::uint8_t reserved7 = 0;
};
MPATH_SIZE(Provisioning, 8);

namespace provisioning_flag {
inline constexpr std::uint8_t kUnmap = 0x80;       ///< LBPU
inline constexpr std::uint8_t kWriteSame16 = 0x40; ///< LBPWS: WRITE SAME(16) with UNMAP
inline constexpr std::uint8_t kWriteSame10 = 0x20;
inline constexpr std::uint8_t kReadsZero = 0x04; ///< LBPRZ, its lowest bit
} // namespace provisioning_flag

struct CapacityData {
    Be64 last_lba;
    Be32 block_length;           ///< bytes
    std::uint8_t protection = 0; ///< bit 0: PROT_EN
    std::uint8_t exponents = 0;  ///< bits 3-0: physical blocks, log2 of the logical ones in one
    Be16 alignment;              ///< bit 15: LBPME (thin); bit 14: LBPRZ
    std::array<std::uint8_t, 16> reserved16{};
};
MPATH_SIZE(CapacityData, 32);
MPATH_AT(CapacityData, block_length, 8);
MPATH_AT(CapacityData, alignment, 14);

struct UnmapHeader {
    Be16 length;             ///< bytes behind this field
    Be16 descriptors_length; ///< bytes
    Be32 reserved4;
};
MPATH_SIZE(UnmapHeader, 8);

struct UnmapDescriptor {
    Be64 lba;
    Be32 blocks;
    Be32 reserved12;
};
MPATH_SIZE(UnmapDescriptor, 16);

struct LunListHeader {
    Be32 length; ///< bytes of the list behind this header
    Be32 reserved4;
};
MPATH_SIZE(LunListHeader, 8);

/// Asymmetric access states.
enum class AluaState : std::uint8_t {
    active_optimized = 0x0,
    active_non_optimized = 0x1,
    standby = 0x2,
    unavailable = 0x3,
    lba_dependent = 0x4,
    offline = 0xe,
    transitioning = 0xf,
};

/// RTPG: a length of 4 bytes (of what follows); with kExtendedHeader the next header of 4 bytes; groups.
struct ExtendedPortGroupsHeader {
    Be32 length;
    std::uint8_t format = 0x10;       ///< bits 6-4: 001b
    std::uint8_t transition_time = 0; ///< seconds a transition may last; 0: not said
    Be16 reserved6;
};
MPATH_SIZE(ExtendedPortGroupsHeader, 8);

/// `ports` descriptors follow.
struct PortGroup {
    std::uint8_t state = 0; ///< bit 7: PREF; bits 3-0: AluaState
    std::uint8_t supported = 0;
    Be16 id;
    std::uint8_t reserved4 = 0;
    std::uint8_t status = 0;
    std::uint8_t vendor = 0;
    std::uint8_t ports = 0;
};
MPATH_SIZE(PortGroup, 8);
MPATH_AT(PortGroup, id, 2);
MPATH_AT(PortGroup, ports, 7);
inline constexpr std::uint8_t kPreferred = 0x80;

struct PortDescriptor {
    Be16 obsolete0;
    Be16 relative_port;
};
MPATH_SIZE(PortDescriptor, 4);

/// Fixed format; what targets send unless told otherwise.
struct FixedSense {
    std::uint8_t response_code = 0x70; ///< bits 6-0: 70h current, 71h deferred
    std::uint8_t obsolete1 = 0;
    std::uint8_t key = 0; ///< bits 3-0
    Be32 information;
    std::uint8_t additional_length = 10; ///< bytes behind this one
    Be32 command_information;
    std::uint8_t asc = 0;
    std::uint8_t ascq = 0;
    std::uint8_t replaceable_unit = 0;
    std::array<std::uint8_t, 3> key_specific{};
};
MPATH_SIZE(FixedSense, 18);
MPATH_AT(FixedSense, key, 2);
MPATH_AT(FixedSense, asc, 12);
MPATH_AT(FixedSense, ascq, 13);

namespace sense_key {
inline constexpr std::uint8_t kNoSense = 0x0;
inline constexpr std::uint8_t kRecovered = 0x1;
inline constexpr std::uint8_t kNotReady = 0x2;
inline constexpr std::uint8_t kMediumError = 0x3;
inline constexpr std::uint8_t kHardwareError = 0x4;
inline constexpr std::uint8_t kIllegalRequest = 0x5;
inline constexpr std::uint8_t kUnitAttention = 0x6;
inline constexpr std::uint8_t kDataProtect = 0x7;
inline constexpr std::uint8_t kAborted = 0xb;
} // namespace sense_key

} // namespace mpath::iscsi
