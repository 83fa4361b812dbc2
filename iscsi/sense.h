// SPDX-License-Identifier: GPL-2.0-only
// How a SCSI command ended, and what becomes of the I/O it was for. SAM-5 (status), SPC-4 (sense data).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "iscsi/wire/scsi.h"
#include "path/error_class.h"

namespace mpath::iscsi {

/// Status of a command; with CHECK CONDITION, sense key, additional sense code and qualifier.
struct Sense {
    std::uint8_t status = scsi_status::kGood;
    std::uint8_t key = 0;
    std::uint8_t asc = 0;
    std::uint8_t ascq = 0;
    bool deferred = false; ///< of an earlier command, answered with success; this one was not carried out

    bool operator==(const Sense&) const = default;
};

/// `bytes`: sense data in fixed or descriptor format, as much of it as came. What is missing or in another
/// format leaves key and codes 0.
[[nodiscard]] Sense parse_sense(std::uint8_t status, std::span<const std::byte> bytes) noexcept;

/// Request::protocol_status: a byte each, the status first; bit 7 of the key's: deferred.
[[nodiscard]] constexpr std::uint32_t pack(const Sense& sense) noexcept {
    const unsigned key = sense.key | (sense.deferred ? 0x80U : 0U);
    return std::uint32_t{sense.status} << 24 | key << 16 | std::uint32_t{sense.asc} << 8 | sense.ascq;
}
[[nodiscard]] constexpr Sense unpack(std::uint32_t word) noexcept {
    return {.status = static_cast<std::uint8_t>(word >> 24),
            .key = static_cast<std::uint8_t>(word >> 16 & 0x0f),
            .asc = static_cast<std::uint8_t>(word >> 8),
            .ascq = static_cast<std::uint8_t>(word),
            .deferred = (word & 0x800000) != 0};
}

/// The rules of Linux's scsi_dh_alua where it has one; docs/architecture.md has the table.
[[nodiscard]] ErrorClass classify(const Sense& sense) noexcept;

/// Something happened at the device that every initiator is told of once: the command was not carried out.
[[nodiscard]] constexpr bool is_unit_attention(const Sense& sense) noexcept {
    return sense.status == scsi_status::kCheckCondition && sense.key == sense_key::kUnitAttention;
}

/// There is no logical unit behind the LUN, or none any more.
[[nodiscard]] constexpr bool is_unit_missing(const Sense& sense) noexcept {
    return sense.status == scsi_status::kCheckCondition && sense.key == sense_key::kIllegalRequest &&
           sense.asc == 0x25;
}

/// The state for which a command was refused, if it was for that. SPC-4, "Asymmetric logical unit access".
[[nodiscard]] std::optional<AluaState> refused_for(const Sense& sense) noexcept;

/// What a unit attention, or a refusal, is reason to look at again.
struct Attention {
    bool state = false;    ///< of the target port group
    bool capacity = false; ///< size and limits
    bool identity = false; ///< which unit it is, and whether it is there

    [[nodiscard]] bool any() const noexcept { return state || capacity || identity; }
};
[[nodiscard]] Attention attention_of(const Sense& sense) noexcept;

/// "status 02h, sense 2/04/0B (logical unit not accessible, target port in standby state)".
[[nodiscard]] std::string status_text(const Sense& sense);

} // namespace mpath::iscsi
