// SPDX-License-Identifier: GPL-2.0-only
// plugin/bridge.h, implemented: C types in and out, no exception beyond this file.
#include "plugin/bridge.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include "job/job.h"
#include "job/results.h"
#include "multipath/failure.h"

using mpath::Error;
using mpath::kSecond;
using mpath::Result;
using mpath::job::FioJob;
using mpath::job::Job;
using mpath::job::Options;
using mpath::multipath::SteerOrder;

struct mpath_job {
    std::unique_ptr<Job> job;
};

namespace {

void copy_text(char* target, std::size_t size, std::string_view text) {
    const std::size_t length = std::min(text.size(), size - 1);
    std::memcpy(target, text.data(), length);
    target[length] = '\0';
}

int report(mpath_error* target, const Error& error) {
    target->code = error.code;
    copy_text(target->text, sizeof target->text, error.text);
    return error.code;
}

/// Runs `body`, which returns Result<void>; whatever it throws becomes an error.
template <typename Body>
int guarded(mpath_error* error, Body body) noexcept {
    try {
        const Result<void> result = body();
        return result ? 0 : report(error, result.error());
    } catch (const std::bad_alloc&) {
        return report(error, {ENOMEM, "out of memory"});
    } catch (const std::exception& exception) {
        return report(error, {EIO, exception.what()});
    }
}

std::optional<std::string> text_or_none(const char* text) {
    return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

/// nvme-cli's way to say "no limit" is a negative number.
std::optional<mpath::Nanoseconds> seconds_or_none(std::int32_t seconds) {
    return seconds < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(seconds) * mpath::kSecond);
}

SteerOrder steer_order(std::uint32_t order) {
    switch (order) {
    case MPATH_STEER_CYCLE:
        return SteerOrder::cycle;
    case MPATH_STEER_SHUFFLE:
        return SteerOrder::shuffle;
    default:
        return SteerOrder::abba;
    }
}

Options options_from(const mpath_options& from) {
    Options options;
    options.paths = from.paths;
    options.discover = from.discover;
    options.path = text_or_none(from.path);
    options.hostnqn = text_or_none(from.hostnqn);
    options.hostid = text_or_none(from.hostid);
    options.initiator = text_or_none(from.initiator);
    options.chap_user = text_or_none(from.chap_user);
    options.chap_secret_file = text_or_none(from.chap_secret_file);
    options.log_prefix = text_or_none(from.mpath_log);
    options.min_paths = from.min_paths;
    options.iopolicy = from.iopolicy;
    options.steer = text_or_none(from.steer);
    options.steer_order = steer_order(from.steer_order);
    options.steer_settle = from.steer_settle_ns;
    options.nr_io_queues = static_cast<std::uint16_t>(from.nr_io_queues);
    options.queue_size = static_cast<std::uint16_t>(from.queue_size);
    options.keep_alive_seconds = from.keep_alive_tmo;
    options.life.reconnect_delay = from.reconnect_delay * kSecond;
    options.life.ctrl_loss_tmo = seconds_or_none(from.ctrl_loss_tmo);
    options.life.fast_io_fail_tmo = seconds_or_none(from.fast_io_fail_tmo);
    options.io_timeout = from.io_timeout_ns;
    if (from.retry_hold != MPATH_HOLD_BY_VERIFY) {
        options.hold_writes = from.retry_hold == MPATH_HOLD_KATO;
    }
    options.dnr_fails_over = from.dnr == MPATH_DNR_FAILOVER;
    options.fault_log = text_or_none(from.fault_log);
    options.pdu.header_digest = from.hdr_digest;
    options.pdu.data_digest = from.data_digest;
    options.pdu.hpda = static_cast<std::uint8_t>(from.hpda);
    options.pdu.max_r2t = from.max_r2t;
    options.socket.source = text_or_none(from.host_traddr).value_or("");
    options.socket.interface = text_or_none(from.host_iface).value_or("");
    if (from.tos >= 0) {
        options.socket.tos = static_cast<std::uint8_t>(from.tos);
    }
    options.busy_poll = from.busy_poll;
    options.write_zeroes = from.write_mode == MPATH_WRITE_ZEROES;
    options.interval = from.interval_ns;
    options.allow_mounted_write = from.allow_mounted_write;
    return options;
}

FioJob fio_job_from(const mpath_fio_job& from) {
    FioJob job;
    job.fio_version = from.fio_version;
    job.name = from.name;
    job.thread_number = from.thread_number;
    job.group_id = from.groupid;
    job.group_reporting = from.group_reporting;
    job.server_port = from.server_port;
    job.iodepth = from.iodepth;
    job.does = {from.does_read, from.does_write, from.does_trim};
    job.syncs_writes = from.syncs_writes;
    job.rw = from.rw;
    job.verify = text_or_none(from.verify);
    std::copy_n(from.min_block_size, MPATH_DIRECTIONS, job.min_block_size.begin());
    std::copy_n(from.max_block_size, MPATH_DIRECTIONS, job.max_block_size.begin());
    std::copy_n(from.rate, MPATH_DIRECTIONS, job.rate.begin());
    std::copy_n(from.rate_iops, MPATH_DIRECTIONS, job.rate_iops.begin());
    job.compress_percentage = from.compress_percentage;
    job.dedupe_percentage = from.dedupe_percentage;
    job.runtime = from.runtime_ns;
    job.ramp = from.ramp_ns;
    job.waits_for_earlier = from.waits_for_earlier;
    job.start_delay = from.start_delay_ns;
    job.random_seed = from.random_seed;
    return job;
}

void describe(const Job& job, mpath_device& device) {
    device.size = job.limits().size;
    device.block_size = job.limits().block_size;
    device.can_trim = job.limits().can_trim;
    device.can_write_zeroes = job.limits().can_write_zeroes;
    device.read_only = job.limits().read_only;
    copy_text(device.identity, sizeof device.identity, job.identity().text());
}

std::vector<const Job*> unwrap(mpath_job* const* jobs, std::size_t count) {
    std::vector<const Job*> list;
    for (std::size_t i = 0; i < count; ++i) {
        list.push_back(jobs[i]->job.get());
    }
    return list;
}

} // namespace

