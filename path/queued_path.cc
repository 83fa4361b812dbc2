// SPDX-License-Identifier: GPL-2.0-only
#include "path/queued_path.h"

#include <algorithm>
#include <utility>

namespace mpath {
namespace {

constexpr CommandEnd kPathDown{ErrorClass::path_down};

void add(PathTraffic& sum, const PathTraffic& traffic) noexcept {
    sum.pdus_sent += traffic.pdus_sent;
    sum.pdus_received += traffic.pdus_received;
    sum.wire_bytes_sent += traffic.wire_bytes_sent;
    sum.wire_bytes_received += traffic.wire_bytes_received;
    sum.payload_direct += traffic.payload_direct;
    sum.payload_copied += traffic.payload_copied;
    sum.protocol_violations += traffic.protocol_violations;
    sum.header_digest_errors += traffic.header_digest_errors;
    sum.data_digest_errors += traffic.data_digest_errors;
}

} // namespace

std::uint32_t QueuedPath::whole_blocks(std::uint64_t limit, unsigned block_shift,
                                       std::uint64_t max_blocks) noexcept {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 31; // Request::length has 32 bits
    const std::uint64_t most = std::min(max_blocks << block_shift, kMost);
    const std::uint64_t bytes = limit == 0 ? most : std::min(limit, most);
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(bytes >> block_shift, 1) << block_shift);
}

void QueuedPath::set_command_limits(const CommandLimits& limits, std::uint64_t boundary) noexcept {
    command_limits_ = limits;
    boundary_ = boundary;
    uncut_ = boundary_ == 0 ? command_limits_ : CommandLimits{};
}

void QueuedPath::use(std::vector<std::unique_ptr<CommandQueue>> queues) noexcept {
    past_ = traffic();
    past_.commands = 0;
    queues_ = std::move(queues);
    turn_ = 0;
    ending_ = false;
    open_queues_ = queues_.size();
}

// ---- sending

/// Of the command that begins `done` bytes behind the request's start.
std::uint32_t QueuedPath::command_length(const Request& request, std::uint32_t done) const noexcept {
    const std::uint32_t most =
        std::min(request.length - done, command_limits_[static_cast<std::size_t>(request.operation)]);
    if (boundary_ == 0 || request.operation == Operation::trim) {
        return most;
    }
    const std::uint64_t to_boundary = boundary_ - (request.offset + done) % boundary_;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, to_boundary));
}

std::uint32_t QueuedPath::count_commands(const Request& request) const noexcept {
    std::uint32_t count = 1;
    for (std::uint32_t done = command_length(request, 0); done < request.length; ++count) {
        done += command_length(request, done);
    }
    return count;
}

void QueuedPath::submit(Request& request) noexcept {
    const bool fits = request.length <= uncut_[static_cast<std::size_t>(request.operation)];
    request.commands = fits ? 1 : count_commands(request);
    request.commands_unissued = request.commands;
    request.commands_open = 0;
    request.issued_bytes = 0;
    request.parked = false;
    ++outstanding_;
    outstanding_bytes_ += request.length;
    if (!live()) {
        fail(request, kPathDown);
        complete(request, 0);
    } else if (!parked_.empty() || !issue(request)) {
        request.parked = true;
        parked_.push(request);
    }
}

CommandQueue* QueuedPath::next_queue() noexcept {
    for (std::size_t tried = 0; tried < queues_.size(); ++tried) {
        CommandQueue& queue = *queues_[turn_];
        if (++turn_ == queues_.size()) {
            turn_ = 0;
        }
        if (queue.accepts()) {
            return &queue;
        }
    }
    return nullptr;
}

/// Sends as many of the request's commands as find room; whether that was all.
bool QueuedPath::issue(Request& request) noexcept {
    while (request.commands_unissued > 0) {
        CommandQueue* queue = next_queue();
        if (queue == nullptr) {
            return false;
        }
        const std::uint32_t length =
            request.commands == 1 ? request.length : command_length(request, request.issued_bytes);
        queue->submit(request, request.issued_bytes, length);
        request.issued_bytes += length;
        --request.commands_unissued;
        ++request.commands_open;
        ++commands_;
    }
    return true;
}

void QueuedPath::issue_parked(Nanoseconds arrival) noexcept {
    bool issued = false;
    while (Request* request = parked_.front()) {
        const bool waited = request->issued_bytes == 0 && request->commands_open == 0;
        const std::uint32_t before = request->commands_unissued;
        const bool all = issue(*request);
        issued = issued || request->commands_unissued != before;
        if (waited && request->commands_open > 0) {
            request->waited = std::max(arrival, request->dispatched_at) - request->dispatched_at;
        }
        if (!all) {
            break;
        }
        parked_.pop();
        request->parked = false;
        if (request->commands_open == 0) { // failed while it was parked
            complete(*request, arrival);
        }
    }
    if (issued) {
        flush();
    }
}

void QueuedPath::flush() noexcept {
    for (const auto& queue : queues_) {
        queue->flush();
    }
}

// ---- completing

void QueuedPath::command_done(Request& request, const CommandEnd& end, Nanoseconds arrival) noexcept {
    --request.commands_open;
    if (end.error != ErrorClass::none) {
        fail(request, end);
    }
    if (request.commands_open == 0 && request.commands_unissued == 0 && !request.parked) {
        complete(request, arrival);
    }
    has_room(arrival);
}

/// The first failure names the request's; what of it was not sent yet never will be.
void QueuedPath::fail(Request& request, const CommandEnd& end) noexcept {
    if (request.error_class == ErrorClass::none) {
        request.error_class = end.error;
        request.protocol_status = end.status;
        request.maybe_executed = end.maybe_executed;
    } else if (end.maybe_executed) {
        request.maybe_executed = true;
    }
    if (end.retry_after != 0) {
        request.retry_after = end.retry_after;
    }
    request.commands_unissued = 0;
}

void QueuedPath::complete(Request& request, Nanoseconds arrival) noexcept {
    request.completed_at = std::max(arrival, request.dispatched_at); // no wait: none has passed
    --outstanding_;
    outstanding_bytes_ -= request.length;
    completions_.push(request);
}

// ---- ending

void QueuedPath::close(const Error& reason) noexcept {
    ending_ = true;
    for (const auto& queue : queues_) {
        queue->close(reason);
    }
}

void QueuedPath::queue_closed(const Error& error, Nanoseconds arrival) noexcept {
    --open_queues_;
    while (Request* request = parked_.pop()) {
        request->parked = false;
        fail(*request, kPathDown);
        if (request->commands_open == 0) {
            complete(*request, arrival);
        }
    }
    if (!ending_) {
        // A path lives and dies with all of its queues.
        close({ECONNABORTED, "another queue of the path was lost"});
        listener_.on_path_lost(index_, error);
    }
}

PathTraffic QueuedPath::traffic() const noexcept {
    PathTraffic sum = past_;
    for (const auto& queue : queues_) {
        add(sum, queue->traffic());
    }
    sum.commands = commands_;
    return sum;
}

} // namespace mpath
