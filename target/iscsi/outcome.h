// SPDX-License-Identifier: GPL-2.0-only
// How SCSI commands end, and the endings that this target knows.
#pragma once

#include <cstdint>

#include "iscsi/wire/scsi.h"

namespace mpath::target::scsi {

/// SCSI status and, with CHECK CONDITION, what the sense data says.
struct Outcome {
    std::uint8_t status = iscsi::scsi_status::kGood;
    std::uint8_t key = 0;
    std::uint8_t asc = 0;
    std::uint8_t ascq = 0;

    [[nodiscard]] bool good() const { return status == iscsi::scsi_status::kGood; }
    [[nodiscard]] bool has_sense() const { return status == iscsi::scsi_status::kCheckCondition; }
    bool operator==(const Outcome&) const = default;
};

constexpr Outcome check_condition(std::uint8_t key, std::uint8_t asc, std::uint8_t ascq) {
    return {iscsi::scsi_status::kCheckCondition, key, asc, ascq};
}

namespace outcome {
namespace sense_key = iscsi::sense_key;
inline constexpr Outcome kGood{};
inline constexpr Outcome kInvalidOpcode = check_condition(sense_key::kIllegalRequest, 0x20, 0x00);
inline constexpr Outcome kLbaOutOfRange = check_condition(sense_key::kIllegalRequest, 0x21, 0x00);
inline constexpr Outcome kInvalidField = check_condition(sense_key::kIllegalRequest, 0x24, 0x00);
inline constexpr Outcome kNoSuchLun = check_condition(sense_key::kIllegalRequest, 0x25, 0x00);
inline constexpr Outcome kInvalidParameter = check_condition(sense_key::kIllegalRequest, 0x26, 0x00);
inline constexpr Outcome kParameterListLength = check_condition(sense_key::kIllegalRequest, 0x1a, 0x00);
inline constexpr Outcome kWriteProtected = check_condition(sense_key::kDataProtect, 0x27, 0x00);
inline constexpr Outcome kTransitioning = check_condition(sense_key::kNotReady, 0x04, 0x0a);
inline constexpr Outcome kStandby = check_condition(sense_key::kNotReady, 0x04, 0x0b);
inline constexpr Outcome kUnavailable = check_condition(sense_key::kNotReady, 0x04, 0x0c);
inline constexpr Outcome kOffline = check_condition(sense_key::kNotReady, 0x04, 0x12);
inline constexpr Outcome kMiscompare = check_condition(0x0e, 0x1d, 0x00);
/// Its data did not come through undamaged.
inline constexpr Outcome kProtocolCrc = check_condition(sense_key::kAborted, 0x47, 0x05);
inline constexpr Outcome kPowerOn = check_condition(sense_key::kUnitAttention, 0x29, 0x00);
inline constexpr Outcome kBusDeviceReset = check_condition(sense_key::kUnitAttention, 0x29, 0x03);
inline constexpr Outcome kAccessStateChanged = check_condition(sense_key::kUnitAttention, 0x2a, 0x06);
inline constexpr Outcome kCapacityChanged = check_condition(sense_key::kUnitAttention, 0x2a, 0x09);
inline constexpr Outcome kCommandsCleared = check_condition(sense_key::kUnitAttention, 0x2f, 0x00);
inline constexpr Outcome kLunsChanged = check_condition(sense_key::kUnitAttention, 0x3f, 0x0e);
} // namespace outcome

/// Sense data of it, fixed format. Good gives "no sense".
inline iscsi::FixedSense sense_of(const Outcome& outcome) {
    iscsi::FixedSense sense;
    sense.key = outcome.key;
    sense.asc = outcome.asc;
    sense.ascq = outcome.ascq;
    return sense;
}

} // namespace mpath::target::scsi
