// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace mpath::iscsi {

/// Classes of a login response's status. RFC 7143, section 11.13.5.
namespace status_class {
inline constexpr std::uint8_t kSuccess = 0;
inline constexpr std::uint8_t kRedirection = 1;
} // namespace status_class

/// Who has asked for what; for sentences.
struct LoginParties {
    std::string_view initiator; ///< its name
    std::string_view target;    ///< its name; empty: of a discovery session
    bool with_secret = false;   ///< there is one to prove who we are by
    bool both_ways = false;     ///< and the target was to prove who it is
};

/// The error that a status other than success and redirection is: EACCES, ENODEV, EBUSY, ENOTSUP, EPROTO or
/// EIO, with a sentence. Final are those that a configuration is behind and not a moment: authentication
/// failed, target removed, version, session type or key missing. An unknown target is not: it may be on its
/// way from one portal to another.
[[nodiscard]] Error login_status(std::uint8_t status_class, std::uint8_t detail, const LoginParties& parties);

} // namespace mpath::iscsi
