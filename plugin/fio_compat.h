/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The only door to fio's headers, and the place for what differs between its releases. They are read with
 * config-host.h of the same tree in front (cmake/FioSource.cmake) and as system headers, so that their
 * warnings are not ours.
 */
#pragma once

#include "fio.h"
#include "optgroup.h"
#include "options.h"
#include "server.h"
#include "verify.h"

/* MPATH_FIO_VERSION, a string like "fio-3.33", comes from the build. */
#if FIO_IOOPS_VERSION != 31
#error                                                                                                       \
    "this shim is written for fio 3.33: errdetails(), cancel() and the end of ramp_time differ in other releases"
#endif

/* Whether fio counts what completes now; io_u.c should_account() without its side effect. */
static inline bool fio_counts_now(const struct thread_data* td) {
    const bool ramping = td->o.ramp_time && !td->ramp_time_over;

    return !ramping && (td->runstate == TD_RUNNING || td->runstate == TD_VERIFYING);
}
