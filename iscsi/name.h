// SPDX-License-Identifier: GPL-2.0-only
// Names of initiators, targets and sessions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "iscsi/wire/pdu.h"

namespace mpath::iscsi {

inline constexpr std::size_t kMaxNameLength = 223; ///< bytes

/// EINVAL with a sentence that begins with "iSCSI name" when `name` can't be one: iqn., eui. or naa., as
/// section 4.2.7 of RFC 7143 has them.
[[nodiscard]] Result<void> check_name(std::string_view name);

/// Where the initiator's name can come from; absent ones are skipped.
struct InitiatorNames {
    std::optional<std::string> option; ///< initiator=
    std::optional<std::string> file;   ///< content of /etc/iscsi/initiatorname.iscsi
    std::string host;                  ///< name of this host, from which one is generated
};

/// Option, else file, else generated.
[[nodiscard]] Result<std::string> choose_initiator_name(const InitiatorNames& names);

/// The same with this machine's file and name; nullptr: the option is absent.
[[nodiscard]] Result<std::string> initiator_name(const char* option);

/// What the ISIDs of one process have in common: random, so that no two processes of a host are one initiator
/// port.
using IsidBase = std::array<std::uint8_t, 3>;

[[nodiscard]] IsidBase random_isid_base();

/// ISID number `session` of `base` (RFC 7143, section 11.12.5, type "random"). A session that comes back has
/// the same one, every other session of the process another.
[[nodiscard]] Isid isid(const IsidBase& base, std::uint16_t session);

} // namespace mpath::iscsi
