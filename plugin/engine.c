// SPDX-License-Identifier: GPL-2.0-only
//
// The ioengine `mpath`. What fio calls, in this order (the last column says where):
//
//   get_ioengine   at every dlopen, also for --parse-only and --enghelp: cheap and silent
//   setup          once per job, before any job starts                              fio's parent
//   init           ┐
//   io_u_init      │ once per io_u: iodepth times
//   post_init      │ buffers are there: connects                                    the job: a fork of the
//   open_file      │                                                                parent, or with thread=1
//   queue          │ then commit, getevents and event, until the job ends           a thread of it
//   cleanup        ┘ after any failure in the above, too
//   exit handler   after fio's statistics                                           fio's parent
//
// fio's thread_data is in memory that parent and jobs share, but the pointers in it are private to each.
#include "plugin/counting.h"
#include "plugin/engine_job.h"
#include "plugin/engine_options.h"
#include "plugin/fio_compat.h"
#include "plugin/fio_job.h"
#include "plugin/layout_guard.h"
#include "plugin/refuse.h"
#include "plugin/report.h"
#include "plugin/results.h"
#include "plugin/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ioengine_ops engine;

struct io_state {
    struct counting counting;
    struct io_u** io_us; ///< by index
    unsigned int known;  ///< how many of them io_u_init() has seen
    struct io_u** queued;
    unsigned int queued_count; ///< taken by queue(), not yet committed
    unsigned int outstanding;  ///< taken by queue(), not yet handed out by getevents()
    bool started;
    bool has_reported_bad_io;
};

// ---- setup: fio's parent -----------------------------------------------------------------------------

static void tell_fio_about_device(struct thread_data* td, const struct mpath_device* device) {
    struct fio_file* file;
    unsigned int i;

    for_each_file(td, file, i) {
        file->filetype = FIO_TYPE_BLOCK;
        file->real_file_size = device->size;
        fio_file_set_size_known(file);
    }
}

static bool find_device(struct thread_data* td, struct engine_job* job, struct mpath_error* error) {
    const struct mpath_options options = options_for_core(td->eo, td->o.allow_mounted_write);
    struct mpath_fio_job fio_job = describe_fio_job(td);
    bool done = mpath_job_setup(&options, &fio_job, &job->core, &job->device, error) == 0;

    if (done) {
        tell_fio_about_device(td, &job->device);
        done = job_fits_device(td, &fio_job, &job->device, error);
    }
    free((void*)fio_job.options);
    return done;
}

// Nothing may be written to a thread_data whose layout is not what we think it is.
static int refuse_foreign_fio(const struct mpath_error* error) {
    print_error(NULL, error->text);
    return 1;
}

static int engine_setup(struct thread_data* td) {
    struct mpath_error error = {0};
    struct engine_job* job;

    if (!layout_matches_job(td, &engine, &error))
        return refuse_foreign_fio(&error);
    if (!options_can_be_served(td, &error))
        return fail_job(td, &error);
    job = calloc(1, sizeof(*job));
    if (!job) {
        td_verror(td, ENOMEM, "calloc");
        return 1;
    }
    job->thread_number = td->thread_number;
    job->groupid = td->groupid;
    job->group_reporting = td->o.group_reporting;
    if (!find_device(td, job, &error)) {
        mpath_job_free(job->core);
        free(job);
        return fail_job(td, &error);
    }
    job_list_add(job, td->o.stats);
    table_prepare();
    if (!results_announce(td, job, &error))
        return fail_job(td, &error);
    td->io_ops_data = job;
    return 0;
}

// ---- start of the job ----------------------------------------------------------------------------------

// Frees the options as fio does when a job ends, only earlier: setup() has copied them. fio 3.33 frees the
// parent's copy after the fork but leaves the pointer in shared memory, and crashes on it after the
// statistics of a job that was killed before it came to its end.
static void drop_options(struct thread_data* td) {
    options_free(engine.options, td->eo);
    free(td->eo);
    td->eo = NULL;
}

static int engine_init(struct thread_data* td) {
    struct engine_job* job = td->io_ops_data;
    struct mpath_error error = {0};
    struct io_state* io;

    // With create_serialize=0 setup() would come after this; it would refuse, but init() has nothing to go
    // by.
    if (!job) {
        options_can_be_served(td, &error);
        return fail_job(td, &error);
    }
    atomic_store(&job->busy, true);
    drop_options(td);
    io = calloc(1, sizeof(*io));
    if (io) {
        io->io_us = calloc(td->o.iodepth, sizeof(struct io_u*));
        io->queued = calloc(td->o.iodepth, sizeof(struct io_u*));
    }
    job->io = io;
    if (!io || !io->io_us || !io->queued) {
        td_verror(td, ENOMEM, "calloc");
        return 1;
    }
    counting_start(&io->counting, td, job->core);
    return 0;
}