int mpath_job_setup(const mpath_options* options, const mpath_fio_job* fio_job, mpath_job** job,
                    mpath_device* device, mpath_error* error) {
    return guarded(error, [&]() -> Result<void> {
        auto made = Job::setup(options_from(*options), fio_job_from(*fio_job));
        if (!made) {
            return tl::unexpected<Error>(made.error());
        }
        describe(**made, *device);
        *job = new mpath_job{std::move(*made)};
        return {};
    });
}

void mpath_job_free(mpath_job* job) {
    delete job;
}

int mpath_job_start(mpath_job* job, const volatile bool* terminate, void* /*buffers*/,
                    size_t /*buffers_size*/, mpath_error* error) {
    return guarded(error, [&] { return job->job->start(*terminate); });
}

int mpath_job_stop(mpath_job* job, mpath_error* error) {
    return guarded(error, [&] { return job->job->stop(); });
}

// ---- the I/O path: everything below is noexcept all the way down

void mpath_job_queue(mpath_job* job, uint32_t index, mpath_operation operation, void* buffer, uint64_t offset,
                     uint64_t length) {
    job->job->engine().queue(index, static_cast<mpath::Operation>(operation), static_cast<std::byte*>(buffer),
                             offset, static_cast<std::uint32_t>(length));
}

void mpath_job_commit(mpath_job* job) {
    job->job->engine().commit();
}

int mpath_job_getevents(mpath_job* job, uint32_t min, uint32_t max) {
    return static_cast<int>(job->job->engine().getevents(min, max));
}

void mpath_job_event(mpath_job* job, uint32_t i, mpath_completion* completion) {
    const mpath::Request& request = job->job->engine().event(i);
    completion->index = request.index;
    completion->error = request.error;
    completion->residual = request.error == 0 ? 0 : request.length;
}

void mpath_job_account(mpath_job* job, uint32_t index) {
    job->job->engine().account(index);
}

void mpath_job_set_accounting(mpath_job* job, bool accounting) {
    job->job->engine().set_accounting(accounting);
}

void mpath_job_reset(mpath_job* job) {
    job->job->engine().reset();
}

void mpath_job_error_text(mpath_job* job, uint32_t index, char* text, size_t size) {
    mpath_error error;
    guarded(&error, [&]() -> Result<void> {
        auto& engine = job->job->engine();
        copy_text(text, size, mpath::multipath::describe_failure(engine.request(index), engine.paths()));
        return {};
    });
}

// ---- rendering

void mpath_render_table(mpath_job* const* jobs, size_t count, mpath_line_function line, void* context) {
    mpath_error error;
    const int rc = guarded(&error, [&]() -> Result<void> {
        mpath::job::render_table(unwrap(jobs, count),
                                 [&](const std::string& text) { line(context, text.c_str()); });
        return {};
    });
    if (rc != 0) {
        line(context, error.text);
    }
}

size_t mpath_results_count(mpath_job* const* jobs, size_t count) {
    size_t results = 0;
    mpath_error error;
    guarded(&error, [&]() -> Result<void> {
        results = mpath::job::result_names(unwrap(jobs, count)).size();
        return {};
    });
    return results;
}

void mpath_results_names(mpath_job* const* jobs, size_t count, char (*names)[MPATH_RESULT_NAME_SIZE],
                         size_t n) {
    mpath_error error;
    guarded(&error, [&]() -> Result<void> {
        const auto texts = mpath::job::result_names(unwrap(jobs, count));
        for (std::size_t i = 0; i < n; ++i) {
            copy_text(names[i], MPATH_RESULT_NAME_SIZE, texts.at(i));
        }
        return {};
    });
}

void mpath_results_values(mpath_job* const* jobs, size_t count, char (*values)[MPATH_RESULT_VALUE_SIZE],
                          size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        copy_text(values[i], MPATH_RESULT_VALUE_SIZE, "null");
    }
    mpath_error error;
    guarded(&error, [&]() -> Result<void> {
        const auto texts = mpath::job::result_values(unwrap(jobs, count));
        for (std::size_t i = 0; i < n; ++i) {
            copy_text(values[i], MPATH_RESULT_VALUE_SIZE, texts.at(i));
        }
        return {};
    });
}
