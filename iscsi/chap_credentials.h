// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

#include "base/result.h"

namespace mpath::iscsi {

/// What CHAP takes. Secrets go nowhere but into a digest: not into sentences, records or logs.
struct ChapCredentials {
    std::string user;
    std::string secret;        ///< by which we prove who we are
    std::string target_secret; ///< by which the target has to; empty: it need not

    bool operator==(const ChapCredentials&) const = default;
};

/// Secrets from a file (chap_secret_file=): its first line is ours, the second one, if there is one, the
/// target's. EACCES when others than its owner may read or write it, EINVAL when it can't be that file, or
/// the errno of opening it. RFC 7143, section 9.2.1: the two secrets differ.
[[nodiscard]] Result<ChapCredentials> read_chap_credentials(std::string user, const std::string& path);

} // namespace mpath::iscsi
