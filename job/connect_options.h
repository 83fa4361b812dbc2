// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "iscsi/session_options.h"
#include "nvme/controller.h"

namespace mpath::job {

/// How paths are connected, by each protocol.
struct ConnectOptions {
    nvme::ControllerOptions nvme;
    iscsi::SessionOptions iscsi;
};

/// Who this host is; what is absent or empty comes from /etc, or is made up.
struct HostWords {
    std::optional<std::string> nqn;
    std::optional<std::string> id;
    std::optional<std::string> initiator;        ///< iSCSI name
    std::optional<std::string> chap_user;        ///< for paths whose URI names none; absent: the initiator
    std::optional<std::string> chap_secret_file; ///< absent: no CHAP
};

/// Both protocols', with the identity that `words` give; the rest is as by default.
[[nodiscard]] Result<ConnectOptions> connect_options(const HostWords& words);

} // namespace mpath::job
