// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/reject.h"

#include "iscsi/wire/pdu.h"

namespace mpath::iscsi {

std::string_view reject_text(std::uint8_t reason) {
    switch (reason) {
    case reject_reason::kDataDigestError:
        return "wrong data digest";
    case reject_reason::kSnackReject:
        return "SNACK refused";
    case reject_reason::kProtocolError:
        return "protocol error";
    case reject_reason::kCommandNotSupported:
        return "command not supported";
    case reject_reason::kTooManyImmediate:
        return "too many immediate commands";
    case reject_reason::kTaskInProgress:
        return "task in progress";
    case reject_reason::kInvalidDataAck:
        return "invalid data acknowledgement";
    case reject_reason::kInvalidPduField:
        return "invalid PDU field";
    case reject_reason::kOutOfResources:
        return "out of resources";
    case reject_reason::kWaitingForLogout:
        return "waiting for a logout";
    default:
        return "unknown reason";
    }
}

} // namespace mpath::iscsi
