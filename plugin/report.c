// SPDX-License-Identifier: GPL-2.0-only
#include "plugin/report.h"

#include "plugin/fio_compat.h"

#include <stdio.h>
#include <string.h>

void print_error(const char* job, const char* text) {
    const char* separator = job ? ": " : "";

    job = job ? job : "";
    // log_err() writes to the file of --output= as well, which would break JSON there; but from a server it
    // is the only way to the client.
    if (is_backend || !(output_format & FIO_OUTPUT_JSON))
        log_err("mpath: %s%s%s.\n", job, separator, text);
    else
        fprintf(stderr, "mpath: %s%s%s.\n", job, separator, text);
}

int fail_job(struct thread_data* td, const struct mpath_error* error) {
    print_error(td->o.name, error->text);
    // Not td_verror(): it puts this file's full name into the 128 characters there are.
    if (!td->error) {
        td->error = error->code ? error->code : EIO;
        if (!td->first_error)
            snprintf(td->verror, sizeof(td->verror), "engine=mpath, error=%s", strerror(td->error));
    }
    return 1;
}
