// SPDX-License-Identifier: GPL-2.0-only
// The name of one path to a logical unit, as libiscsi writes it:
// iscsi://[user@]host[:port]/target-name/lun
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "iscsi/wire/pdu.h"

namespace mpath::iscsi {

inline constexpr std::uint64_t kMaxLun = 16383; ///< of flat space addressing

struct Uri {
    std::string user; ///< of CHAP; empty: not given
    std::string host; ///< name or address; an IPv6 address without its brackets
    std::uint16_t port = kDefaultPort;
    std::string target;    ///< its name, decoded
    std::uint64_t lun = 0; ///< 0..kMaxLun

    bool operator==(const Uri&) const = default;

    /// "host:port", with brackets around an IPv6 address.
    [[nodiscard]] std::string address() const;
    /// The URI; parse_uri() of it gives the same value back.
    [[nodiscard]] std::string text() const;
};

/// EINVAL with what is wrong and at which character of the text, counted from 1; the text itself is not
/// repeated where it has a password, which libiscsi takes there and we don't. Percent-encoding is undone in
/// the host and the target's name. IPv6 zones are as in net/uri_text.h.
[[nodiscard]] Result<Uri> parse_uri(std::string_view text);

/// LUN `number` as it is in a header: peripheral device addressing up to 255, flat space addressing above
/// (SAM-5). Precondition: at most kMaxLun.
[[nodiscard]] Lun to_wire(std::uint64_t number);

} // namespace mpath::iscsi
