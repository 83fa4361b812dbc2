// SPDX-License-Identifier: GPL-2.0-only
// iSCSI protocol data units: basic header segments. RFC 7143, section 11.
//
// A PDU: 48 bytes of basic header segment, additional header segments (none that we send), a header digest if
// agreed on, the data segment, padded to a multiple of 4 bytes, a data digest if agreed on and there is data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/digest.h"
#include "base/endian.h"
#include "base/layout.h"

namespace mpath::iscsi {

inline constexpr std::size_t kBhsSize = 48;
using mpath::kDigestSize;
inline constexpr std::uint32_t kNoTag = 0xffffffff; ///< reserved, as initiator or target task tag
inline constexpr std::uint16_t kDefaultPort = 3260;

/// Bytes that a data segment of `length` takes on the wire, without its digest.
constexpr std::uint32_t padded(std::uint32_t length) {
    return (length + 3) & ~std::uint32_t{3};
}

/// Serial numbers of RFC 1982: whether `a` comes before `b`.
constexpr bool comes_before(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int32_t>(a - b) < 0;
}

enum class Opcode : std::uint8_t {
    nop_out = 0x00,
    scsi_command = 0x01,
    task_management = 0x02,
    login = 0x03,
    text = 0x04,
    data_out = 0x05,
    logout = 0x06,
    snack = 0x10,
    nop_in = 0x20,
    scsi_response = 0x21,
    task_management_response = 0x22,
    login_response = 0x23,
    text_response = 0x24,
    data_in = 0x25,
    logout_response = 0x26,
    r2t = 0x31,
    async_message = 0x32,
    reject = 0x3f,
};

inline constexpr std::uint8_t kOpcodeMask = 0x3f;
inline constexpr std::uint8_t kImmediate = 0x40; ///< of requests, beside the opcode: takes no CmdSN
inline constexpr std::uint8_t kFinal = 0x80;     ///< of the flags byte of most PDUs

/// Three bytes, big-endian.
class Be24 {
public:
    constexpr Be24() = default;
    constexpr Be24(std::uint32_t value) // NOLINT(google-explicit-constructor): assignment reads well
        : bytes_{static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 8),
                 static_cast<std::uint8_t>(value)} {}
    constexpr operator std::uint32_t() const {
        return std::uint32_t{bytes_[0]} << 16 | std::uint32_t{bytes_[1]} << 8 | bytes_[2];
    }

private:
    std::array<std::uint8_t, 3> bytes_{};
};

/// Session part of the initiator port's name. Section 11.12.5.
using Isid = std::array<std::uint8_t, 6>;

/// A LUN as it is in a header: eight bytes (SAM-5).
using Lun = std::array<std::uint8_t, 8>;

/// What all PDUs have in common.
struct Bhs {
    std::uint8_t opcode = 0; ///< Opcode, and kImmediate
    std::uint8_t flags = 0;
    std::array<std::uint8_t, 2> specific2{};
    std::uint8_t ahs_length = 0; ///< of all additional header segments, in words of 4 bytes
    Be24 data_length;            ///< bytes of the data segment, padding not counted
    std::array<std::uint8_t, 8> specific8{};
    Be32 task_tag; ///< the initiator's
    std::array<std::uint8_t, 28> specific20{};
};
MPATH_SIZE(Bhs, kBhsSize);
MPATH_AT(Bhs, ahs_length, 4);
MPATH_AT(Bhs, data_length, 5);
MPATH_AT(Bhs, task_tag, 16);

namespace command_flag {
inline constexpr std::uint8_t kRead = 0x40;
inline constexpr std::uint8_t kWrite = 0x20;
inline constexpr std::uint8_t kSimple = 0x01; ///< task attribute
} // namespace command_flag

struct ScsiCommand {
    std::uint8_t opcode = 0x01;
    std::uint8_t flags = 0; ///< kFinal: no unsolicited data PDU follows; command_flag::
    std::array<std::uint8_t, 2> reserved2{};
    std::uint8_t ahs_length = 0;
    Be24 data_length; ///< of immediate data
    Lun lun{};
    Be32 task_tag;
    Be32 expected_length; ///< bytes to be moved
    Be32 cmd_sn;
    Be32 exp_stat_sn;
    std::array<std::uint8_t, 16> cdb{};
};
MPATH_SIZE(ScsiCommand, kBhsSize);
MPATH_AT(ScsiCommand, lun, 8);
MPATH_AT(ScsiCommand, task_tag, 16);
MPATH_AT(ScsiCommand, expected_length, 20);
MPATH_AT(ScsiCommand, cmd_sn, 24);
MPATH_AT(ScsiCommand, exp_stat_sn, 28);
MPATH_AT(ScsiCommand, cdb, 32);

