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
/// CommonHeader; more than that is only quoted. `size` is what the whole of it must have. A C2HTermReq
/// passes, its sentence needs its body.
[[nodiscard]] Result<void> check_answer_header(std::span<const std::byte> bytes, PduType expected,
                                               std::size_t size);

/// ICReq asked for PFV 0 and for `asked`. Digests have to be just those: a controller that enables others
/// breaks the protocol (EPROTO), one that has none when they were asked for is no place for a job that wants
/// its data protected (ENOTSUP). So does Linux (nvme_tcp_init_connection).
[[nodiscard]] Result<void> check_ic_resp(const IcResp& answer, const PduOptions& asked);

/// The controller ID. `bytes` are a CapsuleResp and, when agreed on, its header digest. A refusal is final
/// when it has Do Not Retry.
[[nodiscard]] Result<std::uint16_t> check_connect_resp(std::span<const std::byte> bytes,
                                                       const ConnectRequest& request);

} // namespace mpath::nvme
