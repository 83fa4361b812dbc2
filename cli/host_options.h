// SPDX-License-Identifier: GPL-2.0-only
// Who this host is to a target, for every subcommand that connects to one.
#pragma once

#include <CLI/CLI.hpp>

#include "job/connect_options.h"

namespace mpath::cli {

struct HostWords : job::HostWords {
    /// `this` must stay as long as `app` parses.
    void add_to(CLI::App& app) {
        app.add_option("--hostnqn", nqn, "NQN of this host (default: /etc/nvme/hostnqn, else generated)")
            ->type_name("NQN");
        app.add_option("--hostid", id, "Identifier of this host (default: /etc/nvme/hostid, else as the NQN)")
            ->type_name("UUID");
        app.add_option("--initiator", initiator,
                       "iSCSI name of this host (default: /etc/iscsi/initiatorname.iscsi, else generated)")
            ->type_name("NAME");
        app.add_option("--chap-user", chap_user,
                       "Whom iSCSI targets know the secret of (default: the user of the URI, else the "
                       "initiator's name)")
            ->type_name("USER");
        app.add_option("--chap-secret-file", chap_secret_file,
                       "Our CHAP secret, and in a second line the target's if it has to prove itself "
                       "(default: no CHAP)")
            ->type_name("FILE");
    }

    [[nodiscard]] Result<job::ConnectOptions> options() const { return job::connect_options(*this); }
};

} // namespace mpath::cli
