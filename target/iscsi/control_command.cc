// SPDX-License-Identifier: GPL-2.0-only
#include "target/iscsi/control_command.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "target/page.h"

namespace mpath::target::scsi {

namespace {

namespace scsi_opcode = iscsi::scsi_opcode;

constexpr std::uint16_t kThin = 0x8000;          // LBPME
constexpr std::uint16_t kThinReadsZero = 0x4000; // LBPRZ
constexpr std::uint8_t kDescriptorFormat = 0x01; // REQUEST SENSE
constexpr std::size_t kCapacity10Size = 8;

template <typename T>
T read_cdb(const iscsi::Cdb& cdb) {
    T structure;
    static_assert(sizeof(T) <= sizeof(cdb));
    std::memcpy(&structure, cdb.data(), sizeof(T));
    return structure;
}

Built request_sense(const Unit& unit, const iscsi::Cdb& cdb) {
    if ((cdb[1] & kDescriptorFormat) != 0) {
        return refused(outcome::kInvalidField);
    }
    Outcome told;
    if (unit.space == nullptr) {
        told = outcome::kNoSuchLun;
    } else if (unit.session.has_attention(unit.space->nsid())) {
        told = outcome_of(unit.session.take_attention(unit.space->nsid()));
    }
    std::vector<std::byte> data;
    append(data, sense_of(told));
    return fitted(std::move(data), cdb[4]);
}

Built read_capacity_10(const Unit& unit, const iscsi::Cdb& cdb) {
    constexpr std::uint8_t kPartial = 0x01;
    if ((cdb[8] & kPartial) != 0 ||
        std::any_of(cdb.begin() + 2, cdb.begin() + 6, [](auto byte) { return byte != 0; })) {
        return refused(outcome::kInvalidField); // obsolete, and nobody's any more
    }
    const std::uint64_t last = unit.space->blocks() - 1;
    std::vector<std::byte> data;
    append(data, Be32(static_cast<std::uint32_t>(
                     std::min<std::uint64_t>(last, std::numeric_limits<std::uint32_t>::max()))));
    append(data, Be32(1U << unit.space->block_shift()));
    return fitted(std::move(data), kCapacity10Size);
}

Built read_capacity_16(const Unit& unit, const iscsi::Cdb& cdb) {
    const Options& options = unit.node.options();
    iscsi::CapacityData capacity;
    capacity.last_lba = unit.space->blocks() - 1;
    capacity.block_length = 1U << unit.space->block_shift();
    if (options.protection != 0) {
        capacity.protection = static_cast<std::uint8_t>((options.protection - 1) << 1 | 1);
    }
    capacity.alignment = options.trim ? kThin | kThinReadsZero : 0;
    std::vector<std::byte> data;
    append(data, capacity);
    return fitted(std::move(data), std::bit_cast<iscsi::ReadCapacityCdb>(cdb).allocation);
}

Built report_luns(const Unit& unit, const iscsi::Cdb& cdb) {
    constexpr std::uint8_t kWellKnownOnly = 0x01;
    constexpr std::uint8_t kAll = 0x02;
    constexpr std::uint32_t kLeastRoom = 16;
    const auto request = read_cdb<iscsi::ReportLunsCdb>(cdb);
    if (request.select > kAll || request.allocation < kLeastRoom) {
        return refused(outcome::kInvalidField);
    }
    const Subsystem& subsystem = unit.node.subsystem();
    std::vector<std::byte> luns;
    for (std::uint32_t nsid = 1; nsid <= subsystem.namespace_count() && request.select != kWellKnownOnly;
         ++nsid) {
        if (subsystem.find_namespace(nsid, unit.session.listener()) != nullptr) {
            append(luns, lun_of(nsid));
        }
    }
    iscsi::LunListHeader header;
    header.length = static_cast<std::uint32_t>(luns.size());
    std::vector<std::byte> data;
    append(data, header);
    data.insert(data.end(), luns.begin(), luns.end());
    return fitted(std::move(data), request.allocation);
}

} // namespace

Built execute_control(const Unit& unit, const iscsi::Cdb& cdb) {
    switch (cdb[0]) {
    case scsi_opcode::kRequestSense:
        return request_sense(unit, cdb);
    case scsi_opcode::kInquiry:
        return inquiry(unit, cdb);
    case scsi_opcode::kModeSense6:
    case scsi_opcode::kModeSense10:
        return mode_sense(unit, cdb);
    case scsi_opcode::kReadCapacity10:
        return read_capacity_10(unit, cdb);
    case scsi_opcode::kServiceActionIn16:
        return read_capacity_16(unit, cdb);
    case scsi_opcode::kReportLuns:
        return report_luns(unit, cdb);
    case scsi_opcode::kMaintenanceIn:
        return (cdb[1] & 0x1f) == iscsi::service_action::kReportTargetPortGroups
                   ? report_port_groups(unit, cdb)
                   : report_opcodes(unit, cdb);
    default:
        return {}; // TEST UNIT READY
    }
}

} // namespace mpath::target::scsi