static int engine_io_u_init(struct thread_data* td, struct io_u* io_u) {
    struct engine_job* job = td->io_ops_data;
    struct io_state* io = job->io;
    struct mpath_error error = {0};

    if (io->known >= td->o.iodepth || !layout_matches_io_u(io_u, io->known, &error))
        return refuse_foreign_fio(&error);
    // The index stays valid: nothing in fio touches that union afterwards, and we leave engine_data alone.
    io->io_us[io->known++] = io_u;
    return 0;
}

// Not in init(): the buffers are not there yet, and fio would comment on a failure with "try reducing io
// depth".
static int engine_post_init(struct thread_data* td) {
    struct engine_job* job = td->io_ops_data;
    struct io_state* io = job->io;
    struct mpath_error error = {0};
    const bool moves_data = td_read(td) || td_write(td);
    void* buffers = moves_data ? io->io_us[0]->buf : NULL;

    // fio goes on after it could not allocate them (backend.c init_io_u), with buffers that start at NULL.
    if (moves_data && !td->orig_buffer) {
        error.code = ENOMEM;
        snprintf(error.text, sizeof(error.text),
                 "fio has no memory for %llu bytes of I/O buffers; reduce iodepth= or bs=",
                 td_max_bs(td) * td->o.iodepth);
        return fail_job(td, &error);
    }
    io->started = true;
    if (mpath_job_start(job->core, &td->terminate, buffers, moves_data ? td_max_bs(td) * td->o.iodepth : 0,
                        &error))
        return fail_job(td, &error);
    return 0;
}

// ---- I/O -----------------------------------------------------------------------------------------------

static enum mpath_operation operation_of(enum fio_ddir ddir) {
    switch (ddir) {
    case DDIR_READ:
        return MPATH_READ;
    case DDIR_WRITE:
        return MPATH_WRITE;
    case DDIR_TRIM:
        return MPATH_TRIM;
    default:
        return MPATH_FLUSH; // fsync and fdatasync; sync_file_range is refused in setup()
    }
}

// Everything that could make such I/Os is refused in setup(); this is the net below it.
static bool is_sound(const struct engine_job* job, const struct io_u* io_u) {
    const struct io_state* io = job->io;
    const uint64_t size = job->device.size;

    if (io_u->index >= io->known || io->io_us[io_u->index] != io_u)
        return false;
    if (!ddir_rw(io_u->ddir))
        return ddir_sync(io_u->ddir);
    return ((io_u->offset | io_u->xfer_buflen) & (job->device.block_size - 1)) == 0 &&
           io_u->xfer_buflen > 0 && io_u->xfer_buflen <= UINT32_MAX && io_u->offset < size &&
           io_u->xfer_buflen <= size - io_u->offset;
}

static enum fio_q_status refuse_io(struct thread_data* td, struct io_state* io, struct io_u* io_u) {
    char text[256];

    if (!io->has_reported_bad_io) {
        io->has_reported_bad_io = true;
        snprintf(text, sizeof(text),
                 "fio asked for a %s of %llu bytes at byte %llu, which no block of the device matches",
                 io_ddir_name(io_u->ddir), io_u->xfer_buflen, io_u->offset);
        print_error(td->o.name, text);
    }
    // With FIO_ASYNCIO_SETS_ISSUE_TIME nobody else sets it, and fio would compute latencies from an old one.
    fio_gettime(&io_u->issue_time, NULL);
    io_u->error = EINVAL;
    return FIO_Q_COMPLETED;
}

static enum fio_q_status engine_queue(struct thread_data* td, struct io_u* io_u) {
    struct engine_job* job = td->io_ops_data;
    struct io_state* io = job->io;
    const bool moves_data = io_u->ddir == DDIR_READ || io_u->ddir == DDIR_WRITE;

    counting_settle(&io->counting, td);
    if (!is_sound(job, io_u))
        return refuse_io(td, io, io_u);
    // Offset and length of a sync are left over from the io_u's last use.
    mpath_job_queue(job->core, io_u->index, operation_of(io_u->ddir), moves_data ? io_u->xfer_buf : NULL,
                    ddir_rw(io_u->ddir) ? io_u->offset : 0, ddir_rw(io_u->ddir) ? io_u->xfer_buflen : 0);
    io->queued[io->queued_count++] = io_u;
    io->outstanding++;
    return FIO_Q_QUEUED;
}

