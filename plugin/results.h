/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Results in fio's JSON. fio prints each job's options as it found them in a list on the parent's heap;
 * setup() adds our results to that list, with values still to be filled in. When a job ends it tells a thread
 * in the parent, over shared memory, and waits until that has filled them in; since fio shows statistics only
 * after the job has ended, they are always there in time.
 */
#pragma once

#include "plugin/bridge.h"

struct engine_job;
struct thread_data;

/* In setup(), after job_list_add(). */
bool results_announce(struct thread_data* td, struct engine_job* job, struct mpath_error* error);

/* In the job, when its numbers are final. Waits for the parent, but not for ever. */
void results_job_stopped(const struct engine_job* job);

/* In the parent, when fio is done: ends the thread. */
void results_finish(void);
