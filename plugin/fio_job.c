// SPDX-License-Identifier: GPL-2.0-only
#include "plugin/fio_job.h"

#include "plugin/fio_compat.h"

#include <stdlib.h>
#include <string.h>

// crc32c has a second name, which says by what it is computed.
static const char* verify_name(unsigned int verify) {
    const struct fio_option* option = fio_option_find("verify");
    const char* name = NULL;

    for (size_t i = 0; option && i < PARSE_MAX_VP && option->posval[i].ival; i++)
        if (option->posval[i].oval == verify && (!name || strlen(option->posval[i].ival) < strlen(name)))
            name = option->posval[i].ival;
    return name ? name : "unknown";
}

static size_t count_options(struct flist_head* list) {
    struct flist_head* entry;
    size_t count = 0;

    flist_for_each(entry, list) count++;
    return count;
}

static struct mpath_text_pair* copy_options(struct mpath_text_pair* to, struct flist_head* list) {
    struct flist_head* entry;

    flist_for_each(entry, list) {
        const struct print_option* option = flist_entry(entry, struct print_option, list);

        *to++ = (struct mpath_text_pair){option->name, option->value};
    }
    return to;
}

// Options of [global] first: a job's own come later and override them.
static void collect_options(struct thread_data* td, struct mpath_fio_job* job) {
    struct flist_head* global = &get_global_options()->opt_list;
    size_t count = count_options(global) + count_options(&td->opt_list);
    struct mpath_text_pair* options = calloc(count + 1, sizeof(*options));

    if (!options)
        return;
    copy_options(copy_options(options, global), &td->opt_list);
    job->options = options;
    job->option_count = count;
}

struct mpath_fio_job describe_fio_job(struct thread_data* td) {
    const struct thread_options* o = &td->o;
    const bool verifies = o->verify != VERIFY_NONE;
    // backend.c: fsync= and its kin need should_fsync(), and do_verify() flushes before it reads.
    const bool asks_for_flush = o->fsync_blocks || o->fdatasync_blocks || o->end_fsync || o->fsync_on_close;
    const bool flushes = asks_for_flush && (td_write(td) || o->override_sync);
    const bool verify_flushes = verifies && o->do_verify && td_write(td);

    struct mpath_fio_job job = {
        .fio_version = fio_version_string,
        .name = o->name,
        .thread_number = td->thread_number,
        .subjob_number = td->subjob_number,
        .numjobs = o->numjobs,
        .groupid = td->groupid,
        .group_reporting = o->group_reporting != 0,
        .uses_thread = o->use_thread != 0,
        .server_port = is_backend ? (uint32_t)fio_net_port : 0,
        .shows_statistics = o->stats != 0,
        .iodepth = o->iodepth,
        .does_read = td_read(td) || verifies,
        .does_write = td_write(td) != 0,
        .does_trim = td_trim(td) || (o->trim_percentage && o->trim_backlog),
        .syncs_writes = o->sync_io != 0,
        .does_flush = flushes || verify_flushes,
        .mixes_directions = o->unified_rw_rep == UNIFIED_MIXED,
        .rw = ddir_str(o->td_ddir),
        .verify = verifies ? verify_name(o->verify) : NULL,
        .compress_percentage = o->compress_percentage,
        .dedupe_percentage = o->dedupe_percentage,
        .zero_buffers = o->zero_buffers != 0,
        .refill_buffers = o->refill_buffers != 0,
        .scramble_buffers = o->scramble_buffers != 0,
        .runtime_ns = o->timeout * 1000,
        .ramp_ns = o->ramp_time * 1000,
        .waits_for_earlier = o->stonewall != 0,
        .start_delay_ns = o->start_delay * 1000,
        .random_seed = o->rand_seed,
        .time_based = o->time_based != 0,
    };
    for (int d = 0; d < MPATH_DIRECTIONS; d++) {
        job.min_block_size[d] = o->min_bs[d];
        job.max_block_size[d] = o->max_bs[d];
        job.rate[d] = o->rate[d];
        job.rate_iops[d] = o->rate_iops[d];
    }
    collect_options(td, &job);
    return job;
}
