/* SPDX-License-Identifier: GPL-2.0-only */
/* The text table after fio's statistics. */
#pragma once

/*
 * Called by every setup(). From the first one on, fio's normal output is followed by a table per block when
 * fio exits.
 */
void table_prepare(void);