/// Of SCSI responses, and of Data-In that carries the status.
namespace residual_flag {
inline constexpr std::uint8_t kBidirectionalOverflow = 0x10;
inline constexpr std::uint8_t kBidirectionalUnderflow = 0x08;
inline constexpr std::uint8_t kOverflow = 0x04;
inline constexpr std::uint8_t kUnderflow = 0x02;
} // namespace residual_flag

/// Sense data, with a 2-byte length before it, is the data segment.
struct ScsiResponse {
    std::uint8_t opcode = 0x21;
    std::uint8_t flags = kFinal;
    std::uint8_t response = 0; ///< 0: completed at the target; 1: target failure
    std::uint8_t status = 0;   ///< SCSI status, if response is 0
    std::uint8_t ahs_length = 0;
    Be24 data_length;
    std::array<std::uint8_t, 8> reserved8{};
    Be32 task_tag;
    Be32 snack_tag;
    Be32 stat_sn;
    Be32 exp_cmd_sn;
    Be32 max_cmd_sn;
    Be32 exp_data_sn;
    Be32 bidirectional_residual;
    Be32 residual;
};
MPATH_SIZE(ScsiResponse, kBhsSize);
MPATH_AT(ScsiResponse, stat_sn, 24);
MPATH_AT(ScsiResponse, exp_cmd_sn, 28);
MPATH_AT(ScsiResponse, max_cmd_sn, 32);
MPATH_AT(ScsiResponse, exp_data_sn, 36);
MPATH_AT(ScsiResponse, residual, 44);

namespace task_function {
inline constexpr std::uint8_t kAbortTask = 1;
inline constexpr std::uint8_t kAbortTaskSet = 2;
inline constexpr std::uint8_t kClearAca = 3;
inline constexpr std::uint8_t kClearTaskSet = 4;
inline constexpr std::uint8_t kLogicalUnitReset = 5;
inline constexpr std::uint8_t kTargetWarmReset = 6;
inline constexpr std::uint8_t kTargetColdReset = 7;
inline constexpr std::uint8_t kTaskReassign = 8;
} // namespace task_function

struct TaskManagement {
    std::uint8_t opcode = 0x02;
    std::uint8_t function = kFinal; ///< kFinal and task_function::
    std::array<std::uint8_t, 2> reserved2{};
    std::uint8_t ahs_length = 0;
    Be24 data_length;
    Lun lun{};
    Be32 task_tag;
    Be32 referenced_task_tag; ///< kNoTag but for Abort Task
    Be32 cmd_sn;
    Be32 exp_stat_sn;
    Be32 ref_cmd_sn; ///< of Abort Task: CmdSN of the task
    Be32 exp_data_sn;
    std::array<std::uint8_t, 8> reserved40{};
};
MPATH_SIZE(TaskManagement, kBhsSize);
MPATH_AT(TaskManagement, referenced_task_tag, 20);
MPATH_AT(TaskManagement, ref_cmd_sn, 32);

namespace task_response {
inline constexpr std::uint8_t kComplete = 0;
inline constexpr std::uint8_t kNoTask = 1;
inline constexpr std::uint8_t kNoLun = 2;
inline constexpr std::uint8_t kStillAllegiant = 3;
inline constexpr std::uint8_t kReassignUnsupported = 4;
inline constexpr std::uint8_t kUnsupported = 5;
inline constexpr std::uint8_t kUnauthorized = 6;
inline constexpr std::uint8_t kRejected = 255;
} // namespace task_response

struct TaskManagementResponse {
    std::uint8_t opcode = 0x22;
    std::uint8_t flags = kFinal;
    std::uint8_t response = 0; ///< task_response::
    std::uint8_t reserved3 = 0;
    std::uint8_t ahs_length = 0;
    Be24 data_length;
    std::array<std::uint8_t, 8> reserved8{};
    Be32 task_tag;
    Be32 reserved20;
    Be32 stat_sn;
    Be32 exp_cmd_sn;
    Be32 max_cmd_sn;
    std::array<std::uint8_t, 12> reserved36{};
};
MPATH_SIZE(TaskManagementResponse, kBhsSize);
MPATH_AT(TaskManagementResponse, stat_sn, 24);

