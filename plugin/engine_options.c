// SPDX-License-Identifier: GPL-2.0-only
#include "plugin/engine_options.h"

#include <string.h>

// allow_mounted_write= is one of fio's own options: it can't be defined again, and means what we need.

#define OURS .category = FIO_OPT_C_ENGINE, .group = FIO_OPT_G_INVALID

static int check_iopolicy(void* options, const char* text);

struct fio_option engine_option_table[] = {
    {
        .name = "paths",
        .lname = "Paths to the device",
        .type = FIO_OPT_STR_STORE,
        .off1 = offsetof(struct engine_options, paths),
        .help =
            "Required. All paths to the device, comma-separated, each "
            "[name=]nvme+tcp://HOST[:PORT]/SUBNQN/NSID or [name=]iscsi://[USER@]HOST[:PORT]/TARGET/LUN. "
            "PORT is 4420 or 3260 unless given; an IPv6 address stands in brackets; ',' and '/' inside a "
            "name are "
            "written %2C and %2F. Unnamed paths are called p0, p1, ... by their place in the list. All must "
            "lead to the same device, or the job is refused. filename= is then only a label. Writing to "
            "a device that this host has mounted or in use needs fio's own allow_mounted_write=1",
        OURS,
    },
    {
        .name = "discover",
        .lname = "Ask for further paths",
        .type = FIO_OPT_BOOL,
        .off1 = offsetof(struct engine_options, discover),
        .def = "0",
        .help =
            "1: ask the discovery service of every host in paths= (port 8009, else the path's own port), "
            "and those it refers to, for all ports of the paths' subsystems, or an iSCSI portal by "
            "SendTargets for "
            "all portals of the path's target. Those not listed yet become "
            "further paths to the same namespace or LUN, called p0, p1, ... by their place behind the listed "
            "ones. Default 0: only what is listed",
        OURS,
    },
    {
        .name = "path",
        .lname = "Paths used by this job",
        .type = FIO_OPT_STR_STORE,
        .off1 = offsetof(struct engine_options, path),
        .help = "Which of paths= this job connects and uses: names or places in the list (from 0), "
                "comma-separated. "
                "Default: all of them",
        OURS,
    },
    {
        .name = "min_paths",
        .lname = "Least number of usable paths",
        .type = FIO_OPT_INT,
        .off1 = offsetof(struct engine_options, min_paths),
        .minval = 1,
        .maxval = 1024,
        .def = "1",
        .help = "The job is refused if fewer of its paths than this can be connected and are optimized or "
                "non-optimized. 1 to 1024, default 1",
        OURS,
    },
    {
        .name = "iopolicy",
        .lname = "I/O policy",
        .type = FIO_OPT_STR_STORE,
        .off1 = offsetof(struct engine_options, iopolicy),
        .def = "round-robin",
        .cb = check_iopolicy,
        .posval =
            {
                {
                    .ival = "round-robin",
                    .help = "The next optimized path each time; non-optimized ones only if there is no other",
                },
                {
                    .ival = "queue-depth",
                    .help = "The optimized path with the fewest I/Os outstanding",
                },
                {
                    .ival = "numa",
                    .help = "One path while it is usable: the first optimized one",
                },
                {
                    .ival = "service-time",
                    .help = "The path with the fewest bytes outstanding, as device mapper's selector",
                },
                {
                    .ival = "latency",
                    .help = "More I/O the shorter a path's response time has been lately",
                },
                {
                    .ival = "preferred:NAME",
                    .help = "That path while it is usable, else the next in the list, and back",
                },
            },
        .help =
            "Which path an I/O takes. round-robin, queue-depth and numa have the rule of the Linux kernel's "
            "native multipath, service-time that of device mapper, latency that of a proposal for the "
            "kernel; "
            "all of them within this job instead of within the host. Default round-robin",
        OURS,
    },
    {
        .name = "steer",
        .lname = "Schedule of settings",
        .type = FIO_OPT_STR_STORE,
        .off1 = offsetof(struct engine_options, steer),
        .help =
            "Settings to visit in turn while the job runs: comma-separated SETTING@DURATION. A setting is an "
            "iopolicy, path:NAME[+NAME...], or both joined by '/'; what it does not name is taken from "
            "iopolicy= and path=; NAME may also be a place among the job's paths, from 0. Example: "
            "round-robin@10s,queue-depth@10s,path:a@10s. Jobs that start "
            "together switch together, from the end of the last ramp on. A command from outside (fio-mpath "
            "policy) suspends the schedule. Default: no schedule",
        OURS,
    },
    {
        .name = "steer_order",
        .lname = "Order of the schedule",
        .type = FIO_OPT_STR,
        .off1 = offsetof(struct engine_options, steer_order),
        .def = "abba",
        .posval =
            {
                {
                    .ival = "abba",
                    .oval = MPATH_STEER_ABBA,
                    .help = "Forwards, backwards, forwards ...: what drifts slowly hits all alike",
                },
                {
                    .ival = "cycle",
                    .oval = MPATH_STEER_CYCLE,
                    .help = "Forwards each time",
                },
                {
                    .ival = "shuffle",
                    .oval = MPATH_STEER_SHUFFLE,
                    .help = "Each pass in an order of its own, the same in all jobs, that randseed= decides",
                },
            },
        .help = "In which order the settings of steer= are visited. Default abba",
        OURS,
    },
    {
        .name = "steer_settle",
        .lname = "Time to settle after a switch",
        .type = FIO_OPT_STR_VAL_TIME,
        .off1 = offsetof(struct engine_options, steer_settle),
        .maxval = 3600ULL * 1000 * 1000,
        .is_seconds = 1,
        .is_time = 1,
        .def = "500ms",
        .help =
            "At least this long after a switch is kept apart as the transition, and as long as I/O of the "
            "setting before is under way. Seconds, or with a unit, as 200ms. Default 500ms",
        OURS,
    },
    {
        .name = "nr_io_queues",
        .lname = "I/O queues per path",
        .type = FIO_OPT_INT,
        .off1 = offsetof(struct engine_options, nr_io_queues),
        .minval = 1,
        .maxval = 1024,
        .def = "1",
        .help = "I/O queues of this job on each of its paths, with iSCSI sessions; every one is one TCP "
                "connection. "
                "The target may grant fewer. 1 to 1024, default 1",
        OURS,
    },
    {
        .name = "queue_size",
        .lname = "Entries per I/O queue",
        .type = FIO_OPT_INT,
        .off1 = offsetof(struct engine_options, queue_size),
        .minval = 16,
        .maxval = 1024,
        .def = "128",
        .help =
            "Entries of each I/O queue, one of which stays free; what does not fit waits in the engine. The "
            "target may grant fewer. 16 to 1024, default 128",
        OURS,
    },
    {
        .name = "keep_alive_tmo",
        .lname = "Keep-alive timeout",
        .type = FIO_OPT_INT,
        .off1 = offsetof(struct engine_options, keep_alive_tmo),
        .maxval = 86400,
        .def = "5",
        .help = "Seconds after which a path's target may drop us if it has heard nothing; the engine sends "
                "keep-alives in time, also while fio sleeps; with iSCSI after how long without an answer to "
                "NOP-Out a path "
                "is lost. 0 switches it off. 0 to 86400, default 5",
        OURS,
    },
    {
        .name = "reconnect_delay",
        .lname = "Delay of a reconnect",
        .type = FIO_OPT_INT,
        .off1 = offsetof(struct engine_options, reconnect_delay),
        .minval = 1,
        .maxval = 86400,
        .def = "10",
        .help =
            "Seconds from the loss of a path, or from an attempt that failed, to the next attempt to connect "
            "it again. 1 to 86400, default 10",
        OURS,
    },
    {
        .name = "ctrl_loss_tmo",
        .lname = "Controller loss timeout",
        .type = FIO_OPT_INT,
        .off1 = offsetof(struct engine_options, ctrl_loss_tmo),
        .minval = -1,
        .maxval = 1000000,
        .def = "600",
        .help =
            "Seconds for which a lost path is tried again, as ctrl_loss_tmo / reconnect_delay attempts, "
            "rounded up; then it is given up. While any path may return, I/O that has no usable path waits; "
            "after that it fails. 0: no attempt; -1: for ever. Default 600",
        OURS,
    },
    {
        .name = "fast_io_fail_tmo",
        .lname = "Fast I/O failure timeout",
        .type = FIO_OPT_INT,
        .off1 = offsetof(struct engine_options, fast_io_fail_tmo),
        .minval = -1,
        .maxval = 1000000,
        .def = "-1",
        .help = "Seconds after the loss of a path from which on I/O no longer waits for it, while it goes on "
                "being "
                "tried. Default -1: I/O waits until ctrl_loss_tmo is over",
        OURS,
    },
    {
        .name = "io_timeout",
        .lname = "Deadline of an I/O",
        .type = FIO_OPT_STR_VAL_TIME,
        .off1 = offsetof(struct engine_options, io_timeout),
        .maxval = 86400ULL * 1000 * 1000,
        .is_seconds = 1,
        .is_time = 1,
        .def = "30",
        .help =
            "How long one attempt of an I/O may take on its path; then the path's connections are ended and "
            "what they carried is sent on another path. Seconds, or with a unit, as 500ms. 0: no deadline. "
            "Default 30, the kernel's",
        OURS,
    },
    {
        .name = "retry_hold",
        .lname = "Hold before a write is repeated",
        .type = FIO_OPT_STR,
        .off1 = offsetof(struct engine_options, retry_hold),
        .posval =
            {
                {
                    .ival = "none",
                    .oval = MPATH_HOLD_NONE,
                    .help = "Send it at once, as the kernel does",
                },
                {
                    .ival = "kato",
                    .oval = MPATH_HOLD_KATO,
                    .help = "Wait until the target must have noticed the loss by its keep-alive timeout",
                },
            },
        .help =
            "How long a write that was lost with its path, and may still be executed there, waits before it "
            "is "
            "sent again. Default: kato with verify=, otherwise none; exposed writes are counted either way",
        OURS,
    },
    {
        .name = "dnr",
        .lname = "Path errors with Do Not Retry",
        .type = FIO_OPT_STR,
        .off1 = offsetof(struct engine_options, dnr),
        .def = "fail",
        .posval =
            {
                {
                    .ival = "fail",
                    .oval = MPATH_DNR_FAIL,
                    .help = "The I/O fails, as in the kernel",
                },
                {
                    .ival = "failover",
                    .oval = MPATH_DNR_FAILOVER,
                    .help = "Another path is tried",
                },
            },
        .help = "What a path-related status with the bit Do Not Retry does to an I/O. Default fail",
        OURS,
    },
    {
        .name = "fault_log",
        .lname = "Fault log of the target",
        .type = FIO_OPT_STR_STORE,
        .off1 = offsetof(struct engine_options, fault_log),
        .help = "File that `fio-mpath target --fault-log` writes on this host: with it the record says how "
                "long each "
                "path event took to be noticed. Default: not known",
        OURS,
    },
    {
        .name = "hdr_digest",
        .lname = "Header digest",
        .type = FIO_OPT_BOOL,
        .off1 = offsetof(struct engine_options, hdr_digest),
        .def = "0",
        .help = "1: every header carries a CRC32C. A wrong one ends the connection, because where the next "
                "header "
                "begins is not known then. A target that does not agree is refused. Default 0",
        OURS,
    },
    {
        .name = "data_digest",
        .lname = "Data digest",
        .type = FIO_OPT_BOOL,
        .off1 = offsetof(struct engine_options, data_digest),
        .def = "0",
        .help =
            "1: all data carries a CRC32C. A wrong one fails that I/O alone. A target that does not agree is "
            "refused. Default 0",
        OURS,
    },
    {
        .name = "hpda",
        .lname = "Alignment of read data",
        .type = FIO_OPT_INT,
        .off1 = offsetof(struct engine_options, hpda),
        .maxval = 31,
        .def = "0",
        .help =
            "What the host asks of the target (HPDA): read data begins at a multiple of 4 * (hpda + 1) bytes "
            "in its PDU. 0 to 31, default 0",
        OURS,
    },
    {
        .name = "max_r2t",
        .lname = "Outstanding R2Ts per command",
        .type = FIO_OPT_INT,
        .off1 = offsetof(struct engine_options, max_r2t),
        .minval = 1,
        .maxval = 16,
        .def = "1",
        .help = "How many pieces of one write the target may ask for at a time (MAXR2T). 1 to 16, default 1",
        OURS,
    },
    {
        .name = "host_traddr",
        .lname = "Address to connect from",
        .type = FIO_OPT_STR_STORE,
        .off1 = offsetof(struct engine_options, host_traddr),
        .help =
            "Numeric address of this host from which all connections are made. Default: the kernel chooses",
        OURS,
    },
    {
        .name = "host_iface",
        .lname = "Interface to connect through",
        .type = FIO_OPT_STR_STORE,
        .off1 = offsetof(struct engine_options, host_iface),
        .help = "Network interface of this host through which all connections are made. Default: the kernel "
                "chooses",
        OURS,
    },
    {
        .name = "tos",
        .lname = "Type of service",
        .type = FIO_OPT_INT,
        .off1 = offsetof(struct engine_options, tos),
        .minval = -1,
        .maxval = 255,
        .def = "-1",
        .help =
            "Type of service (IPv6: traffic class) of all packets. 0 to 255; default -1: the kernel chooses",
        OURS,
    },
    {
        .name = "busy_poll",
        .lname = "Spin instead of sleeping",
        .type = FIO_OPT_BOOL,
        .off1 = offsetof(struct engine_options, busy_poll),
        .def = "0",
        .help =
            "1: look at the sockets again and again instead of sleeping until something comes; takes a whole "
            "core. Default 0",
        OURS,
    },
    {
        .name = "write_mode",
        .lname = "What a write sends",
        .type = FIO_OPT_STR,
        .off1 = offsetof(struct engine_options, write_mode),
        .def = "write",
        .posval =
            {
                {
                    .ival = "write",
                    .oval = MPATH_WRITE_DATA,
                    .help = "Write commands with fio's data",
                },
                {
                    .ival = "zeroes",
                    .oval = MPATH_WRITE_ZEROES,
                    .help = "Write Zeroes commands, which carry no data",
                },
            },
        .help = "As in fio's io_uring_cmd engine: what the job's writes are sent as. Default write",
        OURS,
    },
    {
        .name = "hostnqn",
        .lname = "Host NQN",
        .type = FIO_OPT_STR_STORE,
        .off1 = offsetof(struct engine_options, hostnqn),
        .help = "The NVMe Qualified Name this host gives to targets. Default: /etc/nvme/hostnqn, else one "
                "generated "
                "for this host",
        OURS,
    },
    {
        .name = "hostid",
        .lname = "Host identifier",
        .type = FIO_OPT_STR_STORE,
        .off1 = offsetof(struct engine_options, hostid),
        .help = "The UUID this host gives to targets. Default: /etc/nvme/hostid, else one generated for this "
                "host",
        OURS,
    },
    {
        .name = "initiator",
        .lname = "iSCSI initiator name",
        .type = FIO_OPT_STR_STORE,
        .off1 = offsetof(struct engine_options, initiator),
        .help = "The iSCSI name this host gives to targets. Default: InitiatorName of "
                "/etc/iscsi/initiatorname.iscsi, else one made from the name of this host",
        OURS,
    },
    {
        .name = "chap_user",
        .lname = "CHAP user",
        .type = FIO_OPT_STR_STORE,
        .off1 = offsetof(struct engine_options, chap_user),
        .help = "The name that proves itself to iSCSI targets by CHAP, if they want that; a user in a path's "
                "URI comes first. Needs chap_secret_file=. Default: no CHAP",
        OURS,
    },
    {
        .name = "chap_secret_file",
        .lname = "File of CHAP secrets",
        .type = FIO_OPT_STR_STORE,
        .off1 = offsetof(struct engine_options, chap_secret_file),
        .help =
            "A file that only its owner can read: the first line is the secret of chap_user=, the second, "
            "if there is one, the secret by which the target has to prove itself. Default: no CHAP",
        OURS,
    },
    {
        .name = "mpath_log",
        .lname = "Prefix of the record",
        .type = FIO_OPT_STR_STORE,
        .off1 = offsetof(struct engine_options, mpath_log),
        .help =
            "Each job writes its record, everything it measured and under which conditions, to the JSON file "
            "PREFIX_mpath.N.json, N being fio's number of the job. Default: no record",
        OURS,
    },
    {
        .name = "mpath_interval",
        .lname = "Interval of the record",
        .type = FIO_OPT_STR_VAL_TIME,
        .off1 = offsetof(struct engine_options, mpath_interval),
        .minval = 10 * 1000,
        .maxval = 1800ULL * 1000 * 1000,
        .is_seconds = 1,
        .is_time = 1,
        .def = "1",
        .help =
            "Length of an interval of the time series in the record, and time between two checkpoints of the "
            "record's file: seconds, or with a unit, as 500ms. 10ms to 30m, default 1s",
        OURS,
    },
    {.name = NULL},
};

