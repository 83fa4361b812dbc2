/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which I/Os fio counts, exactly. fio decides inside io_completed(), right after our event(): by the state of
 * the job, the end of ramp_time (which that very call may bring about), disable_lat= and more. Instead of
 * guessing, we look afterwards whether its own counter has moved, and then tell the core.
 */
#pragma once

#include "plugin/bridge.h"

struct thread_data;
struct io_u;

struct counting {
    struct mpath_job* core;
    /* fio's counters for reads, writes, trims and flushes; NULL where it keeps none (gtod_reduce=1, stats=0).
     */
    const uint64_t* samples[MPATH_DIRECTIONS + 1];
    uint64_t seen[MPATH_DIRECTIONS + 1];

    bool open; /* an event was handed out, and fio's decision about it not yet looked at */
    bool open_failed;
    bool open_expected; /* fio was counting when it was handed out: the decision where fio keeps no counter */
    unsigned int open_kind; /* index into samples */
    uint32_t open_index;

    bool ramp_was_over;
    bool told; /* what set_accounting() was last told */
};

void counting_start(struct counting* counting, struct thread_data* td, struct mpath_job* core);

/* First thing in every hook that fio calls while the job runs. */
void counting_settle(struct counting* counting, const struct thread_data* td);

/* fio is about to look at this completion. */
void counting_open(struct counting* counting, const struct thread_data* td, const struct io_u* io_u,
                   const struct mpath_completion* completion);

/* Passes on whether fio counts at the moment. */
void counting_tell_state(struct counting* counting, const struct thread_data* td);
