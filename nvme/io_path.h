// SPDX-License-Identifier: GPL-2.0-only
// The path set's view of one association: splits I/Os into NVMe commands (by what one may transfer, and at
// the boundaries that the namespace announces) and spreads these over the I/O queues. Lives on the job's I/O
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/reactor.h"
#include "nvme/queue.h"
#include "nvme/queue_connect.h"
#include "path/device.h"
#include "path/path.h"

namespace mpath::nvme {

/// How a job's writes are done.
struct WriteOptions {
    bool force_unit_access = false; ///< a write ends when it has reached the medium
    bool zeroes = false;            ///< Write Zeroes commands: what fio has in its buffers is not sent
};

class IoPath final : public Path {
public:
    /// `completions` gets every request that ends. Limits are those of the controller.
    /// `index` is the path's in the path set, for the listener.
    IoPath(std::uint16_t index, std::uint32_t nsid, const DeviceLimits& limits, WriteOptions writes,
           RequestList& completions, PathListener& listener);
    ~IoPath() override;

    /// Takes the connected queues over; receives from the reactor's next run on. Again after a loss, once the
    /// path is closed() and nothing is outstanding on it.
    void attach(net::Reactor& reactor, std::vector<ConnectedQueue> queues);
    /// As of the controller that the path was connected to again. Precondition: nothing is outstanding.
    void set_limits(const DeviceLimits& limits) noexcept;
    /// What the controller's CRDT1..3 stand for.
    void set_retry_delays(const std::array<Nanoseconds, 3>& delays) noexcept { retry_delays_ = delays; }
    void submit(Request& request) noexcept override;
    void flush() noexcept override;
    [[nodiscard]] bool live() const noexcept override {
        return !ending_ && open_queues_ > 0 && open_queues_ == queues_.size();
    }
    [[nodiscard]] PathState state() const noexcept override { return state_; }
    [[nodiscard]] std::uint32_t outstanding() const noexcept override { return outstanding_; }
    [[nodiscard]] std::uint64_t outstanding_bytes() const noexcept override { return outstanding_bytes_; }

    void set_state(PathState state) noexcept override { state_ = state; }
    void close(const Error& reason) noexcept override;
    [[nodiscard]] bool closed() const noexcept override { return open_queues_ == 0; }
    [[nodiscard]] PathTraffic traffic() const noexcept override;
    [[nodiscard]] std::string status_text(std::uint32_t status) const override;

private:
    class IoQueue; // one queue, its client and the memory its commands refer to

    [[nodiscard]] std::uint32_t command_length(const Request& request, std::uint32_t done) const noexcept;
    [[nodiscard]] std::uint32_t count_commands(const Request& request) const noexcept;
    bool issue(Request& request) noexcept;
    void issue_parked() noexcept;
    IoQueue* next_queue() noexcept;
    void command_done(Request& request, const Completion& completion) noexcept;
    void fail(Request& request, ErrorClass error, std::uint16_t status, bool maybe_executed = false) noexcept;
    void complete(Request& request) noexcept;
    void queue_closed(const Error& error) noexcept;

    std::uint16_t index_;
    std::uint32_t nsid_;
    unsigned block_shift_;
    WriteOptions writes_;
    std::array<std::uint32_t, kOperations> command_limits_{}; ///< bytes one command covers, by operation
    std::array<std::uint32_t, kOperations>
        uncut_;              ///< bytes that need no look at the boundary; 0: always look
    std::uint64_t boundary_; ///< bytes; 0 = none
    PathState state_ = PathState::optimized;
    RequestList& completions_;
    PathListener& listener_;
    net::Reactor* reactor_ = nullptr;
    std::vector<std::unique_ptr<IoQueue>> queues_;
    std::size_t turn_ = 0; ///< the queue that gets the next command
    std::size_t open_queues_ = 0;
    std::uint32_t outstanding_ = 0;
    std::uint64_t outstanding_bytes_ = 0;
    RequestList parked_;  ///< commands left to issue, no queue with room
    bool ending_ = false; ///< close() was called, or a queue was lost
    std::uint64_t commands_ = 0;
    std::array<Nanoseconds, 3> retry_delays_{};
    PathTraffic past_; ///< of connections that were lost
};

} // namespace mpath::nvme
