/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Proves that the fio which loaded us lays out its structures as the headers we were compiled with say.
 * Neither FIO_IOOPS_VERSION nor the version string is enough: distributions patch members in, and releases
 * with the same value of the former differ. Without this a foreign fio crashes or, worse, does not.
 */
#pragma once

#include "plugin/bridge.h"

struct thread_data;
struct io_u;
struct ioengine_ops;

/* When the engine is loaded: fio's version string and its table of options (any change of thread_options). */
bool layout_matches_fio(struct mpath_error* error);

/* In setup(): size of thread_data, and members all over it. */
bool layout_matches_job(const struct thread_data* td, const struct ioengine_ops* ops,
                        struct mpath_error* error);

/* In io_u_init(), for the io_u that must be number `index`: fio has just zeroed it and set these two. */
bool layout_matches_io_u(const struct io_u* io_u, unsigned int index, struct mpath_error* error);
