// SPDX-License-Identifier: GPL-2.0-only
// What a peer answers while a queue is being connected, judged: pure functions from bytes to a value or a
// sentence that says what to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "nvme/queue_connect.h"
#include "nvme/wire/pdu.h"

namespace mpath::nvme {

/// What to expect first in the answer to ICReq or Connect. `bytes` are the first of it, at least a
/// CommonHeader; more than that is only quoted. A C2HTermReq passes, its sentence needs its body.
[[nodiscard]] Result<void> check_answer_header(std::span<const std::byte> bytes, PduType expected);

/// ICReq asked for PFV 0 and no digests.
[[nodiscard]] Result<void> check_ic_resp(const IcResp& answer);

/// The controller ID.
[[nodiscard]] Result<std::uint16_t> check_connect_resp(const CapsuleResp& answer,
                                                       const ConnectRequest& request);

} // namespace mpath::nvme
