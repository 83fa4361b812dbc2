// SPDX-License-Identifier: GPL-2.0-only
// The C ABI between the shim (plugin/, C, the only code that knows fio) and the core (job/, C++20, which
// knows nothing of fio). Valid C11 and C++20. No C++ exception and no fio type crosses it.
//
// Life of one fio job, which is one `struct mpath_job`:
//
//   process           thread            calls
//   fio's parent      main              mpath_job_setup(); then mpath_results_names()
//   the job           fio's job thread  mpath_job_start()
//                                       { queue commit getevents event account reset } ...
//                                       mpath_job_stop()
//   fio's parent      another           after the job's stop(): mpath_results_values()
//   fio's parent      main, at exit     mpath_render_table()
//   fio's parent      main              mpath_job_free()
//
// "The job" is a fork of the parent, or with thread=1 a thread of it. The handle is made in the parent and
// used in the job: after a fork both processes hold their own copy, so whatever the parent needs for
// rendering has to be in memory that setup() mapped shared. With thread=1 both are the same object; the
// parent touches it only before start() and after stop().
// Jobs are set up one after the other, all of them before the first one starts; with numjobs=N that is N
// calls of mpath_job_setup() for the same paths, so what is found out about a device is kept by target.
//
// Errors: functions that return int return 0 or a positive errno unless they say otherwise; where a
// `struct mpath_error` is given it is then filled with the same errno and one sentence without a full stop.
// The core never prints.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mpath_job;

struct mpath_error {
    int code; ///< positive errno
    char text[512];
};

enum mpath_steer_order { MPATH_STEER_ABBA, MPATH_STEER_CYCLE, MPATH_STEER_SHUFFLE };
enum mpath_write_mode { MPATH_WRITE_DATA, MPATH_WRITE_ZEROES };
enum mpath_retry_hold { MPATH_HOLD_BY_VERIFY, MPATH_HOLD_NONE, MPATH_HOLD_KATO };
enum mpath_dnr { MPATH_DNR_FAIL, MPATH_DNR_FAILOVER };

/// The engine's options as the job file gives them. A string is NULL when the option was not given.
/// Everything is copied by mpath_job_setup().
struct mpath_options {
    const char* paths;            ///< comma-separated [name=]URI; never NULL or empty
    bool discover;                ///< add what the paths' discovery services know
    const char* path;             ///< names and indices out of `paths`; NULL = all
    const char* hostnqn;          ///< NULL = from /etc/nvme, else generated
    const char* hostid;           ///< NULL = from /etc/nvme, else generated
    const char* initiator;        ///< iSCSI name; NULL = from /etc/iscsi, else generated
    const char* chap_user;        ///< NULL = that of the URI, or no CHAP
    const char* chap_secret_file; ///< NULL = no CHAP
    const char* mpath_log;        ///< prefix of the record's name; NULL = no record
    uint32_t min_paths;           ///< 1..1024
    const char* iopolicy;         ///< never NULL
    const char* steer;            ///< comma-separated setting@duration; NULL = no schedule
    uint32_t steer_order;         ///< enum mpath_steer_order
    uint64_t steer_settle_ns;     ///< kept apart after a switch, at least
    uint32_t nr_io_queues;        ///< per path, 1..1024
    uint32_t queue_size;          ///< entries, 16..1024
    uint32_t keep_alive_tmo;      ///< seconds, 0 = off
    uint32_t reconnect_delay;     ///< seconds, at least 1
    int32_t ctrl_loss_tmo;        ///< seconds; negative = for ever
    int32_t fast_io_fail_tmo;     ///< seconds; negative = off
    uint64_t io_timeout_ns;       ///< of one attempt of an I/O; 0 = none
    uint32_t retry_hold;          ///< enum mpath_retry_hold
    uint32_t dnr;                 ///< enum mpath_dnr
    const char* fault_log;        ///< what the target says it did, and when; NULL = not known
    bool hdr_digest;
    bool data_digest;
    uint32_t hpda;           ///< dwords, 0's based, 0..31
    uint32_t max_r2t;        ///< 1..16
    const char* host_traddr; ///< NULL = the kernel's choice
    const char* host_iface;  ///< NULL = the kernel's choice
    int32_t tos;             ///< 0..255, -1 = the kernel's choice
    bool busy_poll;
    uint32_t write_mode;  ///< enum mpath_write_mode
    uint64_t interval_ns; ///< length of an interval of the time series, 10 ms to 30 minutes
    bool allow_mounted_write;
};

