/* SPDX-License-Identifier: GPL-2.0-only */
/* One fio job as the shim sees it, and the list of them in fio's parent. */
#pragma once

#include "plugin/bridge.h"

#include <stdatomic.h>

struct io_state;

/* Made in setup(), lives as long as its process. fio's thread_data points to it. */
struct engine_job {
    struct mpath_job* core;
    struct mpath_device device;
    unsigned int thread_number; /* fio's, from 1 */
    unsigned int groupid;
    bool group_reporting;

    /* Which block of fio's report the job is part of: blocks are numbered from 1; 0 = none (stats=0). */
    unsigned int block;

    /* Values in fio's "job options" that await the final numbers; fio owns them. */
    char** result_values;
    size_t result_count;

    struct io_state* io; /* from init() to cleanup(), in the job only */
    atomic_bool busy;    /* likewise; with thread=1 fio may give a stuck job up and exit while it runs */
};

/* Takes the job as the next one in fio's order, and numbers its block as fio will (stat.c __show_run_stats).
 */
void job_list_add(struct engine_job* job, bool shows_statistics);

unsigned int job_list_blocks(void);

/*
 * The jobs of a block in order, for bridge.h's rendering functions. Returns their number and the last one;
 * the caller frees *cores.
 */
size_t job_list_block(unsigned int block, struct mpath_job*** cores, struct engine_job** last);

/* The job with fio's number, or NULL. */
struct engine_job* job_list_find(unsigned int number);

/* When nothing will be rendered any more: frees the jobs, but those that are busy. */
void job_list_free(void);
