// SPDX-License-Identifier: GPL-2.0-only
// The name of a path, of whatever protocol.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "iscsi/uri.h"
#include "nvme/uri.h"

namespace mpath::job {

using PathUri = std::variant<nvme::Uri, iscsi::Uri>;

/// "nvme+tcp://host[:port]/subnqn/nsid" or "iscsi://[user@]host[:port]/target/lun". EINVAL, or ENOTSUP for a
/// kind of path that is known but not spoken, with a sentence.
[[nodiscard]] Result<PathUri> parse_path_uri(std::string_view text);

[[nodiscard]] std::string uri_text(const PathUri& uri);
/// "host:port".
[[nodiscard]] std::string address_of(const PathUri& uri);
/// Of the protocol, as the record has it: "nvme-tcp", "iscsi".
[[nodiscard]] std::string_view protocol_of(const PathUri& uri);
/// NQN of the subsystem or name of the target.
[[nodiscard]] const std::string& target_of(const PathUri& uri);

} // namespace mpath::job
