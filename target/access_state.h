// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "iscsi/wire/scsi.h"
#include "nvme/wire/log_page.h"

namespace mpath::target {

enum class Protocol : std::uint8_t { nvme_tcp, iscsi };

/// How well a device can be reached through a listener: as ANA says it, and as ALUA does. Each state of one
/// has one of the other; ALUA's standby and unavailable are both inaccessible to ANA.
struct AccessState {
    nvme::AnaState ana = nvme::AnaState::optimized;
    iscsi::AluaState alua = iscsi::AluaState::active_optimized;

    constexpr AccessState() = default;
    constexpr AccessState(nvme::AnaState state, iscsi::AluaState name) : ana(state), alua(name) {}
    AccessState(nvme::AnaState state); // NOLINT(google-explicit-constructor): every ANA state is one
    bool operator==(const AccessState&) const = default;
};

/// ANA's words, and ALUA's: standby, unavailable, offline, transitioning.
Result<AccessState> parse_ana(std::string_view text);
/// Whether NVMe has that word.
bool is_ana_word(std::string_view text);

std::string_view to_string(nvme::AnaState state);
/// As who speaks this protocol calls it.
std::string_view to_string(const AccessState& state, Protocol protocol);

} // namespace mpath::target