/// Reads, writes and trims, in this order, wherever an array has one element per direction. Flushes are
/// not a direction: fio counts them apart, and so do we.
enum { MPATH_DIRECTIONS = 3 };

struct mpath_text_pair {
    const char* name;
    const char* value; ///< NULL for an option that was given without a value
};

/// What the core has to know of the fio job: to judge whether the paths can serve it, to name it, and for
/// the record's conditions. Everything is copied by mpath_job_setup().
struct mpath_fio_job {
    const char* fio_version; ///< "fio-3.33"
    const char* name;        ///< of the job's section; the same for all of its numjobs
    uint32_t thread_number;  ///< 1.., unique within the run: names files as fio names its own logs
    uint32_t subjob_number;  ///< 0..numjobs-1, in no particular order
    uint32_t numjobs;        ///< of the section; fio tells it only to the first of them, the others say 1
    uint32_t groupid;        ///< 0..; stonewall and new_group begin a new one
    bool group_reporting;
    bool uses_thread;
    uint32_t server_port;  ///< of the fio server that runs the job; 0 = none does
    bool shows_statistics; ///< false with stats=0: fio reports nothing for this job, and so do we

    uint32_t iodepth;      ///< the largest number of I/Os outstanding; indices are 0..iodepth-1
    bool does_read;        ///< reads can be issued, those of verify= included
    bool does_write;       ///< writes can be issued
    bool does_trim;        ///< trims can be issued
    bool syncs_writes;     ///< sync=: a write ends when it has reached the medium
    bool does_flush;       ///< flushes can be issued (fsync=, fdatasync=, end_fsync=, fsync_on_close=)
    bool mixes_directions; ///< unified_rw_reporting=mixed: fio reports the sum over directions
    const char* rw;        ///< "randrw", …
    const char* verify;    ///< "crc32c", …; NULL = verifies nothing
    uint64_t min_block_size[MPATH_DIRECTIONS]; ///< bytes
    uint64_t max_block_size[MPATH_DIRECTIONS]; ///< bytes; what one I/O can transfer at most
    uint64_t rate[MPATH_DIRECTIONS];           ///< bytes per second; 0 = unlimited
    uint32_t rate_iops[MPATH_DIRECTIONS];      ///< I/Os per second; 0 = unlimited
    uint32_t compress_percentage;              ///< of write buffers
    uint32_t dedupe_percentage;                ///< of write buffers
    bool zero_buffers;
    bool refill_buffers;
    bool scramble_buffers;
    uint64_t runtime_ns;     ///< 0 = until size is done
    uint64_t ramp_ns;        ///< 0 = none
    bool waits_for_earlier;  ///< stonewall=: starts when all jobs before it have ended
    uint64_t start_delay_ns; ///< 0 = none
    uint64_t random_seed;    ///< randseed=
    bool time_based;
    /// Every option that the job file or command line gave, the [global] section included, as text.
    const struct mpath_text_pair* options;
    size_t option_count;
};

/// What the shim tells fio about the device and holds against the job's wishes.
struct mpath_device {
    uint64_t size;       ///< bytes
    uint32_t block_size; ///< bytes of one LBA, a power of two
    bool can_trim;
    bool can_write_zeroes;
    bool read_only;     ///< write protected
    char identity[128]; ///< DeviceIdentity::text()
};