struct DataOut {
    std::uint8_t opcode = 0x05;
    std::uint8_t flags = 0; ///< kFinal: the last of a sequence, an R2T's or of what was not asked for
    std::array<std::uint8_t, 2> reserved2{};
    std::uint8_t ahs_length = 0;
    Be24 data_length;
    Lun lun{};
    Be32 task_tag;
    Be32 target_tag; ///< of the R2T; kNoTag: not asked for
    Be32 reserved24;
    Be32 exp_stat_sn;
    Be32 reserved32;
    Be32 data_sn; ///< in its sequence, from 0
    Be32 offset;  ///< in the command's data
    Be32 reserved44;
};
MPATH_SIZE(DataOut, kBhsSize);
MPATH_AT(DataOut, target_tag, 20);
MPATH_AT(DataOut, exp_stat_sn, 28);
MPATH_AT(DataOut, data_sn, 36);
MPATH_AT(DataOut, offset, 40);

namespace data_in_flag {
inline constexpr std::uint8_t kAcknowledge = 0x40; ///< ErrorRecoveryLevel 1 and above only
inline constexpr std::uint8_t kStatus = 0x01; ///< status, StatSN and residual are valid: no response follows
} // namespace data_in_flag

struct DataIn {
    std::uint8_t opcode = 0x25;
    std::uint8_t flags = 0; ///< kFinal: the last of a sequence; data_in_flag::, residual_flag:: with kStatus
    std::uint8_t reserved2 = 0;
    std::uint8_t status = 0;
    std::uint8_t ahs_length = 0;
    Be24 data_length;
    Lun lun{};
    Be32 task_tag;
    Be32 target_tag;
    Be32 stat_sn;
    Be32 exp_cmd_sn;
    Be32 max_cmd_sn;
    Be32 data_sn; ///< in the command; R2Ts are counted with them, for commands both ways only
    Be32 offset;
    Be32 residual;
};
MPATH_SIZE(DataIn, kBhsSize);
MPATH_AT(DataIn, target_tag, 20);
MPATH_AT(DataIn, stat_sn, 24);
MPATH_AT(DataIn, data_sn, 36);
MPATH_AT(DataIn, offset, 40);
MPATH_AT(DataIn, residual, 44);

struct R2t {
    std::uint8_t opcode = 0x31;
    std::uint8_t flags = kFinal;
    std::array<std::uint8_t, 2> reserved2{};
    std::uint8_t ahs_length = 0;
    Be24 data_length;
    Lun lun{};
    Be32 task_tag;
    Be32 target_tag;
    Be32 stat_sn; ///< the next one: an R2T takes none
    Be32 exp_cmd_sn;
    Be32 max_cmd_sn;
    Be32 r2t_sn; ///< of the command, from 0
    Be32 offset;
    Be32 desired_length; ///< bytes; at most MaxBurstLength
};
MPATH_SIZE(R2t, kBhsSize);
MPATH_AT(R2t, target_tag, 20);
MPATH_AT(R2t, r2t_sn, 36);
MPATH_AT(R2t, offset, 40);
MPATH_AT(R2t, desired_length, 44);

namespace async_event {
inline constexpr std::uint8_t kScsi = 0;           ///< sense data is the data segment
inline constexpr std::uint8_t kLogoutRequest = 1;  ///< within parameter3 seconds
inline constexpr std::uint8_t kDropConnection = 2; ///< CID parameter1 is or will be dropped
inline constexpr std::uint8_t kDropAllConnections = 3;
inline constexpr std::uint8_t kNegotiate = 4; ///< parameters, within parameter3 seconds
inline constexpr std::uint8_t kTasksTerminated = 5;
inline constexpr std::uint8_t kVendor = 255;
} // namespace async_event

struct AsyncMessage {
    std::uint8_t opcode = 0x32;
    std::uint8_t flags = kFinal;
    std::array<std::uint8_t, 2> reserved2{};
    std::uint8_t ahs_length = 0;
    Be24 data_length;
    Lun lun{};
    Be32 task_tag = kNoTag;
    Be32 reserved20;
    Be32 stat_sn;
    Be32 exp_cmd_sn;
    Be32 max_cmd_sn;
    std::uint8_t event = 0; ///< async_event::
    std::uint8_t vendor_code = 0;
    Be16 parameter1;
    Be16 parameter2; ///< Time2Wait
    Be16 parameter3; ///< Time2Retain, or seconds
    Be32 reserved44;
};
MPATH_SIZE(AsyncMessage, kBhsSize);
MPATH_AT(AsyncMessage, stat_sn, 24);
MPATH_AT(AsyncMessage, event, 36);
MPATH_AT(AsyncMessage, parameter3, 42);

