// SPDX-License-Identifier: GPL-2.0-only
#include "job/io_engine.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstring>

#include "multipath/round_robin.h"

namespace mpath::job {
namespace {

/// fio calls commit() after every I/O, and sending each by itself would cost a system call per I/O. As long
/// as fio comes back for completions, which it does at once when its queue is full, sending can wait for
/// that; these bound how much and how long.
constexpr std::uint32_t kMostUnsent = 16;
constexpr Nanoseconds kLongestUnsent = 20 * kMicrosecond;

/// With many I/Os outstanding on a fast device, answers arrive one by one while we would look for each of
/// them with a system call. Looking no more often than this lets them arrive in batches: it delays a
/// completion by less than that, and only where completions come faster than one per interval.
constexpr std::uint32_t kManyOutstanding = 8;
constexpr Nanoseconds kLookInterval = 8 * kMicrosecond;

constexpr Nanoseconds kPatienceAfterTerminate = 5 * kSecond;

/// One read in so many is looked at for being all zero.
constexpr std::uint32_t kZeroSampling = 64;

bool all_zero(const std::byte* data, std::size_t length) noexcept {
    // Compares the buffer with itself, one word on: equal all the way only if every word is like the first.
    std::uint64_t first = 0;
    std::memcpy(&first, data, std::min(length, sizeof first));
    return first == 0 &&
           (length <= sizeof first || std::memcmp(data, data + sizeof first, length - sizeof first) == 0);
}

/// Everything in `counters` is made of record::Word; zero bytes are their beginning.
template <typename Counters>
void clear(Counters& counters) noexcept {
    constexpr std::size_t kBytes = sizeof(Counters);
    static_assert(kBytes % sizeof(record::Word) == 0);
    auto* words = reinterpret_cast<record::Word*>(&counters);
    for (std::size_t i = 0; i < kBytes / sizeof(record::Word); ++i) {
        words[i].set(0);
    }
}

} // namespace

IoEngine::IoEngine(const Clock& clock, net::Reactor& reactor, live::JobSlot& slot, PathNews& news,
                   PathCare& care, const volatile bool& terminate, EngineOptions options)
    : clock_(clock), reactor_(reactor), slot_(slot), news_(news), care_(care), terminate_(terminate),
      paths_(std::make_unique<multipath::RoundRobin>(), *this, options.retry),
      steering_(slot, paths_, options.steer_settle, std::move(options.steer)), gaps_(slot.events),
      requests_(options.iodepth), most_time_(options.most_time), interval_(options.interval),
      io_timeout_(options.io_timeout) {
    events_.reserve(options.iodepth);
    for (std::uint32_t i = 0; i < options.iodepth; ++i) {
        requests_[i].index = i;
    }
    usage_before_ = thread_usage();
}

IoEngine::~IoEngine() = default;

void IoEngine::add_path(std::string name, std::unique_ptr<Path> path) {
    live::PathSlot& slot = slot_.path(path_slots_.size());
    paths_.add(std::move(name), *path);
    path_slots_.push_back(&slot);
    owned_paths_.push_back(std::move(path));
    traffic_before_.emplace_back();
    state_reports_.push_back(news_.state_reports(state_reports_.size()));
    loss_known_.push_back(false);
    state_asked_.push_back(false);
    gaps_.add_path();
}

// ---- the way in

void IoEngine::queue(std::uint32_t index, Operation operation, std::byte* buffer, std::uint64_t offset,
                     std::uint32_t length) noexcept {
    Request& request = requests_[index];
    request.operation = operation;
    request.buffer = buffer;
    request.offset = offset;
    request.length = length;
    request.queued_at = queued_at_ = clock_.now();
    request.waited = 0;
    if (steering_.due(request.queued_at)) {
        steer(request.queued_at);
    }
    steering_.take(request);
    if (operation == Operation::write) {
        record::on_write(slot_.counters, offset, length);
    }
    if (unsent_++ == 0) {
        unsent_since_ = request.queued_at;
    }
    if (outstanding_++ == 0) {
        gaps_.begin(request.queued_at);
        if (over_at_ == 0) { // the first of all: other jobs may have kept this one waiting until now
            over_at_ = most_time_ == 0 ? multipath::kNever : request.queued_at + most_time_;
        }
    }
    paths_.submit(request);
    if (request.path != multipath::kUnassigned) {
        record::on_dispatch(path_slots_[request.path]->counters, request.queued_at);
    } else {
        settled_ = false;
    }
}

void IoEngine::commit() noexcept {
    if (unsent_ >= kMostUnsent || (unsent_ > 1 && queued_at_ - unsent_since_ > kLongestUnsent)) {
        look(0);
    }
}

void IoEngine::steer(Nanoseconds now) noexcept {
    if (steering_.look(now, outstanding_)) {
        paths_changed_ = true; // for I/O that waits for a path
        settled_ = false;
    }
}

void IoEngine::flush() noexcept {
    if (unsent_ > 0) {
        unsent_ = 0;
        paths_.flush();
    }
}

// ---- the way out

std::uint32_t IoEngine::getevents(std::uint32_t min, std::uint32_t max) noexcept {
    if (!quiet()) {
        look_after_paths();
    }
    events_.clear();
    take_finished(max);
    if (events_.empty() && min == 0) {
        look(0);
        take_finished(max);
    }
    while (events_.size() < min) {
        wait_for_arrivals();
        take_finished(max);
    }
    handed_out_at_ = clock_.now();
    if (handed_out_at_ >= publish_at_) {
        publish_at_ = handed_out_at_ + interval_;
        publish();
    }
    return static_cast<std::uint32_t>(events_.size());
}

void IoEngine::take_finished(std::uint32_t max) noexcept {
    while (events_.size() < max && !finished_.empty()) {
        events_.push_back(finished_.pop());
    }
}

void IoEngine::wait_for_arrivals() noexcept {
    if (outstanding_ >= kManyOutstanding) {
        while (clock_.now() - looked_at_ < kLookInterval) {
            __builtin_ia32_pause();
        }
    }
    look(settled_ ? kLongestSleep : patience());
    if (!quiet()) {
        look_after_paths();
    }
    if (!terminate_ && (looked_at_ < over_at_ || !finished_.empty())) {
        give_up_at_ = 0; // as long as I/O comes back, fio looks at the time itself
    } else {
        const Nanoseconds now = clock_.now();
        if (give_up_at_ == 0) {
            give_up_at_ = now + kPatienceAfterTerminate;
        } else if (const Nanoseconds due = paths_.next_due(); due != multipath::kNever) {
            give_up_at_ = std::max(give_up_at_, due + kPatienceAfterTerminate); // a held write is worth it
        } else if (now >= give_up_at_ && !gave_up_) {
            give_up();
        }
    }
}

void IoEngine::give_up() noexcept {
    gave_up_ = true;
    paths_.give_up(clock_.now());
    for (const auto& path : owned_paths_) {
        path->close({ECANCELED, "the job was told to end and its I/O did not come back in time"});
    }
}

/// Sends what was queued, sees what has arrived, waiting for it if there is nothing yet.
void IoEngine::look(Nanoseconds max_wait) noexcept {
    flush();
    if (!paths_.has_arrivals()) {
        reactor_.run(max_wait);
        looked_at_ = reactor_.arrival();
    }
    collect();
}

void IoEngine::collect() noexcept {
    RequestList arrived;
    paths_.collect(reactor_.arrival(), arrived);
    if (!arrived.empty()) {
        gaps_.note(reactor_.arrival());
    }
    while (Request* request = arrived.pop()) {
        --outstanding_;
        steering_.give_back(*request);
        if (request->path != multipath::kUnassigned) {
            end_attempt(*request);
        }
        if (request->trouble.happened) {
            end_trouble(*request);
        }
        if (request->error_class == ErrorClass::no_path) {
            record::on_no_path(slot_.counters);
        }
        if (request->error != 0) {
            request->error = gave_up_ ? ECANCELED : request->error;
        } else {
            gaps_.completed(request->path, request->completed_at);
            if (request->operation == Operation::read && ++reads_seen_ % kZeroSampling == 0) {
                sample_zeroes(*request);
            }
        }
        finished_.push(*request);
    }
}

void IoEngine::sample_zeroes(Request& request) noexcept {
    record::PathCounters& counters = path_slots_[request.path]->counters;
    counters.sampled_reads.add();
    if (all_zero(request.buffer, request.length)) {
        counters.all_zero_reads.add();
    }
}

// ---- counting

void IoEngine::account(std::uint32_t index) noexcept {
    Request& request = requests_[index];
    record::on_complete(slot_.counters, steering_.moments(request),
                        slot_.operations(request.path, request.setting), request, handed_out_at_);
}

void IoEngine::set_accounting(bool accounting) noexcept {
    if (accounting && slot_.counters.measuring_since.get() == 0) {
        reset();
    }
    slot_.counters.ended_at.set(accounting ? 0 : clock_.now());
}

void IoEngine::reset() noexcept {
    for (std::size_t i = 0; i < path_slots_.size(); ++i) {
        record::PathCounters& counters = path_slots_[i]->counters;
        const record::DepthCounters depth = counters.depth;
        clear(counters);
        counters.depth = depth;
        counters.sampled_reads.begin();
        counters.all_zero_reads.begin();
        traffic_before_[i] = owned_paths_[i]->traffic();
        for (std::uint64_t setting = 0; setting < slot_.settings_named.get_acquire(); ++setting) {
            if (slot_.keeps(setting)) {
                clear(slot_.operations(i, setting));
            }
        }
    }
    clear(slot_.counters.response);
    clear(slot_.counters.held);
    usage_before_ = thread_usage();
    system_calls_before_ = reactor_.system_calls();
    clear(slot_.counters.switch_delay);
    const Nanoseconds now = clock_.now();
    slot_.begin_measuring(now);
    steering_.reset(now);
    publish();
}

IoEngine::ThreadUsage IoEngine::thread_usage() noexcept {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    const auto nanoseconds = [](const timeval& time) {
        return static_cast<std::uint64_t>(time.tv_sec) * kSecond +
               static_cast<std::uint64_t>(time.tv_usec) * kMicrosecond;
    };
    return {nanoseconds(usage.ru_utime), nanoseconds(usage.ru_stime),
            static_cast<std::uint64_t>(usage.ru_nvcsw), static_cast<std::uint64_t>(usage.ru_nivcsw)};
}

void IoEngine::publish() noexcept {
    for (std::size_t i = 0; i < path_slots_.size(); ++i) {
        const PathTraffic now = owned_paths_[i]->traffic();
        const PathTraffic& before = traffic_before_[i];
        record::TrafficCounters& traffic = path_slots_[i]->counters.traffic;
        traffic.commands.set(now.commands - before.commands);
        traffic.pdus_sent.set(now.pdus_sent - before.pdus_sent);
        traffic.pdus_received.set(now.pdus_received - before.pdus_received);
        traffic.wire_bytes_sent.set(now.wire_bytes_sent - before.wire_bytes_sent);
        traffic.wire_bytes_received.set(now.wire_bytes_received - before.wire_bytes_received);
        traffic.payload_direct.set(now.payload_direct - before.payload_direct);
        traffic.payload_copied.set(now.payload_copied - before.payload_copied);
        traffic.protocol_violations.set(now.protocol_violations - before.protocol_violations);
        traffic.header_digest_errors.set(now.header_digest_errors - before.header_digest_errors);
        traffic.data_digest_errors.set(now.data_digest_errors - before.data_digest_errors);
    }
    const ThreadUsage usage = thread_usage();
    record::JobCounters& counters = slot_.counters;
    counters.cpu_user.set(usage.user - usage_before_.user);
    counters.cpu_system.set(usage.system - usage_before_.system);
    counters.voluntary_switches.set(usage.voluntary_switches - usage_before_.voluntary_switches);
    counters.involuntary_switches.set(usage.involuntary_switches - usage_before_.involuntary_switches);
    counters.system_calls.set(reactor_.system_calls() - system_calls_before_);
}

void IoEngine::close() noexcept {
    steering_.end(clock_.now());
    for (const auto& path : owned_paths_) {
        path->close({0, {}});
    }
    const auto closed = [](const std::unique_ptr<Path>& path) { return path->closed(); };
    while (!std::all_of(owned_paths_.begin(), owned_paths_.end(), closed)) {
        reactor_.run(10 * kMillisecond);
    }
}

} // namespace mpath::job
