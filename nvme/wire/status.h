// SPDX-License-Identifier: GPL-2.0-only
// Completion status. NVM Express Base Specification, "Status Field Definition".
#pragma once

#include <cstdint>

namespace mpath::nvme {

enum class StatusCodeType : std::uint8_t {
    generic = 0,
    command_specific = 1,
    media = 2,
    path = 3,
    vendor = 7
};

/// Status code type in bits 10:8 and status code in bits 7:0, as one number: 302h.
enum class StatusCode : std::uint16_t {
    success = 0x000,
    invalid_opcode = 0x001,
    invalid_field = 0x002,
    cid_conflict = 0x003,
    data_transfer_error = 0x004,
    internal_error = 0x006,
    abort_requested = 0x007,
    aborted_sq_deletion = 0x008,
    invalid_namespace = 0x00b,
    command_sequence_error = 0x00c,
    invalid_sgl_count = 0x00e,
    data_sgl_length_invalid = 0x00f,
    sgl_type_invalid = 0x011,
    sgl_offset_invalid = 0x016,
    keep_alive_expired = 0x019,
    keep_alive_invalid = 0x01a,
    namespace_write_protected = 0x020,
    command_interrupted = 0x021,
    transient_transport_error = 0x022,
    lba_out_of_range = 0x080,
    capacity_exceeded = 0x081,
    namespace_not_ready = 0x082,
    reservation_conflict = 0x083,

    async_event_limit_exceeded = 0x105,
    invalid_log_page = 0x109,

    connect_incompatible_format = 0x180,
    connect_busy = 0x181,
    connect_invalid_parameters = 0x182,
    connect_restart_discovery = 0x183,
    command_size_limit_exceeded = 0x183, ///< of I/O commands
    connect_invalid_host = 0x184,
    invalid_queue_type = 0x185,
    discover_restart = 0x190,
    authentication_required = 0x191,

    internal_path_error = 0x300,
    ana_persistent_loss = 0x301,
    ana_inaccessible = 0x302,
    ana_transition = 0x303,
    controller_pathing_error = 0x360,
    host_pathing_error = 0x370,
    aborted_by_host = 0x371,
};

/// A completion's status without the phase bit: the CQE's field shifted right by one.
struct Status {
    std::uint16_t field = 0;

    static constexpr std::uint16_t kDoNotRetry = 0x4000;

    constexpr Status() = default;
    constexpr explicit Status(std::uint16_t without_phase) : field(without_phase) {}
    constexpr explicit Status(StatusCode code, bool do_not_retry = false)
        : field(static_cast<std::uint16_t>(static_cast<std::uint16_t>(code) |
                                           (do_not_retry ? kDoNotRetry : 0))) {}

    /// From and to Cqe::status, whose bit 0 is the phase.
    static constexpr Status from_cqe(std::uint16_t wire) {
        return Status(static_cast<std::uint16_t>(wire >> 1));
    }
    [[nodiscard]] constexpr std::uint16_t to_cqe() const { return static_cast<std::uint16_t>(field << 1); }

    [[nodiscard]] constexpr bool ok() const { return (field & 0x7ff) == 0; }
    [[nodiscard]] constexpr StatusCode code() const { return static_cast<StatusCode>(field & 0x7ff); }
    [[nodiscard]] constexpr std::uint8_t sc() const { return static_cast<std::uint8_t>(field & 0xff); }
    [[nodiscard]] constexpr StatusCodeType sct() const {
        return static_cast<StatusCodeType>((field >> 8) & 7);
    }
    /// 0, or which of the controller's CRDT1..3 to wait before a retry.
    [[nodiscard]] constexpr unsigned crd() const { return (field >> 11) & 3; }
    [[nodiscard]] constexpr Status without_crd() const {
        return Status(static_cast<std::uint16_t>(field & ~(3U << 11)));
    }
    [[nodiscard]] constexpr bool more() const { return (field & 0x2000) != 0; }
    [[nodiscard]] constexpr bool dnr() const { return (field & kDoNotRetry) != 0; }

    bool operator==(const Status&) const = default;
};

} // namespace mpath::nvme
