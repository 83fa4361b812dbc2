// SPDX-License-Identifier: GPL-2.0-only
// The path set's view of one association: splits I/Os into NVMe commands and spreads these over the I/O
// queues. Lives on the job's I/O thread.
#pragma once

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

class IoPath final : public Path {
public:
    struct Statistics {
        std::uint64_t commands = 0; ///< sent
        std::uint64_t waits = 0;    ///< I/Os that found every queue full
        Nanoseconds wait_time = 0;  ///< of these, until their first command was sent
    };

    /// `completions` gets every request that ends. Limits are those of the controller.
    IoPath(std::uint32_t nsid, const DeviceLimits& limits, PathState state, RequestList& completions);
    ~IoPath() override;

    /// Takes the connected queues over; receives from the reactor's next run on.
    void attach(net::Reactor& reactor, std::vector<ConnectedQueue> queues);
    /// Ends all queues; requests still open end as path_down. Done when closed().
    void close(const Error& reason, net::Stream::Ending ending) noexcept;
    [[nodiscard]] bool closed() const noexcept { return open_queues_ == 0; }

    void submit(Request& request) noexcept override;
    void flush() noexcept override;
    [[nodiscard]] bool live() const noexcept override {
        return open_queues_ > 0 && open_queues_ == queues_.size();
    }
    [[nodiscard]] PathState state() const noexcept override { return state_; }
    [[nodiscard]] std::uint32_t outstanding() const noexcept override { return outstanding_; }

    void set_state(PathState state) noexcept { state_ = state; }
    /// Why the path was lost; empty text while it was not.
    [[nodiscard]] const Error& loss() const noexcept { return loss_; }
    [[nodiscard]] const Statistics& statistics() const noexcept { return statistics_; }

    /// Sums over the queues.
    [[nodiscard]] Queue::Statistics pdu_statistics() const noexcept;
    [[nodiscard]] net::Stream::Statistics wire_statistics() const noexcept;
    [[nodiscard]] std::vector<int> sockets() const;

private:
    class IoQueue; // one queue, its client and the memory its commands refer to

    bool issue(Request& request) noexcept;
    void issue_parked() noexcept;
    IoQueue* next_queue() noexcept;
    void command_done(Request& request, const Completion& completion) noexcept;
    void fail(Request& request, ErrorClass error, std::uint16_t status) noexcept;
    void complete(Request& request) noexcept;
    void queue_closed(const Error& error) noexcept;

    std::uint32_t nsid_;
    std::uint32_t command_size_; ///< bytes one command may transfer
    unsigned block_shift_;
    PathState state_;
    RequestList& completions_;
    net::Reactor* reactor_ = nullptr;
    std::vector<std::unique_ptr<IoQueue>> queues_;
    std::size_t turn_ = 0; ///< the queue that gets the next command
    std::size_t open_queues_ = 0;
    std::uint32_t outstanding_ = 0;
    RequestList parked_; ///< commands left to issue, no queue with room
    Error loss_{0, {}};
    Statistics statistics_;
};

} // namespace mpath::nvme
