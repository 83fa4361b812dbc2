/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What fio offers and this engine can't do is refused in a sentence, never ignored. Options without any
 * meaning for a device behind a network (page cache, file creation) are accepted: there is nothing to do.
 */
#pragma once

#include "plugin/bridge.h"

struct thread_data;

/* Before anything is connected. */
bool options_can_be_served(const struct thread_data* td, struct mpath_error* error);

/* With the device known, and its size given to fio's files. */
bool job_fits_device(struct thread_data* td, const struct mpath_fio_job* job,
                     const struct mpath_device* device, struct mpath_error* error);
