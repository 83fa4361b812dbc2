// SPDX-License-Identifier: GPL-2.0-only
#include "plugin/results.h"

#include "plugin/engine_job.h"
#include "plugin/fio_compat.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RUNNING, STOPPED, RENDERED }; // of a job

enum {
    WAIT_SLICE_MS = 100,
    WAIT_SLICES = 100, // 10 s: only a parent that is stopped or starved takes longer than milliseconds
};

// Shared between fio's parent and all jobs.
struct handshake {
    _Atomic uint32_t posted; ///< counts what the parent has to look at
    _Atomic uint32_t finish;
    _Atomic uint32_t state[REAL_MAX_JOBS]; ///< by thread_number - 1
};

static struct handshake* shared;
static pid_t parent;
static pthread_t renderer;

static void futex_wait(_Atomic uint32_t* word, uint32_t expected, const struct timespec* timeout) {
    syscall(SYS_futex, word, FUTEX_WAIT, expected, timeout, NULL, 0);
}

static void futex_wake(_Atomic uint32_t* word) {
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void render_block(unsigned int block) {
    struct mpath_job** cores = NULL;
    struct engine_job* last = NULL;
    const size_t count = job_list_block(block, &cores, &last);
    char(*values)[MPATH_RESULT_VALUE_SIZE] = count ? calloc(last->result_count + 1, sizeof(*values)) : NULL;

    if (values) {
        mpath_results_values(cores, count, values, last->result_count);
        for (size_t i = 0; i < last->result_count; i++)
            memcpy(last->result_values[i], values[i], sizeof(values[i]));
    }
    free(values);
    free(cores);
}

// Several jobs of a block that end together are rendered together.
static void render_stopped_jobs(void) {
    uint32_t stopped[REAL_MAX_JOBS];
    size_t count = 0;
    unsigned int rendered_block = 0;

    for (uint32_t i = 0; i < REAL_MAX_JOBS; i++)
        if (atomic_load(&shared->state[i]) == STOPPED)
            stopped[count++] = i;
    for (size_t i = 0; i < count; i++) {
        const struct engine_job* job = job_list_find(stopped[i] + 1);

        if (job && job->block && job->block != rendered_block)
            render_block(rendered_block = job->block);
    }
    for (size_t i = 0; i < count; i++) {
        atomic_store(&shared->state[stopped[i]], RENDERED);
        futex_wake(&shared->state[stopped[i]]);
    }
}

static void* run_renderer(void* unused) {
    uint32_t seen = 0;

    (void)unused;
    while (!atomic_load(&shared->finish)) {
        futex_wait(&shared->posted, seen, NULL);
        seen = atomic_load(&shared->posted);
        render_stopped_jobs();
    }
    return NULL;
}

static int start_renderer(void) {
    sigset_t all, before;
    int error;

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return errno;
    // Signals stay fio's: its handlers expect to run on its own threads.
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&renderer, NULL, run_renderer, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!error)
        parent = getpid();
    return error;
}

static char* append_option(struct thread_data* td, const char* name) {
    struct print_option* option = calloc(1, sizeof(*option));
    char* value = calloc(1, MPATH_RESULT_VALUE_SIZE);

    if (!option || !value || !(option->name = strdup(name))) {
        free(option);
        free(value);
        return NULL;
    }
    strcpy(value, "null");
    option->value = value;
    flist_add_tail(&option->list, &td->opt_list);
    return value;
}

static bool append_results(struct thread_data* td, struct engine_job* job, struct mpath_job* const* cores,
                           size_t count) {
    const size_t wanted = mpath_results_count(cores, count);
    char(*names)[MPATH_RESULT_NAME_SIZE] = calloc(wanted + 1, sizeof(*names));

    job->result_values = calloc(wanted + 1, sizeof(char*));
    if (names && job->result_values) {
        mpath_results_names(cores, count, names, wanted);
        while (job->result_count < wanted &&
               (job->result_values[job->result_count] = append_option(td, names[job->result_count])))
            job->result_count++;
    }
    free(names);
    return job->result_count == wanted;
}

bool results_announce(struct thread_data* td, struct engine_job* job, struct mpath_error* error) {
    struct mpath_job** cores = NULL;
    struct engine_job* last = NULL;
    size_t count;
    bool appended;

    error->code = parent == getpid() ? 0 : start_renderer();
    if (error->code) {
        snprintf(error->text, sizeof(error->text), "the thread that fills in results can't be started: %s",
                 strerror(error->code));
        return false;
    }
    if (!job->block)
        return true;
    count = job_list_block(job->block, &cores, &last);
    appended = cores && append_results(td, job, cores, count);
    free(cores);
    if (!appended) {
        error->code = ENOMEM;
        strcpy(error->text, "no memory for the results");
    }
    return appended;
}

static bool parent_is_there(void) {
    return getpid() == parent || getppid() == parent;
}

void results_job_stopped(const struct engine_job* job) {
    const struct timespec slice = {.tv_nsec = WAIT_SLICE_MS * 1000000L};
    _Atomic uint32_t* state = &shared->state[job->thread_number - 1];

    atomic_store(state, STOPPED);
    atomic_fetch_add(&shared->posted, 1);
    futex_wake(&shared->posted);
    for (int i = 0; i < WAIT_SLICES && atomic_load(state) == STOPPED && parent_is_there(); i++)
        futex_wait(state, STOPPED, &slice);
}

void results_finish(void) {
    if (parent != getpid())
        return;
    atomic_store(&shared->finish, 1);
    atomic_fetch_add(&shared->posted, 1);
    futex_wake(&shared->posted);
    pthread_join(renderer, NULL);
}
