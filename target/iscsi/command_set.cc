// SPDX-License-Identifier: GPL-2.0-only
#include "target/iscsi/command_set.h"

#include <algorithm>

namespace mpath::target::scsi {

namespace {

namespace op = iscsi::scsi_opcode;
namespace sa = iscsi::service_action;
using answered_in::kActive;
using answered_in::kAlways;
using answered_in::kStandby;

constexpr std::uint8_t kServiceActionMask = 0x1f;
constexpr const bool Options::*kAnyOptions = nullptr;

constexpr std::array kCommands = {
    CommandInfo{op::kTestUnitReady, kNoAction, 6, false, true, kActive, kAnyOptions, {0x00}},
    CommandInfo{
        op::kRequestSense, kNoAction, 6, false, false, kAlways, kAnyOptions, {0x03, 0x01, 0, 0, 0xff}},
    CommandInfo{
        op::kInquiry, kNoAction, 6, false, false, kAlways, kAnyOptions, {0x12, 0x01, 0xff, 0xff, 0xff}},
    CommandInfo{
        op::kModeSense6, kNoAction, 6, false, true, kStandby, kAnyOptions, {0x1a, 0x08, 0xff, 0xff, 0xff}},
    CommandInfo{op::kModeSense10,
                kNoAction,
                10,
                false,
                true,
                kStandby,
                kAnyOptions,
                {0x5a, 0x18, 0xff, 0xff, 0, 0, 0, 0xff, 0xff}},
    CommandInfo{op::kReadCapacity10, kNoAction, 10, false, true, kActive, kAnyOptions, {0x25}},
    CommandInfo{op::kServiceActionIn16,
                sa::kReadCapacity16,
                16,
                false,
                true,
                kActive,
                kAnyOptions,
                {0x9e, 0x1f, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}},
    CommandInfo{op::kReportLuns,
                kNoAction,
                12,
                false,
                false,
                kAlways,
                kAnyOptions,
                {0xa0, 0, 0xff, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}},
    CommandInfo{op::kMaintenanceIn,
                sa::kReportTargetPortGroups,
                12,
                false,
                true,
                kAlways,
                &Options::ana_reporting,
                {0xa3, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}},
    CommandInfo{op::kMaintenanceIn,
                sa::kReportSupportedOpcodes,
                12,
                false,
                true,
                kStandby,
                kAnyOptions,
                {0xa3, 0x1f, 0x87, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
    CommandInfo{op::kRead10,
                kNoAction,
                10,
                true,
                true,
                kActive,
                kAnyOptions,
                {0x28, 0x18, 0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff}},
    CommandInfo{op::kRead16,
                kNoAction,
                16,
                true,
                true,
                kActive,
                kAnyOptions,
                {0x88, 0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
    CommandInfo{op::kWrite10,
                kNoAction,
                10,
                true,
                true,
                kActive,
                kAnyOptions,
                {0x2a, 0x18, 0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff}},
    CommandInfo{op::kWrite16,
                kNoAction,
                16,
                true,
                true,
                kActive,
                kAnyOptions,
                {0x8a, 0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
    CommandInfo{op::kVerify10,
                kNoAction,
                10,
                true,
                true,
                kActive,
                kAnyOptions,
                {0x2f, 0x16, 0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff}},
    CommandInfo{op::kVerify16,
                kNoAction,
                16,
                true,
                true,
                kActive,
                kAnyOptions,
                {0x8f, 0x16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
    CommandInfo{op::kSynchronizeCache10,
                kNoAction,
                10,
                true,
                true,
                kActive,
                kAnyOptions,
                {0x35, 0x02, 0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff}},
    CommandInfo{op::kSynchronizeCache16,
                kNoAction,
                16,
                true,
                true,
                kActive,
                kAnyOptions,
                {0x91, 0x02, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
    CommandInfo{
        op::kUnmap, kNoAction, 10, true, true, kActive, &Options::trim, {0x42, 0, 0, 0, 0, 0, 0, 0xff, 0xff}},
    CommandInfo{op::kWriteSame10,
                kNoAction,
                10,
                true,
                true,
                kActive,
                &Options::write_zeroes,
                {0x41, 0x08, 0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff}},
    CommandInfo{op::kWriteSame16,
                kNoAction,
                16,
                true,
                true,
                kActive,
                &Options::write_zeroes,
                {0x93, 0x09, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
};

} // namespace

const CommandInfo* find_command(const iscsi::Cdb& cdb, const Options& options) {
    const auto* found = std::find_if(kCommands.begin(), kCommands.end(), [&](const CommandInfo& known) {
        return known.opcode == cdb[0] &&
               (known.action == kNoAction || known.action == (cdb[1] & kServiceActionMask));
    });
    return found == kCommands.end() || !is_there(*found, options) ? nullptr : found;
}

std::span<const CommandInfo> all_commands() {
    return kCommands;
}

bool is_there(const CommandInfo& command, const Options& options) {
    return command.needs == nullptr || options.*command.needs;
}

} // namespace mpath::target::scsi
