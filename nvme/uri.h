// SPDX-License-Identifier: GPL-2.0-only
// The name of one path to a namespace, as the NVM Express Boot Specification writes it:
// nvme+tcp://host[:port]/subnqn/nsid
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/uri_text.h"

namespace mpath::nvme {

inline constexpr std::uint16_t kDefaultPort = 4420;

struct Uri {
    std::string host; ///< name or address; an IPv6 address without its brackets
    std::uint16_t port = kDefaultPort;
    std::string subnqn;     ///< decoded
    std::uint32_t nsid = 0; ///< 1..0xfffffffe

    bool operator==(const Uri&) const = default;

    /// "host:port", with brackets around an IPv6 address.
    [[nodiscard]] std::string address() const;
    /// The URI; parse_uri() of it gives the same value back.
    [[nodiscard]] std::string text() const;
};

/// EINVAL with what is wrong and at which character of the text, counted from 1. Percent-encoding is undone
/// in the host and the NQN. The zone of an IPv6 address follows '%25' (RFC 6874) or, as people write it, '%'.
[[nodiscard]] Result<Uri> parse_uri(std::string_view text);

} // namespace mpath::nvme
