// SPDX-License-Identifier: GPL-2.0-only
#include "plugin/table.h"

#include "plugin/engine_job.h"
#include "plugin/fio_compat.h"
#include "plugin/results.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pid_t owner;

static void print_line(void* context, const char* line) {
    (void)context;
    log_info("%s\n", line);
}

// fio-mpath run prints a table of its own, merged from the records.
static bool shown_elsewhere(void) {
    const char* wanted = getenv("MPATH_TABLE");

    return wanted && !strcmp(wanted, "0");
}

// Runs after fio has shown its statistics. In JSON our numbers are among the job options, so nothing is
// printed if the normal output was not asked for.
static void print_tables(void) {
    const bool wanted = (output_format & FIO_OUTPUT_NORMAL) && !shown_elsewhere();

    // A job's process may come here too: fio unloads engines, and jobs call exit() when they panic.
    if (getpid() != owner)
        return;
    results_finish();
    for (unsigned int block = 1; wanted && block <= job_list_blocks(); block++) {
        struct mpath_job** cores = NULL;
        struct engine_job* last = NULL;
        const size_t count = job_list_block(block, &cores, &last);

        if (count)
            mpath_render_table(cores, count, print_line, NULL);
        free(cores);
    }
    log_info_flush();
    job_list_free();
}

void table_prepare(void) {
    if (owner == getpid())
        return;
    owner = getpid();
    atexit(print_tables);
}
