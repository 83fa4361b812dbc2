// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "iscsi/session_parameters.h"
#include "iscsi/wire/pdu.h"
#include "net/async.h"
#include "net/reactor.h"
#include "net/task.h"

namespace mpath::iscsi {

/// Has a new session hear what its target keeps for it (that it was powered on, that states have changed), so
/// that no I/O has to: TEST UNIT READY until the answer is no unit attention, whatever else it is, 16 times
/// at most, and while the target takes commands. Leaves no byte of an answer in the socket and the session's
/// numbers where they are then. The session is of no use after an error. `session` must stay until the task
/// has ended.
net::Task<Result<void>> clear_attentions(net::Reactor& reactor, LoggedIn& session, Lun lun,
                                         Nanoseconds deadline, net::Cancellation* cancellation);

} // namespace mpath::iscsi