/// Text requests and their responses; login has its own.
struct Text {
    std::uint8_t opcode = 0x04;
    std::uint8_t flags = kFinal; ///< kFinal, or text_flag::kContinue
    std::array<std::uint8_t, 2> reserved2{};
    std::uint8_t ahs_length = 0;
    Be24 data_length;
    Lun lun{};
    Be32 task_tag;
    Be32 target_tag = kNoTag;
    Be32 cmd_sn;      ///< response: StatSN
    Be32 exp_stat_sn; ///< response: ExpCmdSN
    Be32 max_cmd_sn;  ///< response only
    std::array<std::uint8_t, 12> reserved36{};
};
MPATH_SIZE(Text, kBhsSize);
MPATH_AT(Text, target_tag, 20);
MPATH_AT(Text, cmd_sn, 24);

namespace text_flag {
inline constexpr std::uint8_t kContinue = 0x40; ///< the text goes on in the next PDU
} // namespace text_flag

namespace login_flag {
inline constexpr std::uint8_t kTransit = 0x80;
inline constexpr std::uint8_t kContinue = 0x40;
} // namespace login_flag

enum class LoginStage : std::uint8_t { security = 0, operational = 1, full_feature = 3 };

/// The flags byte of a login PDU.
constexpr std::uint8_t login_stages(LoginStage current, LoginStage next) {
    return static_cast<std::uint8_t>(static_cast<unsigned>(current) << 2 | static_cast<unsigned>(next));
}
constexpr LoginStage current_stage(std::uint8_t flags) {
    return static_cast<LoginStage>(flags >> 2 & 3);
}
constexpr LoginStage next_stage(std::uint8_t flags) {
    return static_cast<LoginStage>(flags & 3);
}

struct LoginRequest {
    std::uint8_t opcode = 0x03 | kImmediate;
    std::uint8_t flags = 0; ///< login_flag:: and login_stages()
    std::uint8_t version_max = 0;
    std::uint8_t version_min = 0;
    std::uint8_t ahs_length = 0;
    Be24 data_length;
    Isid isid{};
    Be16 tsih; ///< 0: a new session
    Be32 task_tag;
    Be16 cid;
    Be16 reserved22;
    Be32 cmd_sn;
    Be32 exp_stat_sn;
    std::array<std::uint8_t, 16> reserved32{};
};
MPATH_SIZE(LoginRequest, kBhsSize);
MPATH_AT(LoginRequest, isid, 8);
MPATH_AT(LoginRequest, tsih, 14);
MPATH_AT(LoginRequest, cid, 20);
MPATH_AT(LoginRequest, cmd_sn, 24);

struct LoginResponse {
    std::uint8_t opcode = 0x23;
    std::uint8_t flags = 0;
    std::uint8_t version_max = 0;
    std::uint8_t version_active = 0;
    std::uint8_t ahs_length = 0;
    Be24 data_length;
    Isid isid{};
    Be16 tsih;
    Be32 task_tag;
    Be32 reserved20;
    Be32 stat_sn;
    Be32 exp_cmd_sn;
    Be32 max_cmd_sn;
    std::uint8_t status_class = 0;
    std::uint8_t status_detail = 0;
    std::array<std::uint8_t, 10> reserved38{};
};
MPATH_SIZE(LoginResponse, kBhsSize);
MPATH_AT(LoginResponse, tsih, 14);
MPATH_AT(LoginResponse, stat_sn, 24);
MPATH_AT(LoginResponse, status_class, 36);

namespace logout_reason {
inline constexpr std::uint8_t kCloseSession = 0;
inline constexpr std::uint8_t kCloseConnection = 1;
inline constexpr std::uint8_t kRecovery = 2;
} // namespace logout_reason

