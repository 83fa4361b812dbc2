// SPDX-License-Identifier: GPL-2.0-only
// Submission and completion queue entries and what they point at. NVM Express Base Specification, "Submission
// Queue Entry", "Completion Queue Entry" and "Scatter Gather List"; NVM Command Set Specification for the I/O
// commands.
#pragma once

#include <array>
#include <cstdint>

#include "base/endian.h"
#include "base/layout.h"

namespace mpath::nvme {

namespace admin_opcode {
inline constexpr std::uint8_t kGetLogPage = 0x02;
inline constexpr std::uint8_t kIdentify = 0x06;
inline constexpr std::uint8_t kAbort = 0x08;
inline constexpr std::uint8_t kSetFeatures = 0x09;
inline constexpr std::uint8_t kGetFeatures = 0x0a;
inline constexpr std::uint8_t kAsyncEventRequest = 0x0c;
inline constexpr std::uint8_t kKeepAlive = 0x18;
} // namespace admin_opcode

namespace io_opcode {
inline constexpr std::uint8_t kFlush = 0x00;
inline constexpr std::uint8_t kWrite = 0x01;
inline constexpr std::uint8_t kRead = 0x02;
inline constexpr std::uint8_t kWriteZeroes = 0x08;
inline constexpr std::uint8_t kDatasetManagement = 0x09;
} // namespace io_opcode

/// SQE byte 1 of every command over a fabric: PSDT 01b, the data pointer is an SGL.
inline constexpr std::uint8_t kSqeFlagsSgl = 0x40;

/// NSID that addresses all namespaces.
inline constexpr std::uint32_t kNsidAll = 0xffffffff;

/// SGL identifier: descriptor type in bits 7:4, subtype in bits 3:0.
inline constexpr std::uint8_t kSglInCapsule = 0x01;          ///< data block at an offset in the capsule
inline constexpr std::uint8_t kSglTransportDataBlock = 0x5a; ///< the transport moves the data

struct SglDescriptor {
    Le64 address; ///< in the capsule: offset behind the SQE; otherwise 0
    Le32 length;  ///< bytes
    std::array<std::uint8_t, 3> reserved12{};
    std::uint8_t identifier = 0;
};
MPATH_SIZE(SglDescriptor, 16);
MPATH_AT(SglDescriptor, address, 0);
MPATH_AT(SglDescriptor, length, 8);
MPATH_AT(SglDescriptor, reserved12, 12);
MPATH_AT(SglDescriptor, identifier, 15);

struct Sqe {
    std::uint8_t opcode = 0;
    std::uint8_t flags = 0;
    Le16 cid;
    Le32 nsid;
    Le32 cdw2;
    Le32 cdw3;
    Le64 metadata;
    SglDescriptor sgl;
    Le32 cdw10;
    Le32 cdw11;
    Le32 cdw12;
    Le32 cdw13;
    Le32 cdw14;
    Le32 cdw15;
};
MPATH_SIZE(Sqe, 64);
MPATH_AT(Sqe, opcode, 0);
MPATH_AT(Sqe, flags, 1);
MPATH_AT(Sqe, cid, 2);
MPATH_AT(Sqe, nsid, 4);
MPATH_AT(Sqe, cdw2, 8);
MPATH_AT(Sqe, cdw3, 12);
MPATH_AT(Sqe, metadata, 16);
MPATH_AT(Sqe, sgl, 24);
MPATH_AT(Sqe, cdw10, 40);
MPATH_AT(Sqe, cdw11, 44);
MPATH_AT(Sqe, cdw12, 48);
MPATH_AT(Sqe, cdw13, 52);
MPATH_AT(Sqe, cdw14, 56);
MPATH_AT(Sqe, cdw15, 60);

/// Read, Write and Write Zeroes: the same entry with its last six words read this way.
struct RwCommand {
    std::uint8_t opcode = 0;
    std::uint8_t flags = 0;
    Le16 cid;
    Le32 nsid;
    Le32 cdw2;
    Le32 cdw3;
    Le64 metadata;
    SglDescriptor sgl;
    Le64 slba;
    Le16 nlb;     ///< 0's based
    Le16 control; ///< bit 15 Limited Retry, bit 14 Force Unit Access
    Le32 dsmgmt;
    Le32 reftag;
    Le16 apptag;
    Le16 appmask;
};
MPATH_SIZE(RwCommand, 64);
MPATH_AT(RwCommand, opcode, 0);
MPATH_AT(RwCommand, flags, 1);
MPATH_AT(RwCommand, cid, 2);
MPATH_AT(RwCommand, nsid, 4);
MPATH_AT(RwCommand, cdw2, 8);
MPATH_AT(RwCommand, cdw3, 12);
MPATH_AT(RwCommand, metadata, 16);
MPATH_AT(RwCommand, sgl, 24);
MPATH_AT(RwCommand, slba, 40);
MPATH_AT(RwCommand, nlb, 48);
MPATH_AT(RwCommand, control, 50);
MPATH_AT(RwCommand, dsmgmt, 52);
MPATH_AT(RwCommand, reftag, 56);
MPATH_AT(RwCommand, apptag, 60);
MPATH_AT(RwCommand, appmask, 62);

/// RwCommand::control: the command ends when the data has reached the medium.
inline constexpr std::uint16_t kForceUnitAccess = 1U << 14;

/// Blocks one Read or Write can name (NLB is 16 bits, 0's based).
inline constexpr std::uint32_t kMaxBlocksPerCommand = 65536;

/// Dataset Management: cdw10 bits 7:0 number of ranges (0's based), cdw11 bit 2 Attribute Deallocate.
inline constexpr std::uint32_t kDsmDeallocate = 1U << 2;
inline constexpr std::uint32_t kDsmMaxRanges = 256;

struct DsmRange {
    Le32 attributes;
    Le32 blocks; ///< not 0's based
    Le64 slba;
};
MPATH_SIZE(DsmRange, 16);
MPATH_AT(DsmRange, attributes, 0);
MPATH_AT(DsmRange, blocks, 4);
MPATH_AT(DsmRange, slba, 8);

struct Cqe {
    Le32 dw0;
    Le32 dw1;
    Le16 sqhd;
    Le16 sqid; ///< reserved over fabrics
    Le16 cid;
    Le16 status; ///< bit 0 phase, always 0 over fabrics; the rest is Status (nvme/wire/status.h)
};
MPATH_SIZE(Cqe, 16);
MPATH_AT(Cqe, dw0, 0);
MPATH_AT(Cqe, dw1, 4);
MPATH_AT(Cqe, sqhd, 8);
MPATH_AT(Cqe, sqid, 10);
MPATH_AT(Cqe, cid, 12);
MPATH_AT(Cqe, status, 14);

} // namespace mpath::nvme