enum mpath_operation { MPATH_READ, MPATH_WRITE, MPATH_TRIM, MPATH_FLUSH };

struct mpath_completion {
    uint32_t index;
    int error;         ///< positive errno, 0 = success
    uint32_t residual; ///< bytes not transferred; always 0 with success: fio would ask again for the rest
};

// ---- setup: fio's parent -----------------------------------------------------------------------------

/// Parses paths=, adds to it what discover= finds, selects path=, connects to every selected path, finds out
/// what it leads to, and disconnects again. Refuses: an unparsable or unknown path, fewer than min_paths
/// usable, different devices, metadata and protection information, a job that writes to a device which this
/// host has in use (unless allow_mounted_write). Maps what has to be shared between parent and job.
/// @param job     the new handle; untouched on failure
/// @param device  filled on success
int mpath_job_setup(const struct mpath_options* options, const struct mpath_fio_job* fio_job,
                    struct mpath_job** job, struct mpath_device* device, struct mpath_error* error);

/// Frees the handle in the process that calls it. The job must have stopped, or never have started.
/// Shared memory is unmapped. NULL is allowed.
void mpath_job_free(struct mpath_job* job);

// ---- the job -------------------------------------------------------------------------------------------

/// Connects all paths and queues and starts the keeper thread. Time spent here does not count: fio starts
/// its clock afterwards.
/// @param terminate    set by fio, possibly from another process, when the job shall end; looked at at least
///                     every 100 ms while getevents() waits, see there
/// @param buffers      memory that all I/O buffers of this job lie in, iodepth times the largest block; page
///                     aligned, unless iomem_align= shifts it; there until just before stop(). NULL if the
///                     job transfers no data (trims only)
/// @param buffers_size bytes
/// If it fails, stop() is called nevertheless.
int mpath_job_start(struct mpath_job* job, const volatile bool* terminate, void* buffers, size_t buffers_size,
                    struct mpath_error* error);

/// Takes one I/O. Only the job thread calls it, never from inside another call. Sends nothing by itself.
/// This is the moment the job's response time starts.
/// @param index   0..iodepth-1; not outstanding (the shim checks)
/// @param buffer  `length` bytes inside the memory given to start(); NULL for trim and flush. Until its
///                completion the core may read it (write) or write it (read)
/// @param offset  bytes; multiple of the block size, like length, and offset + length within the device (the
///                shim checks all that)
/// @param length  bytes, below 4 GiB; 0 for flush. Not limited by the device: the core splits
///
/// Every I/O is taken, and comes out of getevents() exactly once: with an error if it can't be sent at all
/// (fio's continue_on_error= works only so), and later if it has to wait. There is no "busy".
void mpath_job_queue(struct mpath_job* job, uint32_t index, enum mpath_operation operation, void* buffer,
                     uint64_t offset, uint64_t length);

/// Everything queued may be sent. fio calls it after iodepth_batch I/Os (default 1) and before it waits; not
/// when nothing was queued. Sending may be put off until the next getevents(), which fio always calls before
/// it sleeps (thinktime=, rate=), but not before it has filled its queue depth: buffers that take long to
/// generate (verify, refill_buffers) can lie in between. fio's submission latency ends here.
void mpath_job_commit(struct mpath_job* job);

/// Waits for completions and lines them up as events 0..n-1, valid until the next getevents().
/// @param min         0: only look, don't wait. Otherwise wait until that many are there; never more than are
///                    outstanding
/// @param max         at most so many, 1..iodepth; keep the rest for the next call. max >= min
/// @return their number; negative errno only if the job can't go on at all
///
/// Every I/O taken has to come out in the end, with an error if need be: at the end of a job fio waits once
/// for all that is outstanding, then frees buffers and io_us, then calls stop(). So once *terminate is set,
/// or ramp and runtime are over, which fio sees only when it gets an I/O back, the core goes on completing
/// I/Os as usual, but only for a bounded time (5 s); then it gives up the connections and completes the rest
/// with ECANCELED.
int mpath_job_getevents(struct mpath_job* job, uint32_t min, uint32_t max);

