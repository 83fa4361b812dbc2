// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mpath::iscsi {

/// One address of a target.
struct Portal {
    std::string host; ///< name or address; an IPv6 address without its brackets
    std::uint16_t port = 0;
    std::optional<std::uint16_t> tag; ///< of its portal group; absent: not said

    bool operator==(const Portal&) const = default;
    /// "host:port", with brackets around an IPv6 address.
    [[nodiscard]] std::string address() const;
};

/// The value of a TargetAddress key: HOST[:PORT][,TAG] (RFC 7143, section 13.8). EPROTO with a sentence.
[[nodiscard]] Result<Portal> parse_portal(std::string_view value);

} // namespace mpath::iscsi