static int engine_commit(struct thread_data* td) {
    struct engine_job* job = td->io_ops_data;
    struct io_state* io = job->io;
    struct timespec now;

    counting_settle(&io->counting, td);
    if (!io->queued_count)
        return 0;
    // Before anything can complete: an error that came earlier would be wiped when measuring begins.
    counting_tell_state(&io->counting, td);
    mpath_job_commit(job->core);
    if (fio_fill_issue_time(td)) {
        fio_gettime(&now, NULL);
        for (unsigned int i = 0; i < io->queued_count; i++) {
            io->queued[i]->issue_time = now;
            io_u_queued(td, io->queued[i]);
        }
    }
    io_u_mark_submit(td, io->queued_count);
    io->queued_count = 0;
    return 0;
}

// fio either waits without limit (min > 0) or not at all (min = 0); `timeout` says nothing more.
static int engine_getevents(struct thread_data* td, unsigned int min, unsigned int max,
                            const struct timespec* timeout) {
    struct engine_job* job = td->io_ops_data;
    struct io_state* io = job->io;
    int count;

    (void)timeout;
    counting_settle(&io->counting, td);
    counting_tell_state(&io->counting, td);
    // fio's depth includes io_us it has taken but not queued; waiting for those would be for ever.
    if (!io->outstanding)
        return 0;
    if (min > io->outstanding)
        min = io->outstanding;
    count = mpath_job_getevents(job->core, min, max);
    if (count > 0)
        io->outstanding -= (unsigned int)count;
    return count;
}

static struct io_u* engine_event(struct thread_data* td, int event) {
    struct engine_job* job = td->io_ops_data;
    struct io_state* io = job->io;
    struct mpath_completion completion;
    struct io_u* io_u;

    counting_settle(&io->counting, td);
    mpath_job_event(job->core, (uint32_t)event, &completion);
    io_u = io->io_us[completion.index];
    io_u->error = (unsigned int)completion.error;
    io_u->resid = completion.residual;
    counting_open(&io->counting, td, io_u, &completion);
    return io_u;
}

static char* engine_errdetails(struct io_u* io_u) {
    const struct engine_job* job = FILE_ENG_DATA(io_u->file);
    char text[512] = "";

    mpath_job_error_text(job->core, io_u->index, text, sizeof(text));
    return strdup(text);
}

// ---- end of the job ------------------------------------------------------------------------------------

static void engine_cleanup(struct thread_data* td) {
    struct engine_job* job = td->io_ops_data;
    struct io_state* io = job ? job->io : NULL;
    struct mpath_error error = {0};

    if (!job)
        return;
    if (io && io->started) {
        counting_settle(&io->counting, td);
        if (mpath_job_stop(job->core, &error))
            fail_job(td, &error);
    }
    results_job_stopped(job);
    if (io) {
        free(io->io_us);
        free(io->queued);
        free(io);
    }
    job->io = NULL;
    atomic_store(&job->busy, false);
}

// ---- files: each of them is the device, and fio must not open, close or unlink what happens to have its
// name

static int engine_open_file(struct thread_data* td, struct fio_file* file) {
    FILE_SET_ENG_DATA(file, td->io_ops_data);
    return 0;
}

static int engine_leave_file(struct thread_data* td, struct fio_file* file) {
    (void)td;
    (void)file;
    return 0;
}

static struct ioengine_ops engine = {
    .name = "mpath",
    .version = FIO_IOOPS_VERSION,
    // DISKLESSIO: no directories made for '/' in names. RAWIO: page aligned buffers. NO_OFFLOAD: the job's
    // paths belong to one thread. ASYNCIO_SETS_ISSUE_TIME: commit() does.
    .flags = FIO_DISKLESSIO | FIO_NOEXTEND | FIO_NODISKUTIL | FIO_RAWIO | FIO_MEMALIGN | FIO_NO_OFFLOAD |
             FIO_ASYNCIO_SETS_ISSUE_TIME,
    .setup = engine_setup,
    .init = engine_init,
    .post_init = engine_post_init,
    .io_u_init = engine_io_u_init,
    .queue = engine_queue,
    .commit = engine_commit,
    .getevents = engine_getevents,
    .event = engine_event,
    .errdetails = engine_errdetails,
    .cleanup = engine_cleanup,
    .open_file = engine_open_file,
    .close_file = engine_leave_file,
    .invalidate = engine_leave_file,
    .unlink_file = engine_leave_file,
    .options = engine_option_table,
    .option_struct_size = sizeof(struct engine_options),
};

// The one symbol this shared object exports. Leaving *ops NULL makes fio say that the engine is not loadable.
__attribute__((visibility("default"))) void get_ioengine(struct ioengine_ops** ops) {
    struct mpath_error error = {0};

    if (layout_matches_fio(&error))
        *ops = &engine;
    else
        fprintf(stderr, "mpath: %s.\n", error.text);
}