struct LogoutRequest {
    std::uint8_t opcode = 0x06 | kImmediate;
    std::uint8_t reason = kFinal; ///< kFinal and logout_reason::
    std::array<std::uint8_t, 2> reserved2{};
    std::uint8_t ahs_length = 0;
    Be24 data_length;
    std::array<std::uint8_t, 8> reserved8{};
    Be32 task_tag;
    Be16 cid;
    Be16 reserved22;
    Be32 cmd_sn;
    Be32 exp_stat_sn;
    std::array<std::uint8_t, 16> reserved32{};
};
MPATH_SIZE(LogoutRequest, kBhsSize);
MPATH_AT(LogoutRequest, cid, 20);

struct LogoutResponse {
    std::uint8_t opcode = 0x26;
    std::uint8_t flags = kFinal;
    std::uint8_t response = 0; ///< 0: closed
    std::uint8_t reserved3 = 0;
    std::uint8_t ahs_length = 0;
    Be24 data_length;
    std::array<std::uint8_t, 8> reserved8{};
    Be32 task_tag;
    Be32 reserved20;
    Be32 stat_sn;
    Be32 exp_cmd_sn;
    Be32 max_cmd_sn;
    Be32 reserved36;
    Be16 time2wait;
    Be16 time2retain;
    Be32 reserved44;
};
MPATH_SIZE(LogoutResponse, kBhsSize);
MPATH_AT(LogoutResponse, time2wait, 40);

namespace reject_reason {
inline constexpr std::uint8_t kDataDigestError = 0x02;
inline constexpr std::uint8_t kSnackReject = 0x03;
inline constexpr std::uint8_t kProtocolError = 0x04;
inline constexpr std::uint8_t kCommandNotSupported = 0x05;
inline constexpr std::uint8_t kTooManyImmediate = 0x06;
inline constexpr std::uint8_t kTaskInProgress = 0x07;
inline constexpr std::uint8_t kInvalidDataAck = 0x08;
inline constexpr std::uint8_t kInvalidPduField = 0x09;
inline constexpr std::uint8_t kOutOfResources = 0x0a;
inline constexpr std::uint8_t kWaitingForLogout = 0x0c;
} // namespace reject_reason

/// The header of the PDU that was rejected is the data segment.
struct Reject {
    std::uint8_t opcode = 0x3f;
    std::uint8_t flags = kFinal;
    std::uint8_t reason = 0; ///< reject_reason::
    std::uint8_t reserved3 = 0;
    std::uint8_t ahs_length = 0;
    Be24 data_length;
    std::array<std::uint8_t, 8> reserved8{};
    Be32 task_tag = kNoTag;
    Be32 reserved20;
    Be32 stat_sn;
    Be32 exp_cmd_sn;
    Be32 max_cmd_sn;
    Be32 data_sn;
    std::array<std::uint8_t, 8> reserved40{};
};
MPATH_SIZE(Reject, kBhsSize);
MPATH_AT(Reject, stat_sn, 24);

struct NopOut {
    std::uint8_t opcode = 0x00 | kImmediate;
    std::uint8_t flags = kFinal;
    std::array<std::uint8_t, 2> reserved2{};
    std::uint8_t ahs_length = 0;
    Be24 data_length;
    Lun lun{};                ///< an answer: as in the NOP-In
    Be32 task_tag;            ///< kNoTag: no answer wanted
    Be32 target_tag = kNoTag; ///< an answer: as in the NOP-In
    Be32 cmd_sn;
    Be32 exp_stat_sn;
    std::array<std::uint8_t, 16> reserved32{};
};
MPATH_SIZE(NopOut, kBhsSize);
MPATH_AT(NopOut, target_tag, 20);
MPATH_AT(NopOut, cmd_sn, 24);

struct NopIn {
    std::uint8_t opcode = 0x20;
    std::uint8_t flags = kFinal;
    std::array<std::uint8_t, 2> reserved2{};
    std::uint8_t ahs_length = 0;
    Be24 data_length;
    Lun lun{};
    Be32 task_tag = kNoTag;   ///< of the NOP-Out that this answers; kNoTag: the target asks
    Be32 target_tag = kNoTag; ///< not kNoTag: the target wants an answer
    Be32 stat_sn;             ///< taken only by an answer
    Be32 exp_cmd_sn;
    Be32 max_cmd_sn;
    std::array<std::uint8_t, 12> reserved36{};
};
MPATH_SIZE(NopIn, kBhsSize);
MPATH_AT(NopIn, target_tag, 20);
MPATH_AT(NopIn, stat_sn, 24);

} // namespace mpath::iscsi
