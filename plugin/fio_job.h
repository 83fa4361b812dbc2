/* SPDX-License-Identifier: GPL-2.0-only */
/* What the core has to know of a fio job. */
#pragma once

#include "plugin/bridge.h"

struct thread_data;

/* Points into fio's memory, except for `options`, which the caller frees. */
struct mpath_fio_job describe_fio_job(struct thread_data* td);
