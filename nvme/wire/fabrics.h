// SPDX-License-Identifier: GPL-2.0-only
// Fabrics commands. NVM Express Base Specification, "Fabrics Command Set" (formerly NVMe over Fabrics).
#pragma once

#include <array>
#include <cstdint>

#include "base/endian.h"
#include "base/layout.h"
#include "nvme/wire/command.h"

namespace mpath::nvme {

inline constexpr std::uint8_t kFabricsOpcode = 0x7f;

enum class FabricsType : std::uint8_t {
    property_set = 0x00,
    connect = 0x01,
    property_get = 0x04,
    auth_send = 0x05,
    auth_receive = 0x06,
    disconnect = 0x08,
};

/// What all Fabrics commands share.
struct FabricsCommand {
    std::uint8_t opcode = kFabricsOpcode;
    std::uint8_t flags = kSqeFlagsSgl;
    Le16 cid;
    std::uint8_t fctype = 0; ///< FabricsType
    std::array<std::uint8_t, 19> reserved5{};
    SglDescriptor sgl;
    std::array<std::uint8_t, 24> specific40{};
};
MPATH_SIZE(FabricsCommand, 64);
MPATH_AT(FabricsCommand, opcode, 0);
MPATH_AT(FabricsCommand, flags, 1);
MPATH_AT(FabricsCommand, cid, 2);
MPATH_AT(FabricsCommand, fctype, 4);
MPATH_AT(FabricsCommand, reserved5, 5);
MPATH_AT(FabricsCommand, sgl, 24);
MPATH_AT(FabricsCommand, specific40, 40);

inline constexpr std::uint8_t kCattrDisableSqFlowControl = 1U << 2;

struct ConnectCommand {
    std::uint8_t opcode = kFabricsOpcode;
    std::uint8_t flags = kSqeFlagsSgl;
    Le16 cid;
    std::uint8_t fctype = static_cast<std::uint8_t>(FabricsType::connect);
    std::array<std::uint8_t, 19> reserved5{};
    SglDescriptor sgl;
    Le16 recfmt; ///< 0
    Le16 qid;
    Le16 sqsize; ///< 0's based
    std::uint8_t cattr = 0;
    std::uint8_t reserved47 = 0;
    Le32 kato; ///< milliseconds; 0 = no keep-alive
    std::array<std::uint8_t, 12> reserved52{};
};
MPATH_SIZE(ConnectCommand, 64);
MPATH_AT(ConnectCommand, opcode, 0);
MPATH_AT(ConnectCommand, flags, 1);
MPATH_AT(ConnectCommand, cid, 2);
MPATH_AT(ConnectCommand, fctype, 4);
MPATH_AT(ConnectCommand, reserved5, 5);
MPATH_AT(ConnectCommand, sgl, 24);
MPATH_AT(ConnectCommand, recfmt, 40);
MPATH_AT(ConnectCommand, qid, 42);
MPATH_AT(ConnectCommand, sqsize, 44);
MPATH_AT(ConnectCommand, cattr, 46);
MPATH_AT(ConnectCommand, reserved47, 47);
MPATH_AT(ConnectCommand, kato, 48);
MPATH_AT(ConnectCommand, reserved52, 52);

/// Controller ID in the data of an admin Connect: the controller picks one.
inline constexpr std::uint16_t kDynamicController = 0xffff;

struct ConnectData {
    std::array<std::uint8_t, 16> hostid{};
    Le16 cntlid;
    std::array<std::uint8_t, 238> reserved18{};
    std::array<char, 256> subnqn{};  ///< ends with NUL
    std::array<char, 256> hostnqn{}; ///< ends with NUL
    std::array<std::uint8_t, 256> reserved768{};
};
MPATH_SIZE(ConnectData, 1024);
MPATH_AT(ConnectData, hostid, 0);
MPATH_AT(ConnectData, cntlid, 16);
MPATH_AT(ConnectData, reserved18, 18);
MPATH_AT(ConnectData, subnqn, 256);
MPATH_AT(ConnectData, hostnqn, 512);
MPATH_AT(ConnectData, reserved768, 768);

/// An NQN's text is at most 223 bytes; the fields leave room for its end.
inline constexpr std::size_t kMaxNqnLength = 223;

/// Completion dw0 of a successful Connect: bits 15:0 are the controller ID.
inline constexpr std::uint32_t kConnectAuthRequired = 1U << 17;         ///< ATR
inline constexpr std::uint32_t kConnectSecureConcatRequired = 1U << 18; ///< ASCR

/// Completion dw0 of a Connect refused with Invalid Parameters: bits 15:0 IPO, the offset of the parameter,
/// bit 16 IATTR, whether it is one into the data (1) or into the SQE (0).
inline constexpr std::uint32_t kConnectInvalidInData = 1U << 16;

struct PropertyGetCommand {
    std::uint8_t opcode = kFabricsOpcode;
    std::uint8_t flags = kSqeFlagsSgl;
    Le16 cid;
    std::uint8_t fctype = static_cast<std::uint8_t>(FabricsType::property_get);
    std::array<std::uint8_t, 35> reserved5{};
    std::uint8_t attributes = 0; ///< bits 2:0: PropertySize
    std::array<std::uint8_t, 3> reserved41{};
    Le32 offset;
    std::array<std::uint8_t, 16> reserved48{};
};
MPATH_SIZE(PropertyGetCommand, 64);
MPATH_AT(PropertyGetCommand, opcode, 0);
MPATH_AT(PropertyGetCommand, flags, 1);
MPATH_AT(PropertyGetCommand, cid, 2);
MPATH_AT(PropertyGetCommand, fctype, 4);
MPATH_AT(PropertyGetCommand, reserved5, 5);
MPATH_AT(PropertyGetCommand, attributes, 40);
MPATH_AT(PropertyGetCommand, reserved41, 41);
MPATH_AT(PropertyGetCommand, offset, 44);
MPATH_AT(PropertyGetCommand, reserved48, 48);

struct PropertySetCommand {
    std::uint8_t opcode = kFabricsOpcode;
    std::uint8_t flags = kSqeFlagsSgl;
    Le16 cid;
    std::uint8_t fctype = static_cast<std::uint8_t>(FabricsType::property_set);
    std::array<std::uint8_t, 35> reserved5{};
    std::uint8_t attributes = 0; ///< bits 2:0: PropertySize
    std::array<std::uint8_t, 3> reserved41{};
    Le32 offset;
    Le64 value;
    std::array<std::uint8_t, 8> reserved56{};
};
MPATH_SIZE(PropertySetCommand, 64);
MPATH_AT(PropertySetCommand, opcode, 0);
MPATH_AT(PropertySetCommand, flags, 1);
MPATH_AT(PropertySetCommand, cid, 2);
MPATH_AT(PropertySetCommand, fctype, 4);
MPATH_AT(PropertySetCommand, reserved5, 5);
MPATH_AT(PropertySetCommand, attributes, 40);
MPATH_AT(PropertySetCommand, reserved41, 41);
MPATH_AT(PropertySetCommand, offset, 44);
MPATH_AT(PropertySetCommand, value, 48);
MPATH_AT(PropertySetCommand, reserved56, 56);

enum class PropertySize : std::uint8_t { bytes4 = 0, bytes8 = 1 };

struct DisconnectCommand {
    std::uint8_t opcode = kFabricsOpcode;
    std::uint8_t flags = kSqeFlagsSgl;
    Le16 cid;
    std::uint8_t fctype = static_cast<std::uint8_t>(FabricsType::disconnect);
    std::array<std::uint8_t, 35> reserved5{};
    Le16 recfmt; ///< 0
    std::array<std::uint8_t, 22> reserved42{};
};
MPATH_SIZE(DisconnectCommand, 64);
MPATH_AT(DisconnectCommand, opcode, 0);
MPATH_AT(DisconnectCommand, flags, 1);
MPATH_AT(DisconnectCommand, cid, 2);
MPATH_AT(DisconnectCommand, fctype, 4);
MPATH_AT(DisconnectCommand, reserved5, 5);
MPATH_AT(DisconnectCommand, recfmt, 40);
MPATH_AT(DisconnectCommand, reserved42, 42);

} // namespace mpath::nvme
