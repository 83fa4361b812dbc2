// SPDX-License-Identifier: GPL-2.0-only
// What an iSCSI initiator asks for, sorted as scripts speak of it.
#pragma once

#include <cstdint>

#include "iscsi/wire/pdu.h"

namespace mpath::target {

namespace request_kind {
inline constexpr std::uint32_t kRead = 1U << 0;
inline constexpr std::uint32_t kWrite = 1U << 1;
inline constexpr std::uint32_t kFlush = 1U << 2;
inline constexpr std::uint32_t kUnmap = 1U << 3;
inline constexpr std::uint32_t kWriteSame = 1U << 4;
inline constexpr std::uint32_t kVerify = 1U << 5;
inline constexpr std::uint32_t kInquiry = 1U << 6;
inline constexpr std::uint32_t kCapacity = 1U << 7;
inline constexpr std::uint32_t kReportLuns = 1U << 8;
inline constexpr std::uint32_t kPortGroups = 1U << 9; ///< REPORT TARGET PORT GROUPS
inline constexpr std::uint32_t kTestUnitReady = 1U << 10;
inline constexpr std::uint32_t kOtherScsi = 1U << 11;
inline constexpr std::uint32_t kLogin = 1U << 12;
inline constexpr std::uint32_t kText = 1U << 13;
inline constexpr std::uint32_t kLogout = 1U << 14;
inline constexpr std::uint32_t kNop = 1U << 15;
inline constexpr std::uint32_t kTaskManagement = 1U << 16;
inline constexpr std::uint32_t kNothing = 0; ///< data and such

/// What a job does to a device.
inline constexpr std::uint32_t kIo = kRead | kWrite | kFlush | kUnmap | kWriteSame | kVerify;
inline constexpr std::uint32_t kAll = ~0U;
} // namespace request_kind

/// The one of request_kind:: that it is.
std::uint32_t kind_of(const iscsi::Bhs& request);

} // namespace mpath::target
