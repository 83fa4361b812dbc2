// SPDX-License-Identifier: GPL-2.0-only
#include "job/connect_options.h"

#include "iscsi/name.h"
#include "nvme/host.h"

namespace mpath::job {
namespace {

const char* text_or_null(const std::optional<std::string>& text) {
    return text && !text->empty() ? text->c_str() : nullptr;
}

} // namespace

Result<ConnectOptions> connect_options(const HostWords& words) {
    ConnectOptions options;
    auto host = nvme::host_identity(text_or_null(words.nqn), text_or_null(words.id));
    if (!host) {
        return tl::unexpected<Error>(host.error());
    }
    options.nvme.host = std::move(*host);
    auto initiator = iscsi::initiator_name(text_or_null(words.initiator));
    if (!initiator) {
        return tl::unexpected<Error>(initiator.error());
    }
    options.iscsi.initiator_name = std::move(*initiator);
    const char* user = text_or_null(words.chap_user);
    if (const char* secret_file = text_or_null(words.chap_secret_file)) {
        auto chap =
            iscsi::read_chap_credentials(user != nullptr ? user : options.iscsi.initiator_name, secret_file);
        if (!chap) {
            return tl::unexpected<Error>(chap.error());
        }
        options.iscsi.chap = std::move(*chap);
    } else if (user != nullptr) {
        return failure(EINVAL, "chap_user={} has no secret: give chap_secret_file= as well", user);
    }
    return options;
}

} // namespace mpath::job
