// SPDX-License-Identifier: GPL-2.0-only
#include "target/iscsi/session.h"

#include <bit>

namespace mpath::target::scsi {

Outcome outcome_of(Attention attention) {
    switch (attention) {
    case Attention::power_on:
        return outcome::kPowerOn;
    case Attention::bus_device_reset:
        return outcome::kBusDeviceReset;
    case Attention::commands_cleared:
        return outcome::kCommandsCleared;
    case Attention::luns_changed:
        return outcome::kLunsChanged;
    case Attention::capacity_changed:
        return outcome::kCapacityChanged;
    default:
        return outcome::kAccessStateChanged;
    }
}

Attention Session::take_attention(std::uint32_t nsid) {
    std::uint8_t& pending = attentions_[nsid - 1];
    const auto first = static_cast<unsigned>(std::countr_zero(pending));
    pending = static_cast<std::uint8_t>(pending & ~(1U << first));
    return static_cast<Attention>(first);
}

} // namespace mpath::target::scsi
