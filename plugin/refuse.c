// SPDX-License-Identifier: GPL-2.0-only
#include "plugin/refuse.h"

#include "plugin/engine_options.h"
#include "plugin/fio_compat.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

static const char* const directions[MPATH_DIRECTIONS] = {"read", "write", "trim"};

__attribute__((format(printf, 3, 4))) static bool refuse(struct mpath_error* error, int code,
                                                         const char* format, ...) {
    va_list arguments;

    error->code = code;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    return false;
}

static const char* local_block_device(const struct thread_data* td) {
    for (unsigned int i = 0; i < td->files_index; i++) {
        struct stat status;

        if (!stat(td->files[i]->file_name, &status) && S_ISBLK(status.st_mode))
            return td->files[i]->file_name;
    }
    return NULL;
}

static bool paths_are_given(const struct thread_data* td, struct mpath_error* error) {
    const struct engine_options* options = td->eo;
    const char* device = local_block_device(td);

    if (options->paths && options->paths[0])
        return true;
    if (device)
        return refuse(
            error, EINVAL,
            "filename=%s names a block device of this host, which this engine can't drive; name the "
            "paths to the device in paths=, as nvme+tcp://HOST/SUBNQN/NSID or iscsi://HOST/TARGET/LUN",
            device);
    return refuse(error, EINVAL,
                  "paths= is missing; list the paths to the device, as nvme+tcp://HOST/SUBNQN/NSID or "
                  "iscsi://HOST/TARGET/LUN");
}

bool options_can_be_served(const struct thread_data* td, struct mpath_error* error) {
    const struct thread_options* o = &td->o;
    const struct engine_options* ours = td->eo;
    const struct {
        bool given;
        const char* text;
    } refused[] = {
        {!o->create_serialize,
         "create_serialize=0 would look for the device only after the job has started; leave "
         "it at 1"},
        {o->directory || o->opendir,
         "directory= and opendir= are about files, and this engine does I/O to the device "
         "itself; leave them out"},
        {o->nr_files > 1,
         "a job with several files would write over itself, because each of them is the same "
         "device; use numjobs= with offset_increment=, and no ':' in filename= unless as '\\:'"},
        {o->read_iolog_file != NULL,
         "read_iolog= replays I/O to files whose sizes this engine can't check; leave "
         "it out"},
        {o->zone_mode == ZONE_MODE_ZBD,
         "zonemode=zbd needs a zoned device, and zoned namespaces are not supported"},
        {o->sync_file_range != 0,
         "sync_file_range= is about the page cache, which is not involved here; use fsync= "
         "or fdatasync="},
        {ours->write_mode == MPATH_WRITE_ZEROES && o->verify != VERIFY_NONE,
         "write_mode=zeroes does not write what verify= looks for; leave one of them out"},
        {o->oatomic != 0, "atomic= is not supported; leave it out"},
        {o->barrier_blocks != 0, "write_barrier= is not supported; use fsync="},
        {o->write_hint != 0,
         "write_hint= goes no further than this host's kernel, which is not involved here; "
         "leave it out"},
        {o->ioscheduler != NULL,
         "ioscheduler= is about a block device of this host's kernel, which is not involved "
         "here; leave it out"},
        {o->ioprio || o->ioprio_class,
         "prio= and prioclass= go no further than this host's kernel, which is not "
         "involved here; leave them out"},
        {o->cgroup != NULL,
         "cgroup= weights I/O in this host's kernel, which is not involved here; leave it out"},
        {o->pre_read != 0, "pre_read= fills the page cache, which is not involved here; leave it out"},
        {o->bs_unaligned != 0,
         "bs_unaligned= makes sizes that are no multiple of the device's block size; leave it "
         "out"},
    };

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (refused[i].given)
            return refuse(error, EINVAL, "%s", refused[i].text);
    return paths_are_given(td, error);
}

struct alignment {
    const char* option;
    unsigned long long value;
};

static bool is_aligned(const struct alignment* a, const struct mpath_device* device,
                       struct mpath_error* error) {
    if (a->value % device->block_size == 0)
        return true;
    return refuse(error, EINVAL, "%s is %llu bytes, no multiple of the device's block size of %u bytes",
                  a->option, a->value, device->block_size);
}

static bool sizes_are_aligned(const struct thread_data* td, const struct mpath_fio_job* job,
                              const struct mpath_device* device, struct mpath_error* error) {
    const struct thread_options* o = &td->o;
    const bool used[MPATH_DIRECTIONS] = {
        // A job that only verifies reads what it wrote, in the sizes it wrote it.
        td_read(td) || o->bs_is_seq_rand,
        td_write(td) || o->bs_is_seq_rand,
        job->does_trim,
    };

    for (int d = 0; d < MPATH_DIRECTIONS; d++) {
        const struct alignment sizes[] = {
            {"bs=", o->min_bs[d]},
            {"the largest bs=", o->max_bs[d]},
            {"blockalign=", td_random(td) ? o->ba[d] : 0},
        };

        for (size_t i = 0; used[d] && i < sizeof(sizes) / sizeof(sizes[0]); i++)
            if (!is_aligned(&sizes[i], device, error))
                return false;
        if (used[d] && o->max_bs[d] > UINT32_MAX)
            return refuse(error, EINVAL, "bs= for %s is %llu bytes, and an I/O can't be larger than 4 GiB",
                          directions[d], o->max_bs[d]);
    }
    return true;
}

static bool offsets_are_aligned(struct thread_data* td, const struct mpath_device* device,
                                struct mpath_error* error) {
    const struct thread_options* o = &td->o;
    const bool strided = o->zone_mode == ZONE_MODE_STRIDED;
    const struct alignment offsets[] = {
        {"offset_increment=", o->offset_increment},
        {"the start of this job (offset=, offset_increment=, offset_align=)",
         get_start_offset(td, td->files[0])},
        {"the step of rw=", (unsigned long long)llabs(o->ddir_seq_add)},
        {"zonerange=", strided ? o->zone_range : 0},
        {"zoneskip=", strided ? o->zone_skip : 0},
    };

    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
        if (!is_aligned(&offsets[i], device, error))
            return false;
    return true;
}

static bool start_is_on_device(struct thread_data* td, const struct mpath_device* device,
                               struct mpath_error* error) {
    const unsigned long long start = get_start_offset(td, td->files[0]);

    if (start < device->size)
        return true;
    return refuse(
        error, EINVAL,
        "offset= (with offset_increment=) starts this job at byte %llu, beyond the end of the device of "
        "%llu bytes",
        start, (unsigned long long)device->size);
}

bool job_fits_device(struct thread_data* td, const struct mpath_fio_job* job,
                     const struct mpath_device* device, struct mpath_error* error) {
    const struct engine_options* ours = td->eo;

    if (device->read_only && (job->does_write || job->does_trim))
        return refuse(error, EROFS, "the device (%s) is write protected; use rw=read or rw=randread",
                      device->identity);
    if (job->does_trim && !device->can_trim)
        return refuse(error, EOPNOTSUPP,
                      "the device (%s) can't trim; leave trims out of rw=", device->identity);
    if (job->does_write && ours->write_mode == MPATH_WRITE_ZEROES && !device->can_write_zeroes)
        return refuse(error, EOPNOTSUPP, "the device (%s) does not know Write Zeroes; use write_mode=write",
                      device->identity);
    return sizes_are_aligned(td, job, device, error) && offsets_are_aligned(td, device, error) &&
           start_is_on_device(td, device, error);
}
