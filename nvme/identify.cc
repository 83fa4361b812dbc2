// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/identify.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "nvme/wire/command.h"

namespace mpath::nvme {
namespace {

constexpr unsigned kSqeLog2 = 6;
constexpr unsigned kCqeLog2 = 4;
constexpr unsigned kMinCapsuleUnits = 4; ///< IOCCSZ: 16-byte units, the SQE alone
constexpr unsigned kMinBlockLog2 = 9;
constexpr unsigned kMaxBlockLog2 = 16;
constexpr std::uint8_t kTypeDiscovery = 2;
constexpr std::uint8_t kTypeAdministrative = 3;
constexpr std::uint8_t kProtectionTypeMask = 0x07;
constexpr std::uint32_t kSglsTypeMask = 0x3;
/// Largest power of two that fits DeviceLimits::max_transfer.
constexpr std::uint64_t kMaxTransfer = 1ULL << 31;

/// What one command transfers at most when the controller names no limit (MDTS 0). Linux's target says so and
/// still refuses more than this (drivers/nvme/target/tcp.c, since 6.12).
constexpr std::uint64_t kTransferWithoutLimit = 4ULL << 20;

/// Fixed-width text padded with blanks; bytes that can't be printed become '?'.
std::string padded_text(std::span<const char> field) {
    std::string text;
    for (const char c : field) {
        if (c == '\0') {
            break;
        }
        text.push_back(c >= 0x20 && c < 0x7f ? c : '?');
    }
    const std::size_t last = text.find_last_not_of(' ');
    text.resize(last == std::string::npos ? 0 : last + 1);
    return text;
}

std::string hex(std::span<const std::uint8_t> bytes) {
    std::string text;
    for (const std::uint8_t byte : bytes) {
        text += fmt::format("{:02x}", byte);
    }
    return text;
}

std::string uuid_text(std::span<const std::uint8_t> bytes) {
    return fmt::format("{}-{}-{}-{}-{}", hex(bytes.subspan(0, 4)), hex(bytes.subspan(4, 2)),
                       hex(bytes.subspan(6, 2)), hex(bytes.subspan(8, 2)), hex(bytes.subspan(10, 6)));
}

bool all_zero(std::span<const std::uint8_t> bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

/// Entry sizes a controller takes: bits 3:0 the least, 7:4 the most, as powers of two.
bool entry_size_ok(std::uint8_t field, unsigned log2) {
    return (field & 0x0fU) <= log2 && (field >> 4U) >= log2;
}

/// Keeps the stronger of what is known and what is offered; an identifier of zeroes is none.
void offer(DeviceIdentity& known, DeviceIdentity::Kind kind, std::span<const std::uint8_t> bytes) {
    if (kind > known.kind && !all_zero(bytes)) {
        known = {kind, kind == DeviceIdentity::Kind::uuid ? uuid_text(bytes) : hex(bytes)};
    }
}

std::size_t identifier_length(NamespaceIdType type) {
    switch (type) {
    case NamespaceIdType::eui64:
        return 8;
    case NamespaceIdType::nguid:
    case NamespaceIdType::uuid:
        return 16;
    case NamespaceIdType::command_set:
        return 1;
    }
    return 0; // a type of a later standard: any length
}

} // namespace

Result<ControllerIdentity> decode_controller(const IdentifyController& data, Capabilities capabilities) {
    if (data.controller_type == kTypeDiscovery || data.controller_type == kTypeAdministrative) {
        return failure(ENOTSUP,
                       "this is {} controller, which has no namespaces: name the NQN of an I/O subsystem",
                       data.controller_type == kTypeDiscovery ? "a discovery" : "an administrative");
    }
    if (!entry_size_ok(data.sqes, kSqeLog2) || !entry_size_ok(data.cqes, kCqeLog2)) {
        return failure(ENOTSUP,
                       "the controller does not take queue entries of 64 and 16 bytes (SQES {:02x}h, CQES "
                       "{:02x}h)",
                       data.sqes, data.cqes);
    }
    if (data.icdoff != 0) {
        return failure(ENOTSUP,
                       "the controller wants in-capsule data at an offset (ICDOFF {}), which this initiator "
                       "does not do",
                       data.icdoff.get());
    }
    if (data.ioccsz < kMinCapsuleUnits) {
        return failure(EPROTO, "the controller's I/O command capsules are smaller than a command (IOCCSZ {})",
                       data.ioccsz.get());
    }
    if ((data.sgls & kSglsTypeMask) == 0) {
        return failure(ENOTSUP, "the controller does not support SGLs (SGLS {:08x}h), which NVMe/TCP needs",
                       data.sgls.get());
    }

    ControllerIdentity identity;
    identity.model = {padded_text(data.model), padded_text(data.serial), padded_text(data.firmware)};
    identity.controller_id = data.cntlid;
    if (data.mdts != 0 && data.mdts < 32) {
        identity.mdts = capabilities.min_page_size() << data.mdts;
    }
    if ((data.sgls & kSglsOffsetInCapsule) != 0) {
        const std::uint64_t room = (std::uint64_t{data.ioccsz} - kMinCapsuleUnits) * 16;
        identity.in_capsule = static_cast<std::uint32_t>(std::min(room, kMaxTransfer));
    }
    identity.events = data.oaes;
    identity.namespaces = data.mnan != 0 ? data.mnan : data.nn;
    identity.max_commands = data.maxcmd;
    identity.dataset_management = (data.oncs & oncs::kDatasetManagement) != 0;
    identity.write_zeroes = (data.oncs & oncs::kWriteZeroes) != 0;
    identity.volatile_write_cache = (data.vwc & kVwcPresent) != 0;
    identity.shutdown_time = std::uint64_t{data.rtd3e} * kMicrosecond;
    std::transform(data.crdt.begin(), data.crdt.end(), identity.retry_delays.begin(),
                   [](Le16 delay) { return std::uint64_t{delay} * 100 * kMillisecond; });
    identity.command_quiesce_time = std::uint64_t{data.cqt} * kMillisecond;
    identity.keep_alive_granularity = std::uint64_t{data.kas} * 100 * kMillisecond;
    identity.traffic_based_keep_alive = (data.ctratt & ctratt::kTrafficBasedKeepAlive) != 0;
    identity.ana_reporting = (data.cmic & cmic::kAnaReporting) != 0;
    identity.anatt_seconds = data.anatt;
    identity.max_ana_group = data.anagrpmax;
    identity.ana_groups = data.nanagrpid;
    if (identity.ana_reporting && (identity.max_ana_group == 0 || identity.ana_groups == 0)) {
        return failure(EPROTO, "the controller reports ANA but has no groups (ANAGRPMAX {}, NANAGRPID {})",
                       identity.max_ana_group, identity.ana_groups);
    }
    return identity;
}

void add_nvm_limits(ControllerIdentity& identity, const IdentifyNvmController& data,
                    Capabilities capabilities) {
    identity.max_trim_blocks = data.dmrsl;
    if (data.wzsl != 0 && data.wzsl < 32) {
        identity.max_write_zeroes = capabilities.min_page_size() << data.wzsl;
    }
}

Result<NamespaceFacts> decode_namespace(const IdentifyNamespace& data, std::uint32_t nsid,
                                        const ControllerIdentity& controller) {
    if (data.nsze == 0) {
        return failure(ENODEV, "namespace {} has no blocks: it is inactive or not ready", nsid);
    }
    const unsigned format = data.format_in_use();
    const LbaFormat& lba = data.lbaf[format];
    if ((data.dps & kProtectionTypeMask) != 0) {
        return failure(EMEDIUMTYPE,
                       "namespace {} is formatted with protection information (type {}), which this "
                       "initiator does not do: format it without",
                       nsid, data.dps & kProtectionTypeMask);
    }
    if (lba.metadata_size != 0) {
        return failure(EMEDIUMTYPE,
                       "namespace {} is formatted with {} bytes of metadata per block, which this "
                       "initiator does not do: format it without",
                       nsid, lba.metadata_size.get());
    }
    if (lba.lbads < kMinBlockLog2 || lba.lbads > kMaxBlockLog2) {
        return failure(EMEDIUMTYPE,
                       "namespace {} has blocks of 2^{} bytes (LBA format {}); this initiator does 512 "
                       "bytes to 64 KiB",
                       nsid, lba.lbads, format);
    }
    if (data.nsze > (static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) >> lba.lbads)) {
        return failure(EPROTO,
                       "namespace {} says it has {} blocks of {} bytes, more than any file offset reaches",
                       nsid, data.nsze.get(), 1U << lba.lbads);
    }
    NamespaceFacts facts;
    facts.ana_group = data.anagrpid;
    DeviceLimits& limits = facts.limits;
    limits.block_size = 1U << lba.lbads;
    limits.size = data.nsze << lba.lbads;
    const std::uint64_t limit =
        controller.mdts == 0 ? kTransferWithoutLimit : std::min(controller.mdts, kMaxTransfer);
    const std::uint64_t transfer = std::min(std::uint64_t{kMaxBlocksPerCommand} << lba.lbads, limit);
    limits.max_transfer = static_cast<std::uint32_t>(transfer / limits.block_size * limits.block_size);
    if (limits.max_transfer == 0) {
        return failure(EPROTO, "namespace {} has blocks of {} bytes, but one command may transfer only {}",
                       nsid, limits.block_size, controller.mdts);
    }
    limits.boundary = std::uint64_t{data.noiob} << lba.lbads;
    limits.can_trim = controller.dataset_management;
    limits.max_trim = controller.max_trim_blocks << lba.lbads;
    limits.can_write_zeroes = controller.write_zeroes;
    limits.max_write_zeroes = controller.max_write_zeroes;
    limits.can_flush = controller.volatile_write_cache;
    limits.read_only = (data.nsattr & kNsattrWriteProtected) != 0;
    return facts;
}

Result<DeviceIdentity> decode_identity(std::span<const std::byte> descriptors, const IdentifyNamespace& data,
                                       std::uint32_t nsid) {
    DeviceIdentity identity;
    std::size_t offset = 0;
    NamespaceDescriptor header;
    while (descriptors.size() - offset >= sizeof header) {
        std::memcpy(&header, descriptors.data() + offset, sizeof header);
        if (header.length == 0) {
            break;
        }
        offset += sizeof header;
        const auto type = static_cast<NamespaceIdType>(header.type);
        const std::size_t expected = identifier_length(type);
        if (header.length > descriptors.size() - offset || (expected != 0 && header.length != expected)) {
            return failure(EPROTO,
                           "namespace {} has an identification descriptor of type {} with a wrong length "
                           "({})",
                           nsid, header.type, header.length);
        }
        const std::span value(reinterpret_cast<const std::uint8_t*>(descriptors.data() + offset),
                              header.length);
        offset += header.length;
        switch (type) {
        case NamespaceIdType::eui64:
            offer(identity, DeviceIdentity::Kind::eui64, value);
            break;
        case NamespaceIdType::nguid:
            offer(identity, DeviceIdentity::Kind::nguid, value);
            break;
        case NamespaceIdType::uuid:
            offer(identity, DeviceIdentity::Kind::uuid, value);
            break;
        case NamespaceIdType::command_set:
            if (value[0] != 0) {
                return failure(EMEDIUMTYPE,
                               "namespace {} is of command set {}, this initiator does only NVM (0)", nsid,
                               value[0]);
            }
            break;
        }
    }
    offer(identity, DeviceIdentity::Kind::nguid, data.nguid);
    offer(identity, DeviceIdentity::Kind::eui64, data.eui64);
    return identity;
}

std::vector<std::uint32_t> decode_namespace_list(std::span<const std::byte> list) {
    std::vector<std::uint32_t> nsids;
    for (std::size_t offset = 0; offset + sizeof(Le32) <= list.size(); offset += sizeof(Le32)) {
        Le32 nsid;
        std::memcpy(&nsid, list.data() + offset, sizeof nsid);
        if (nsid == 0) {
            break;
        }
        nsids.push_back(nsid);
    }
    return nsids;
}

} // namespace mpath::nvme
