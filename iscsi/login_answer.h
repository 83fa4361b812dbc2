// SPDX-License-Identifier: GPL-2.0-only
// Judging what comes where the response to a login request belongs. Pure functions of the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "iscsi/wire/pdu.h"

namespace mpath::iscsi {

/// What a login request has said, and its response must agree with.
struct LoginStep {
    Isid isid{};
    std::uint32_t task_tag = 0;
    LoginStage current = LoginStage::security;
    LoginStage next = LoginStage::operational;
    bool transit = false; ///< the request proposed to enter `next`
};

/// Whether `bytes`, at least kBhsSize of them, begin with the header of a login response whose data has a
/// bearable length. EPROTO (EACCES for TLS) with a sentence that names what it is instead; `first`: nothing
/// has shown yet that the peer is an iSCSI target.
[[nodiscard]] Result<void> check_login_header(std::span<const std::byte> bytes, bool first);

/// EPROTO when a response whose status is success does not go with `step`.
[[nodiscard]] Result<void> check_login_response(const LoginResponse& response, const LoginStep& step);

} // namespace mpath::iscsi