/// Event i of the last getevents(). Called once per event, in order.
void mpath_job_event(struct mpath_job* job, uint32_t i, struct mpath_completion* completion);

/// fio counted the I/O of this index in its statistics (lat_ns.N, or sync.lat_ns.N for a flush): count it for
/// its path now. Called at most once per completed I/O, after its event() and before the next queue() of the
/// same index, and before any later call but event(). Not called for I/Os that failed or ran in ramp_time,
/// nor for the flushes of end_fsync and fsync_on_close. Failures and requeues are the core's own to count, as
/// set_accounting() says.
void mpath_job_account(struct mpath_job* job, uint32_t index);

/// Whether fio is counting at the moment: not in ramp_time, and running or verifying. False when the job
/// starts, told at every change. What account() can't tell (depth, failures, requeues, path counters) counts
/// while it is true.
void mpath_job_set_accounting(struct mpath_job* job, bool accounting);

/// fio has just thrown its statistics away (end of ramp_time; a latency_target run that found its depth): do
/// the same with everything counted so far, intervals included.
void mpath_job_reset(struct mpath_job* job);

/// One sentence about why the I/O of this index failed: path, protocol status, what it means. Called between
/// its event() and its next queue().
void mpath_job_error_text(struct mpath_job* job, uint32_t index, char* text, size_t size);

/// Ends the job: disconnects in order, joins the keeper, puts the final numbers into shared memory and the
/// final record into its file. Called exactly once for every start(), failed ones too. The I/O buffers are
/// gone by now. On failure `error` says what could not be written; the job's numbers stand anyhow.
int mpath_job_stop(struct mpath_job* job, struct mpath_error* error);

// ---- rendering: fio's parent ----------------------------------------------------------------------------
//
// fio reports one block for each job, or with group_reporting one for several. Rendering takes the jobs of
// one block, in order of setup, and merges them. A path that several of them used is one path: the same
// name and URI. Jobs that never started, or were killed, take part with what they left in shared memory.
// Results are rendered on a thread of their own while fio may fork the next job: it must hold no lock that a
// job takes.

/// Called once per line, without a line feed, at most 100 columns.
typedef void (*mpath_line_function)(void* context, const char* line);

/// The text table of one block: legend, numbers, path events.
void mpath_render_table(struct mpath_job* const* jobs, size_t count, mpath_line_function line, void* context);

/// Sizes of a result's name and value, the NUL included: what fio's client/server protocol carries of a job
/// option. Names consist of letters, digits and ._- only, since fio does not escape them; values of printable
/// ASCII.
enum { MPATH_RESULT_NAME_SIZE = 64, MPATH_RESULT_VALUE_SIZE = 128 };

/// The results of a block for fio's JSON, as name and value pairs ("job options"). How many there are and
/// what they are called is known after setup(), because fio needs the list before the job starts, and depends
/// on nothing but the jobs' paths. Asked for after every setup() with the block's jobs so far: fio shows the
/// list of the last one.
size_t mpath_results_count(struct mpath_job* const* jobs, size_t count);
/// Fills names[0..n-1], n being what mpath_results_count() said of the same jobs.
void mpath_results_names(struct mpath_job* const* jobs, size_t count, char (*names)[MPATH_RESULT_NAME_SIZE],
                         size_t n);
/// Likewise. "null" for what was not measured; never empty. Called when one of the jobs has stopped; the
/// others may still run, or be dead.
void mpath_results_values(struct mpath_job* const* jobs, size_t count,
                          char (*values)[MPATH_RESULT_VALUE_SIZE], size_t n);

#ifdef __cplusplus
}
#endif
