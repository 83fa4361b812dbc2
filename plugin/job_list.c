// SPDX-License-Identifier: GPL-2.0-only
#include "plugin/engine_job.h"

#include "plugin/fio_compat.h"

#include <pthread.h>
#include <stdlib.h>

// Written by setup() on fio's main thread, read by the thread that renders results.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct engine_job* jobs[REAL_MAX_JOBS];
static size_t job_count;
static unsigned int block_count;
static const struct engine_job* last_in_block;

static bool begins_block(const struct engine_job* job) {
    return !last_in_block || !job->group_reporting || last_in_block->groupid != job->groupid;
}

void job_list_add(struct engine_job* job, bool shows_statistics) {
    pthread_mutex_lock(&lock);
    if (shows_statistics) {
        if (begins_block(job))
            block_count++;
        job->block = block_count;
        last_in_block = job;
    }
    jobs[job_count++] = job;
    pthread_mutex_unlock(&lock);
}

unsigned int job_list_blocks(void) {
    pthread_mutex_lock(&lock);
    const unsigned int count = block_count;
    pthread_mutex_unlock(&lock);
    return count;
}

size_t job_list_block(unsigned int block, struct mpath_job*** cores, struct engine_job** last) {
    size_t count = 0;

    pthread_mutex_lock(&lock);
    *cores = calloc(job_count + 1, sizeof(struct mpath_job*));
    for (size_t i = 0; *cores && i < job_count; i++) {
        if (jobs[i]->block == block) {
            (*cores)[count++] = jobs[i]->core;
            *last = jobs[i];
        }
    }
    pthread_mutex_unlock(&lock);
    return count;
}

struct engine_job* job_list_find(unsigned int number) {
    struct engine_job* found = NULL;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; !found && i < job_count; i++)
        if (jobs[i]->thread_number == number)
            found = jobs[i];
    pthread_mutex_unlock(&lock);
    return found;
}

void job_list_free(void) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < job_count; i++) {
        if (atomic_load(&jobs[i]->busy))
            continue;
        mpath_job_free(jobs[i]->core);
        free(jobs[i]->result_values);
        free(jobs[i]);
    }
    job_count = 0;
    pthread_mutex_unlock(&lock);
}
