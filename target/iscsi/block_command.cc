// SPDX-License-Identifier: GPL-2.0-only
#include "target/iscsi/block_command.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace mpath::target::scsi {

namespace {

namespace scsi_opcode = iscsi::scsi_opcode;
namespace cdb_flag = iscsi::cdb_flag;

constexpr std::uint8_t kProtect = 0xe0;     // RDPROTECT, WRPROTECT, VRPROTECT
constexpr std::uint8_t kAnchor = 0x10;      // WRITE SAME
constexpr std::uint8_t kUnmapAnchor = 0x01; // UNMAP
constexpr std::uint8_t kByteCheck = 0x06;
constexpr std::uint8_t kCompare = 0x02;
constexpr std::uint64_t kMostCompared = 16U << 20; // bytes of one VERIFY

Plan refuse(const Outcome& why) {
    return {.outcome = why};
}

/// LBA, blocks and flags, of commands of ten bytes and of sixteen.
struct Extent {
    std::uint64_t lba = 0;
    std::uint64_t blocks = 0;
    std::uint8_t flags = 0;
};

Extent extent_of(const iscsi::Cdb& cdb) {
    if (cdb[0] >= 0x80) {
        const auto wide = std::bit_cast<iscsi::BlockCdb>(cdb);
        return {wide.lba, wide.blocks, wide.flags};
    }
    Be32 lba;
    Be16 blocks;
    std::memcpy(&lba, cdb.data() + 2, sizeof(lba));
    std::memcpy(&blocks, cdb.data() + 7, sizeof(blocks));
    return {lba, blocks, cdb[1]};
}

bool is_inside(const Namespace& space, std::uint64_t first, std::uint64_t count) {
    return first <= space.blocks() && count <= space.blocks() - first;
}

bool moves_too_much(const Options& options, std::uint64_t bytes) {
    const std::uint64_t most = options.mdts != 0 ? options.mdts : std::numeric_limits<std::uint32_t>::max();
    return bytes > most;
}

Plan plan_moving(const Options& options, Plan plan, std::uint8_t flags, bool writes) {
    if ((flags & kProtect) != 0 || moves_too_much(options, plan.length)) {
        return refuse(outcome::kInvalidField);
    }
    plan.act = writes ? Act::write : Act::read;
    plan.from_initiator = writes ? static_cast<std::uint32_t>(plan.length) : 0;
    plan.force_unit_access = (flags & cdb_flag::kForceUnitAccess) != 0;
    return plan;
}

Plan plan_write_same(const Options& options, Plan plan, const Extent& extent, bool may_have_no_data) {
    const bool no_data = may_have_no_data && (extent.flags & cdb_flag::kNoDataOut) != 0;
    const bool unmaps = (extent.flags & cdb_flag::kUnmap) != 0;
    const bool too_much = options.max_write_zeroes != 0 && plan.length > options.max_write_zeroes;
    if ((extent.flags & (kProtect | kAnchor)) != 0 || extent.blocks == 0 || too_much ||
        (unmaps && !options.trim)) {
        return refuse(outcome::kInvalidField);
    }
    plan.act = Act::write_same;
    plan.from_initiator = no_data ? 0 : 1U << plan.space->block_shift();
    return plan;
}

Plan plan_verify(Plan plan, std::uint8_t flags) {
    const unsigned check = flags & kByteCheck;
    if ((flags & kProtect) != 0 || (check != 0 && check != kCompare) ||
        (check == kCompare && plan.length > kMostCompared)) {
        return refuse(outcome::kInvalidField);
    }
    plan.act = Act::verify;
    plan.from_initiator = check == kCompare ? static_cast<std::uint32_t>(plan.length) : 0;
    return plan;
}

bool is_write(std::uint8_t opcode) {
    switch (opcode) {
    case scsi_opcode::kWrite10:
    case scsi_opcode::kWrite16:
    case scsi_opcode::kWriteSame10:
    case scsi_opcode::kWriteSame16:
    case scsi_opcode::kUnmap:
        return true;
    default:
        return false;
    }
}

} // namespace