// When fio parses, so that --parse-only tells as well; whether NAME is a path is known later.
static int check_iopolicy(void* options, const char* text) {
    static const char preferred[] = "preferred:";
    static const char* const policies[] = {"round-robin", "queue-depth", "numa", "service-time", "latency"};

    (void)options;
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
        if (strcmp(text, policies[i]) == 0)
            return 0;
    if (strncmp(text, preferred, sizeof(preferred) - 1) == 0 && text[sizeof(preferred) - 1])
        return 0;
    log_err("mpath: iopolicy=%s is not a policy; known are round-robin, queue-depth, numa, service-time, "
            "latency and preferred:NAME.\n",
            text);
    return 1;
}

static const char* given_or_null(const char* text) {
    return text && text[0] ? text : NULL;
}

struct mpath_options options_for_core(const struct engine_options* given, bool allow_mounted_write) {
    return (struct mpath_options){
        .paths = given_or_null(given->paths),
        .discover = given->discover != 0,
        .path = given_or_null(given->path),
        .hostnqn = given_or_null(given->hostnqn),
        .hostid = given_or_null(given->hostid),
        .initiator = given_or_null(given->initiator),
        .chap_user = given_or_null(given->chap_user),
        .chap_secret_file = given_or_null(given->chap_secret_file),
        .mpath_log = given_or_null(given->mpath_log),
        .min_paths = given->min_paths,
        .iopolicy = given->iopolicy,
        .steer = given_or_null(given->steer),
        .steer_order = given->steer_order,
        .steer_settle_ns = given->steer_settle * 1000,
        .nr_io_queues = given->nr_io_queues,
        .queue_size = given->queue_size,
        .keep_alive_tmo = given->keep_alive_tmo,
        .reconnect_delay = given->reconnect_delay,
        .ctrl_loss_tmo = given->ctrl_loss_tmo,
        .fast_io_fail_tmo = given->fast_io_fail_tmo,
        .io_timeout_ns = given->io_timeout * 1000,
        .retry_hold = given->retry_hold,
        .dnr = given->dnr,
        .fault_log = given_or_null(given->fault_log),
        .hdr_digest = given->hdr_digest != 0,
        .data_digest = given->data_digest != 0,
        .hpda = given->hpda,
        .max_r2t = given->max_r2t,
        .host_traddr = given_or_null(given->host_traddr),
        .host_iface = given_or_null(given->host_iface),
        .tos = given->tos,
        .busy_poll = given->busy_poll != 0,
        .write_mode = given->write_mode,
        .interval_ns = given->mpath_interval * 1000,
        .allow_mounted_write = allow_mounted_write,
    };
}
