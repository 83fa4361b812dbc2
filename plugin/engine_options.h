/* SPDX-License-Identifier: GPL-2.0-only */
/* The options this engine adds to fio's. What fio does not find here or among its own it refuses by itself.
 */
#pragma once

#include "plugin/bridge.h"
#include "plugin/fio_compat.h"

/* As fio stores them. It writes a pointer over the first member, and takes offset 0 for "no offset". */
struct engine_options {
    void* fio_reserved;
    char* paths;
    unsigned int discover;
    char* path;
    char* hostnqn;
    char* hostid;
    char* initiator;
    char* chap_user;
    char* chap_secret_file;
    char* mpath_log;
    unsigned int min_paths;
    char* iopolicy;
    char* steer;
    unsigned int steer_order;
    unsigned long long steer_settle; /* microseconds */
    unsigned int nr_io_queues;
    unsigned int queue_size;
    unsigned int keep_alive_tmo;
    unsigned int reconnect_delay;
    int ctrl_loss_tmo;
    int fast_io_fail_tmo;
    unsigned long long io_timeout; /* microseconds */
    unsigned int retry_hold;
    unsigned int dnr;
    char* fault_log;
    unsigned int hdr_digest;
    unsigned int data_digest;
    unsigned int hpda;
    unsigned int max_r2t;
    char* host_traddr;
    char* host_iface;
    int tos;
    unsigned int busy_poll;
    unsigned int write_mode;
    unsigned long long mpath_interval; /* microseconds */
};

extern struct fio_option engine_option_table[];

/* For the core. Strings stay fio's: they are gone when the job has started. */
struct mpath_options options_for_core(const struct engine_options* given, bool allow_mounted_write);
