// SPDX-License-Identifier: GPL-2.0-only
#include "target/fault/request_kind.h"

#include <bit>

#include "iscsi/wire/scsi.h"

namespace mpath::target {

namespace {

namespace scsi_opcode = iscsi::scsi_opcode;
namespace service_action = iscsi::service_action;

constexpr std::uint8_t kServiceActionMask = 0x1f;

std::uint32_t kind_of_cdb(const iscsi::Cdb& cdb) {
    const std::uint8_t action = cdb[1] & kServiceActionMask;
    switch (cdb[0]) {
    case scsi_opcode::kRead10:
    case scsi_opcode::kRead16:
        return request_kind::kRead;
    case scsi_opcode::kWrite10:
    case scsi_opcode::kWrite16:
        return request_kind::kWrite;
    case scsi_opcode::kSynchronizeCache10:
    case scsi_opcode::kSynchronizeCache16:
        return request_kind::kFlush;
    case scsi_opcode::kUnmap:
        return request_kind::kUnmap;
    case scsi_opcode::kWriteSame10:
    case scsi_opcode::kWriteSame16:
        return request_kind::kWriteSame;
    case scsi_opcode::kVerify10:
    case scsi_opcode::kVerify16:
        return request_kind::kVerify;
    case scsi_opcode::kInquiry:
        return request_kind::kInquiry;
    case scsi_opcode::kReadCapacity10:
        return request_kind::kCapacity;
    case scsi_opcode::kServiceActionIn16:
        return action == service_action::kReadCapacity16 ? request_kind::kCapacity : request_kind::kOtherScsi;
    case scsi_opcode::kReportLuns:
        return request_kind::kReportLuns;
    case scsi_opcode::kMaintenanceIn:
        return action == service_action::kReportTargetPortGroups ? request_kind::kPortGroups
                                                                 : request_kind::kOtherScsi;
    case scsi_opcode::kTestUnitReady:
        return request_kind::kTestUnitReady;
    default:
        return request_kind::kOtherScsi;
    }
}

} // namespace

std::uint32_t kind_of(const iscsi::Bhs& request) {
    switch (static_cast<iscsi::Opcode>(request.opcode & iscsi::kOpcodeMask)) {
    case iscsi::Opcode::scsi_command:
        return kind_of_cdb(std::bit_cast<iscsi::ScsiCommand>(request).cdb);
    case iscsi::Opcode::login:
        return request_kind::kLogin;
    case iscsi::Opcode::text:
        return request_kind::kText;
    case iscsi::Opcode::logout:
        return request_kind::kLogout;
    case iscsi::Opcode::nop_out:
        return request_kind::kNop;
    case iscsi::Opcode::task_management:
        return request_kind::kTaskManagement;
    default:
        return request_kind::kNothing;
    }
}

} // namespace mpath::target