Plan plan_block(const Options& options, Namespace& space, const iscsi::Cdb& cdb) {
    const std::uint8_t opcode = cdb[0];
    if (options.read_only && is_write(opcode)) {
        return refuse(outcome::kWriteProtected);
    }
    if (options.metadata != 0 && opcode != scsi_opcode::kSynchronizeCache10 &&
        opcode != scsi_opcode::kSynchronizeCache16) {
        return refuse(outcome::kInvalidField); // there is nowhere to keep it
    }
    Plan plan{.space = &space};
    if (opcode == scsi_opcode::kUnmap) {
        Be16 length;
        std::memcpy(&length, cdb.data() + 7, sizeof(length));
        plan.act = Act::unmap;
        plan.from_initiator = length;
        return (cdb[1] & kUnmapAnchor) != 0 ? refuse(outcome::kInvalidField) : plan;
    }
    const Extent extent = extent_of(cdb);
    if (!is_inside(space, extent.lba, extent.blocks)) {
        return refuse(outcome::kLbaOutOfRange);
    }
    plan.offset = extent.lba << space.block_shift();
    plan.length = extent.blocks << space.block_shift();
    switch (opcode) {
    case scsi_opcode::kRead10:
    case scsi_opcode::kRead16:
        return plan_moving(options, plan, extent.flags, false);
    case scsi_opcode::kWrite10:
    case scsi_opcode::kWrite16:
        return plan_moving(options, plan, extent.flags, true);
    case scsi_opcode::kWriteSame10:
    case scsi_opcode::kWriteSame16:
        return plan_write_same(options, plan, extent, opcode == scsi_opcode::kWriteSame16);
    case scsi_opcode::kVerify10:
    case scsi_opcode::kVerify16:
        return plan_verify(plan, extent.flags);
    default:
        plan.act = Act::flush;
        return plan;
    }
}

Outcome unmap(const Options& options, Namespace& space, std::span<const std::byte> list) {
    if (list.empty()) {
        return outcome::kGood;
    }
    iscsi::UnmapHeader header;
    if (list.size() < sizeof(header)) {
        return outcome::kParameterListLength;
    }
    std::memcpy(&header, list.data(), sizeof(header));
    list = list.subspan(sizeof(header));
    const std::size_t count =
        std::min<std::size_t>(header.descriptors_length, list.size()) / sizeof(iscsi::UnmapDescriptor);
    for (const bool in_earnest : {false, true}) { // all of it or nothing
        for (std::size_t i = 0; i < count; ++i) {
            iscsi::UnmapDescriptor range;
            std::memcpy(&range, list.data() + i * sizeof(range), sizeof(range));
            if (options.max_trim != 0 && range.blocks > options.max_trim) {
                return outcome::kInvalidParameter;
            }
            if (!is_inside(space, range.lba, range.blocks)) {
                return outcome::kLbaOutOfRange;
            }
            if (in_earnest) {
                space.zero(range.lba << space.block_shift(),
                           std::uint64_t{range.blocks} << space.block_shift());
            }
        }
    }
    return outcome::kGood;
}

void write_same(const Plan& plan, std::span<const std::byte> block) {
    const bool zeroes =
        std::all_of(block.begin(), block.end(), [](std::byte byte) { return byte == std::byte{0}; });
    std::byte* to = plan.space->destination(plan.offset);
    if (zeroes || to == nullptr) {
        plan.space->zero(plan.offset, plan.length);
        return;
    }
    for (std::uint64_t at = 0; at < plan.length; at += block.size()) {
        std::memcpy(to + at, block.data(), block.size());
    }
}

Outcome verify(const Plan& plan, std::span<const std::byte> data) {
    bool same = true;
    std::size_t at = 0;
    plan.space->read(plan.offset, static_cast<std::uint32_t>(data.size()),
                     [&](const std::byte* bytes, std::uint32_t count) {
                         same = same && std::memcmp(bytes, data.data() + at, count) == 0;
                         at += count;
                     });
    return same ? outcome::kGood : outcome::kMiscompare;
}

} // namespace mpath::target::scsi
