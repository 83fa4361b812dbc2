// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/io_path.h"

#include <algorithm>
#include <array>
#include <bit>

#include "nvme/status_class.h"
#include "nvme/status_text.h"

namespace mpath::nvme {
namespace {

constexpr std::uint64_t kMaxBlocksPerRange = (std::uint64_t{1} << 32) - 1;

/// What one command may cover: the device's limit (0 = none said) and the command's own, in whole blocks.
std::uint32_t whole_blocks(std::uint64_t limit, unsigned block_shift, std::uint64_t max_blocks) noexcept {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 31; // Request::length has 32 bits
    const std::uint64_t most = std::min(max_blocks << block_shift, kMost);
    const std::uint64_t bytes = limit == 0 ? most : std::min(limit, most);
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(bytes >> block_shift, 1) << block_shift);
}

std::array<std::uint32_t, kOperations> command_limits(const DeviceLimits& limits, WriteOptions writes,
                                                      unsigned block_shift) noexcept {
    const std::uint32_t transfer = whole_blocks(limits.max_transfer, block_shift, kMaxBlocksPerCommand);
    const std::uint32_t zeroes = whole_blocks(limits.max_write_zeroes, block_shift, kMaxBlocksPerCommand);
    std::array<std::uint32_t, kOperations> all{};
    all[static_cast<std::size_t>(Operation::read)] = transfer;
    all[static_cast<std::size_t>(Operation::write)] = writes.zeroes ? zeroes : transfer;
    all[static_cast<std::size_t>(Operation::trim)] =
        whole_blocks(limits.max_trim, block_shift, kMaxBlocksPerRange);
    return all;
}

} // namespace

class IoPath::IoQueue final : private QueueClient {
public:
    IoQueue(IoPath& path, net::Reactor& reactor, ConnectedQueue connected)
        : path_(path), ranges_(connected.parameters.size),
          queue_(reactor, std::move(connected.socket), connected.parameters, *this) {}

    Queue& queue() { return queue_; }

    /// One command of `request`: `length` bytes from `done` bytes behind its start.
    void submit(Request& request, std::uint32_t done, std::uint32_t length) noexcept {
        RwCommand command;
        command.nsid = path_.nsid_;
        const std::uint64_t slba = (request.offset + done) >> path_.block_shift_;
        const std::uint32_t blocks = length >> path_.block_shift_;
        Transfer transfer = Transfer::none;
        std::byte* data = nullptr;
        switch (request.operation) {
        case Operation::read:
            command.opcode = io_opcode::kRead;
            command.slba = slba;
            command.nlb = static_cast<std::uint16_t>(blocks - 1);
            transfer = Transfer::to_host;
            data = request.buffer + done;
            break;
        case Operation::write:
            command.slba = slba;
            command.nlb = static_cast<std::uint16_t>(blocks - 1);
            if (path_.writes_.force_unit_access) {
                command.control = kForceUnitAccess;
            }
            if (path_.writes_.zeroes) {
                command.opcode = io_opcode::kWriteZeroes;
                length = 0;
            } else {
                command.opcode = io_opcode::kWrite;
                transfer = Transfer::to_controller;
                data = request.buffer + done;
            }
            break;
        case Operation::trim: {
            DsmRange& range = ranges_[queue_.next_slot()];
            range.attributes = 0;
            range.blocks = blocks;
            range.slba = slba;
            auto& dsm = reinterpret_cast<Sqe&>(command);
            dsm.opcode = io_opcode::kDatasetManagement;
            dsm.cdw10 = 0;
            dsm.cdw11 = kDsmDeallocate;
            transfer = Transfer::to_controller;
            data = reinterpret_cast<std::byte*>(&range);
            length = sizeof range;
            break;
        }
        case Operation::flush:
            command.opcode = io_opcode::kFlush;
            break;
        }
        queue_.submit(reinterpret_cast<const Sqe&>(command), transfer, data, length, &request);
    }

private:
    void on_command_done(const Completion& completion) noexcept override {
        path_.command_done(*static_cast<Request*>(completion.owner), completion);
    }
    void on_sent() noexcept override { path_.issue_parked(); }
    void on_queue_closed(const Error& error) noexcept override { path_.queue_closed(error); }

    IoPath& path_;
    std::vector<DsmRange> ranges_; ///< one per slot: must stay until its command is done
    Queue queue_;
};

IoPath::IoPath(std::uint16_t index, std::uint32_t nsid, const DeviceLimits& limits, WriteOptions writes,
               RequestList& completions, PathListener& listener)
    : index_(index), nsid_(nsid), block_shift_(static_cast<unsigned>(std::countr_zero(limits.block_size))),
      writes_(writes), completions_(completions), listener_(listener) {
    set_limits(limits);
}

IoPath::~IoPath() = default;

void IoPath::set_limits(const DeviceLimits& limits) noexcept {
    command_limits_ = command_limits(limits, writes_, block_shift_);
    boundary_ = limits.boundary;
    uncut_ = boundary_ == 0 ? command_limits_ : decltype(command_limits_){};
}

void IoPath::attach(net::Reactor& reactor, std::vector<ConnectedQueue> queues) {
    past_ = traffic();
    past_.commands = 0;
    queues_.clear();
    turn_ = 0;
    ending_ = false;
    reactor_ = &reactor;
    for (ConnectedQueue& queue : queues) {
        queues_.push_back(std::make_unique<IoQueue>(*this, reactor, std::move(queue)));
    }
    open_queues_ = queues_.size();
}

// ---- sending

