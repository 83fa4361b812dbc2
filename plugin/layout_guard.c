// SPDX-License-Identifier: GPL-2.0-only
#include "plugin/layout_guard.h"

#include "plugin/fio_compat.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/shm.h>

// Weak: a program that is no fio at all is then refused by a sentence instead of by the dynamic linker.
#pragma weak fio_version_string
#pragma weak fio_options
#pragma weak segments

static bool refuse(struct mpath_error* error, const char* found) {
    error->code = ENOEXEC;
    snprintf(error->text, sizeof(error->text),
             "this engine was built for %s and can't run in this fio (%s, %s); build it against the source "
             "of this fio",
             MPATH_FIO_VERSION, &fio_version_string ? fio_version_string : "no version", found);
    return false;
}

static size_t symbol_size(const void* address) {
    const ElfW(Sym)* symbol = NULL;
    Dl_info info;

    if (!dladdr1(address, &info, (void**)&symbol, RTLD_DL_SYMENT) || !symbol)
        return 0;
    return symbol->st_size;
}

// Options whose first offset is that of the member they are named for, from one end of thread_options to the
// other: a member inserted or resized anywhere moves at least one of them.
#define OPTION(option, member)                                                                               \
    { option, offsetof(struct thread_options, member) }
static const struct {
    const char* name;
    unsigned int offset;
} known_options[] = {
    OPTION("description", description),
    OPTION("iodepth", iodepth),
    OPTION("iodepth_batch_complete_max", iodepth_batch_complete_max),
    OPTION("nrfiles", nr_files),
    OPTION("create_serialize", create_serialize),
    OPTION("verify", verify),
    OPTION("verify_interval", verify_interval),
    OPTION("thread", use_thread),
    OPTION("norandommap", norandommap),
    OPTION("fsync", fsync_blocks),
    OPTION("ramp_time", ramp_time),
    OPTION("zonemode", zone_mode),
    OPTION("iomem_align", mem_align),
    OPTION("numjobs", numjobs),
    OPTION("group_reporting", group_reporting),
    OPTION("disable_lat", disable_lat),
    OPTION("clat_percentiles", clat_percentiles),
    OPTION("io_submit_mode", io_submit_mode),
    OPTION("number_ios", number_ios),
    OPTION("latency_target", latency_target),
    OPTION("allow_mounted_write", allow_mounted_write),
    OPTION("log_entries", log_entries),
};

static bool option_is_at(const char* name, unsigned int offset) {
    for (const struct fio_option* option = fio_options; option->name; option++)
        if (!strcmp(option->name, name))
            return option->off1 == offset;
    return false;
}

bool layout_matches_fio(struct mpath_error* error) {
    if (!&fio_version_string || !&fio_options || !&segments)
        return refuse(error, "it does not export what an engine needs");
    if (strcmp(fio_version_string, MPATH_FIO_VERSION) != 0)
        return refuse(error, "another version");
    if (symbol_size(&fio_options) != sizeof(struct fio_option) * FIO_MAX_OPTS ||
        symbol_size(&segments) != sizeof(struct thread_segment) * REAL_MAX_SEG)
        return refuse(error, "the same version, but its tables have other sizes");
    for (size_t i = 0; i < sizeof(known_options) / sizeof(known_options[0]); i++)
        if (!option_is_at(known_options[i].name, known_options[i].offset))
            return refuse(error, "the same version, but its options are laid out differently");
    return true;
}

bool layout_matches_job(const struct thread_data* td, const struct ioengine_ops* ops,
                        struct mpath_error* error) {
    // init.c add_thread_segment(): what fio asked the kernel for.
    const size_t segment_size = JOBS_PER_SEG * sizeof(struct thread_data) + 2 * sizeof(unsigned int);
    struct shmid_ds segment;

    if (shmctl(segments[0].shm_id, IPC_STAT, &segment) || segment.shm_segsz != segment_size)
        return refuse(error, "the same version, but its jobs have another size");
    if (td->io_ops != ops || td->o.magic != OPT_MAGIC)
        return refuse(error, "the same version, but its jobs are laid out differently");
    for (unsigned int i = 0; i < td->files_index; i++)
        if (td->files[i]->fd != -1 || td->files[i]->fileno != (int)i)
            return refuse(error, "the same version, but its files are laid out differently");
    return true;
}

bool layout_matches_io_u(const struct io_u* io_u, unsigned int index, struct mpath_error* error) {
    if (io_u->index != index || io_u->flags != IO_U_F_FREE || io_u->xfer_buflen || io_u->resid || io_u->error)
        return refuse(error, "the same version, but its I/O units are laid out differently");
    return true;
}
