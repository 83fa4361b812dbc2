// SPDX-License-Identifier: GPL-2.0-only
// What a target answers a login with. RFC 7143, section 11.13.5.
#pragma once

#include <cstdint>

namespace mpath::target::scsi {

/// Class in the upper byte, detail in the lower.
using LoginStatus = std::uint16_t;

namespace login_status {
inline constexpr LoginStatus kSuccess = 0x0000;
inline constexpr LoginStatus kInitiatorError = 0x0200;
inline constexpr LoginStatus kAuthenticationFailure = 0x0201;
inline constexpr LoginStatus kForbidden = 0x0202;
inline constexpr LoginStatus kNotFound = 0x0203;
inline constexpr LoginStatus kTargetRemoved = 0x0204;
inline constexpr LoginStatus kUnsupportedVersion = 0x0205;
inline constexpr LoginStatus kTooManyConnections = 0x0206;
inline constexpr LoginStatus kMissingParameter = 0x0207;
inline constexpr LoginStatus kSessionTypeNotSupported = 0x0209;
inline constexpr LoginStatus kNoSuchSession = 0x020a;
inline constexpr LoginStatus kInvalidDuringLogin = 0x020b;
inline constexpr LoginStatus kTargetError = 0x0300;
inline constexpr LoginStatus kServiceUnavailable = 0x0301;
inline constexpr LoginStatus kOutOfResources = 0x0302;
} // namespace login_status

} // namespace mpath::target::scsi
