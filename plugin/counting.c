// SPDX-License-Identifier: GPL-2.0-only
#include "plugin/counting.h"

#include "plugin/fio_compat.h"

#include <string.h>

enum { FLUSHES = MPATH_DIRECTIONS };

// stat.c: lat_ns.N is lat_stat, and where that is disabled clat_ns.N is clat_stat.
static const uint64_t* direction_samples(const struct thread_data* td, int direction) {
    if (!td->o.disable_lat)
        return &td->ts.lat_stat[direction].samples;
    if (!td->o.disable_clat)
        return &td->ts.clat_stat[direction].samples;
    return NULL;
}

void counting_start(struct counting* counting, struct thread_data* td, struct mpath_job* core) {
    *counting = (struct counting){.core = core, .ramp_was_over = td->ramp_time_over};
    if (!td->o.stats)
        return;
    for (int d = 0; d < MPATH_DIRECTIONS; d++)
        counting->samples[d] = direction_samples(td, d);
    if (!td->o.disable_clat)
        counting->samples[FLUSHES] = &td->ts.sync_stat.samples;
}

// fio throws its statistics away at the end of ramp_time, and when latency_target= has found its depth.
static bool fio_has_reset(struct counting* counting, const struct thread_data* td) {
    bool reset = td->ramp_time_over && !counting->ramp_was_over;

    counting->ramp_was_over = td->ramp_time_over;
    for (int kind = 0; kind <= FLUSHES; kind++)
        reset |= counting->samples[kind] && *counting->samples[kind] < counting->seen[kind];
    return reset;
}

void counting_settle(struct counting* counting, const struct thread_data* td) {
    const uint64_t* samples = counting->samples[counting->open_kind];
    uint64_t* seen = &counting->seen[counting->open_kind];

    if (fio_has_reset(counting, td)) {
        mpath_job_reset(counting->core);
        memset(counting->seen, 0, sizeof(counting->seen));
    }
    if (counting->open && !counting->open_failed && (samples ? *samples > *seen : counting->open_expected))
        mpath_job_account(counting->core, counting->open_index);
    if (samples)
        *seen = *samples;
    counting->open = false;
}

void counting_open(struct counting* counting, const struct thread_data* td, const struct io_u* io_u,
                   const struct mpath_completion* completion) {
    counting->open = true;
    counting->open_failed = completion->error != 0;
    counting->open_expected = fio_counts_now(td);
    counting->open_kind = ddir_rw(io_u->ddir) ? io_u->ddir : FLUSHES;
    counting->open_index = completion->index;
}

void counting_tell_state(struct counting* counting, const struct thread_data* td) {
    const bool counts = fio_counts_now(td);

    if (counts != counting->told) {
        counting->told = counts;
        mpath_job_set_accounting(counting->core, counts);
    }
}
