// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

#include "nvme/wire/pdu.h"
#include "nvme/wire/status.h"

namespace mpath::nvme {

/// "status 302h (Asymmetric Access Inaccessible)", with ", do not retry" where the controller says so. For
/// sentences: allocates. `fabrics`: the status of a Fabrics command, some codes of which mean something else
/// elsewhere.
[[nodiscard]] std::string status_text(Status status, bool fabrics = false);

/// "PDU sequence error (FES 2, FEI 0)": why a connection was ended by a C2HTermReq.
[[nodiscard]] std::string term_req_text(const TermReq& request);

} // namespace mpath::nvme
