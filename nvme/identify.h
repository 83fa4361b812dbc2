// SPDX-License-Identifier: GPL-2.0-only
// Identify data judged and turned into facts: pure functions. What this initiator can't work with is refused
// with a sentence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "nvme/wire/identify.h"
#include "nvme/wire/registers.h"
#include "path/device.h"

namespace mpath::nvme {

struct ControllerIdentity {
    DeviceModel model;
    std::uint16_t controller_id = 0;
    std::uint64_t mdts = 0;         ///< bytes per command; 0 = no limit
    std::uint32_t in_capsule = 0;   ///< bytes of data an I/O command capsule may carry
    std::uint32_t events = 0;       ///< OAES: async_event bits the controller can send
    std::uint32_t namespaces = 0;   ///< NN, or MNAN where that is said
    std::uint16_t max_commands = 0; ///< outstanding per I/O queue; 0 = not said
    bool dataset_management = false;
    std::uint64_t max_trim_blocks = 0; ///< of one range, DMRSL; 0 = no limit said
    bool write_zeroes = false;
    std::uint64_t max_write_zeroes = 0; ///< bytes, WZSL; 0 = no limit said
    bool volatile_write_cache = false;
    Nanoseconds shutdown_time = 0;             ///< RTD3E; 0 = not said
    std::array<Nanoseconds, 3> retry_delays{}; ///< CRDT1..3; 0 = not said
    Nanoseconds command_quiesce_time = 0;      ///< CQT; 0 = not said
    Nanoseconds keep_alive_granularity = 0;    ///< KAS; 0 = keep-alive not supported
    bool traffic_based_keep_alive = false;
    bool ana_reporting = false;
    std::uint32_t anatt_seconds = 0;
    std::uint32_t max_ana_group = 0; ///< ANAGRPMAX
    std::uint32_t ana_groups = 0;    ///< NANAGRPID
};

/// ENOTSUP for a controller that this initiator can't use, EPROTO for one whose data makes no sense.
[[nodiscard]] Result<ControllerIdentity> decode_controller(const IdentifyController& data,
                                                           Capabilities capabilities);

/// Adds the limits of the NVM command set (CNS 06h), which controllers know since NVMe 2.0, some before.
void add_nvm_limits(ControllerIdentity& identity, const IdentifyNvmController& data,
                    Capabilities capabilities);

struct NamespaceFacts {
    DeviceLimits limits;
    std::uint32_t ana_group = 0; ///< ANAGRPID
};

/// ENODEV for a namespace that is not there, EMEDIUMTYPE for one with metadata, protection information or a
/// block size that this initiator does not do.
[[nodiscard]] Result<NamespaceFacts> decode_namespace(const IdentifyNamespace& data, std::uint32_t nsid,
                                                      const ControllerIdentity& controller);

/// The strongest identifier of the descriptor list (CNS 03h; empty when the controller has none), then those
/// of Identify Namespace: UUID, NGUID, EUI64, as Linux prefers them. EPROTO for a malformed list,
/// EMEDIUMTYPE for a namespace of another command set than NVM.
[[nodiscard]] Result<DeviceIdentity> decode_identity(std::span<const std::byte> descriptors,
                                                     const IdentifyNamespace& data, std::uint32_t nsid);

/// NSIDs of a list (CNS 02h): up to the first 0.
[[nodiscard]] std::vector<std::uint32_t> decode_namespace_list(std::span<const std::byte> list);

} // namespace mpath::nvme
