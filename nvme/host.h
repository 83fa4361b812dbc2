// SPDX-License-Identifier: GPL-2.0-only
// How this host names itself to a subsystem.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace mpath::nvme {

/// The host as it names itself in Connect.
struct HostIdentity {
    std::string nqn;
    std::array<std::uint8_t, 16> id{}; ///< in the order a UUID is written

    bool operator==(const HostIdentity&) const = default;
    /// The identifier as a UUID.
    [[nodiscard]] std::string id_text() const;
};

/// Where the two names can come from; absent ones are skipped.
struct HostNames {
    std::optional<std::string> option_nqn; ///< hostnqn=
    std::optional<std::string> option_id;  ///< hostid=
    std::optional<std::string> file_nqn;   ///< /etc/nvme/hostnqn
    std::optional<std::string> file_id;    ///< /etc/nvme/hostid
    std::string generated_nqn;
    std::string generated_id;
};

/// The NQN: option, else file, else generated. The identifier: option; else, with an NQN out of the option,
/// the UUID in it; else the file; else the UUID in the NQN, whatever its source; else generated. That is
/// nvme-cli's order, except that the file's identifier never goes with an option's NQN that has its own: one
/// identifier under two NQNs is a conflict on the kernel's host and on some targets.
[[nodiscard]] Result<HostIdentity> choose_host_identity(const HostNames& names);

/// The same with this machine's files; nullptr: the option is absent. What has to be generated is generated
/// once a process and inherited by its forks, so all jobs of a run are one host.
[[nodiscard]] Result<HostIdentity> host_identity(const char* option_nqn, const char* option_id);

} // namespace mpath::nvme
