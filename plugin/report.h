/* SPDX-License-Identifier: GPL-2.0-only */
/* How an error reaches the user without breaking fio's JSON. */
#pragma once

#include "plugin/bridge.h"

struct thread_data;

/*
 * Prints the sentence, and makes the job fail with the error's code unless it has failed already. fio then
 * adds its own line with the code. Always returns 1, which is what fio's hooks return on failure.
 */
int fail_job(struct thread_data* td, const struct mpath_error* error);

/* Prints the sentence only. `job` may be NULL. */
void print_error(const char* job, const char* text);