/// Of the command that begins `done` bytes behind the request's start.
std::uint32_t IoPath::command_length(const Request& request, std::uint32_t done) const noexcept {
    const std::uint32_t most =
        std::min(request.length - done, command_limits_[static_cast<std::size_t>(request.operation)]);
    if (boundary_ == 0 || request.operation == Operation::trim) {
        return most;
    }
    const std::uint64_t to_boundary = boundary_ - (request.offset + done) % boundary_;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, to_boundary));
}

std::uint32_t IoPath::count_commands(const Request& request) const noexcept {
    std::uint32_t count = 1;
    for (std::uint32_t done = command_length(request, 0); done < request.length; ++count) {
        done += command_length(request, done);
    }
    return count;
}

void IoPath::submit(Request& request) noexcept {
    const bool fits = request.length <= uncut_[static_cast<std::size_t>(request.operation)];
    request.commands = fits ? 1 : count_commands(request);
    request.commands_unissued = request.commands;
    request.commands_open = 0;
    request.issued_bytes = 0;
    request.parked = false;
    ++outstanding_;
    outstanding_bytes_ += request.length;
    if (!live()) {
        fail(request, ErrorClass::path_down, 0);
        complete(request);
    } else if (!parked_.empty() || !issue(request)) {
        request.parked = true;
        parked_.push(request);
    }
}

IoPath::IoQueue* IoPath::next_queue() noexcept {
    for (std::size_t tried = 0; tried < queues_.size(); ++tried) {
        IoQueue& queue = *queues_[turn_];
        if (++turn_ == queues_.size()) {
            turn_ = 0;
        }
        // A queue that ends gives its slots back one by one, while its commands are told lost.
        if (!queue.queue().closing() && !queue.queue().full()) {
            return &queue;
        }
    }
    return nullptr;
}

/// Sends as many of the request's commands as find room; whether that was all.
bool IoPath::issue(Request& request) noexcept {
    while (request.commands_unissued > 0) {
        IoQueue* queue = next_queue();
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

void IoPath::issue_parked() noexcept {
    if (parked_.empty() || !live()) {
        return;
    }
    bool issued = false;
    while (Request* request = parked_.front()) {
        const bool waited = request->issued_bytes == 0 && request->commands_open == 0;
        const std::uint32_t before = request->commands_unissued;
        const bool all = issue(*request);
        issued = issued || request->commands_unissued != before;
        if (waited && request->commands_open > 0) {
            request->waited = std::max(reactor_->arrival(), request->dispatched_at) - request->dispatched_at;
        }
        if (!all) {
            break;
        }
        parked_.pop();
        request->parked = false;
        if (request->commands_open == 0) { // failed while it was parked
            complete(*request);
        }
    }
    if (issued) {
        flush();
    }
}

void IoPath::flush() noexcept {
    for (const auto& queue : queues_) {
        queue->queue().flush();
    }
}

// ---- completing

void IoPath::command_done(Request& request, const Completion& completion) noexcept {
    --request.commands_open;
    if (completion.lost) {
        fail(request, ErrorClass::path_down, 0, !completion.unsent);
    } else if (!completion.status.ok()) {
        fail(request, classify(completion.status), completion.status.field);
        if (const unsigned delay = completion.status.crd(); delay != 0) {
            request.retry_after = retry_delays_[delay - 1];
        }
    }
    if (request.commands_open == 0 && request.commands_unissued == 0 && !request.parked) {
        complete(request);
    }
    issue_parked();
}

/// The first failure names the request's; what of it was not sent yet never will be.
void IoPath::fail(Request& request, ErrorClass error, std::uint16_t status, bool maybe_executed) noexcept {
    if (request.error_class == ErrorClass::none) {
        request.error_class = error;
        request.protocol_status = status;
        request.maybe_executed = maybe_executed;
    } else if (maybe_executed) {
        request.maybe_executed = true;
    }
    request.commands_unissued = 0;
}

void IoPath::complete(Request& request) noexcept {
    request.completed_at = std::max(reactor_->arrival(), request.dispatched_at); // no wait: none has passed
    --outstanding_;
    outstanding_bytes_ -= request.length;
    completions_.push(request);
}

// ---- ending

void IoPath::close(const Error& reason) noexcept {
    ending_ = true;
    for (const auto& queue : queues_) {
        queue->queue().close(reason,
                             reason.code == 0 ? net::Stream::Ending::orderly : net::Stream::Ending::abort);
    }
}

void IoPath::queue_closed(const Error& error) noexcept {
    --open_queues_;
    while (Request* request = parked_.pop()) {
        request->parked = false;
        fail(*request, ErrorClass::path_down, 0);
        if (request->commands_open == 0) {
            complete(*request);
        }
    }
    if (!ending_) {
        // An association lives and dies with all of its queues.
        close({ECONNABORTED, "another queue of the path was lost"});
        listener_.on_path_lost(index_, error);
    }
}

PathTraffic IoPath::traffic() const noexcept {
    PathTraffic sum = past_;
    sum.commands = commands_;
    for (const auto& io_queue : queues_) {
        const Queue& queue = io_queue->queue();
        sum.pdus_sent += queue.statistics().pdus_sent;
        sum.pdus_received += queue.statistics().pdus_received;
        sum.wire_bytes_sent += queue.wire_statistics().bytes_sent;
        sum.wire_bytes_received += queue.wire_statistics().bytes_received;
        sum.payload_direct += queue.wire_statistics().bytes_received_direct;
        sum.payload_copied += queue.statistics().payload_copied;
        sum.protocol_violations += queue.statistics().protocol_violations;
        sum.header_digest_errors += queue.statistics().header_digest_errors;
        sum.data_digest_errors += queue.statistics().data_digest_errors;
    }
    return sum;
}

std::string IoPath::status_text(std::uint32_t status) const {
    return nvme::status_text(Status(static_cast<std::uint16_t>(status)));
}

} // namespace mpath::nvme
