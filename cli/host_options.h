// SPDX-License-Identifier: GPL-2.0-only
// --hostnqn and --hostid, for every subcommand that connects to a target.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "nvme/host.h"

namespace mpath::cli {

struct HostWords {
    std::string nqn; ///< empty: not given
    std::string id;  ///< empty: not given

    /// `this` must stay as long as `app` parses.
    void add_to(CLI::App& app) {
        app.add_option("--hostnqn", nqn, "NQN of this host (default: /etc/nvme/hostnqn, else generated)")
            ->type_name("NQN");
        app.add_option("--hostid", id, "Identifier of this host (default: /etc/nvme/hostid, else as the NQN)")
            ->type_name("UUID");
    }

    [[nodiscard]] Result<nvme::HostIdentity> identity() const {
        return nvme::host_identity(nqn.empty() ? nullptr : nqn.c_str(), id.empty() ? nullptr : id.c_str());
    }
};

} // namespace mpath::cli
