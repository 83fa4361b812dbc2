// SPDX-License-Identifier: GPL-2.0-only
// A path over several command queues, whatever their protocol: splits I/Os into commands (by what one may
// transfer, and at the boundaries that the device announces), spreads these over the queues, parks what finds
// no room, and puts the answers together. Lives on the job's I/O thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "path/path.h"

namespace mpath {

/// How one command of a request ended.
struct CommandEnd {
    ErrorClass error = ErrorClass::none;
    bool maybe_executed = false; ///< with ErrorClass::path_down: all of it had gone to the network
    std::uint32_t status = 0;    ///< as Request::protocol_status
    Nanoseconds retry_after = 0; ///< what the device asks to wait before it is asked again; 0: nothing
};

/// One connection of a path. What it calls of the path, it calls from the reactor's run.
class CommandQueue {
public:
    CommandQueue() = default;
    CommandQueue(const CommandQueue&) = delete;
    CommandQueue& operator=(const CommandQueue&) = delete;
    virtual ~CommandQueue() = default;

    /// Open, with room for another command.
    [[nodiscard]] virtual bool accepts() const noexcept = 0;
    /// One command of `request`: `length` bytes from `done` bytes behind its start. Its end is
    /// QueuedPath::command_done(). Precondition: accepts().
    virtual void submit(Request& request, std::uint32_t done, std::uint32_t length) noexcept = 0;
    /// Stages what was submitted for the reactor's next run.
    virtual void flush() noexcept = 0;
    /// Orderly with code 0, otherwise at once. QueuedPath::queue_closed() follows.
    virtual void close(const Error& reason) noexcept = 0;
    /// All but `commands`.
    [[nodiscard]] virtual PathTraffic traffic() const noexcept = 0;
};

/// Of one connection: `pdus` as its protocol counts them, `wire` as net::Stream does.
template <typename Pdus, typename Wire>
[[nodiscard]] PathTraffic traffic_of(const Pdus& pdus, const Wire& wire) noexcept {
    PathTraffic traffic;
    traffic.pdus_sent = pdus.pdus_sent;
    traffic.pdus_received = pdus.pdus_received;
    traffic.wire_bytes_sent = wire.bytes_sent;
    traffic.wire_bytes_received = wire.bytes_received;
    traffic.payload_direct = wire.bytes_received_direct;
    traffic.payload_copied = pdus.payload_copied;
    traffic.protocol_violations = pdus.protocol_violations;
    traffic.header_digest_errors = pdus.header_digest_errors;
    traffic.data_digest_errors = pdus.data_digest_errors;
    return traffic;
}

class QueuedPath : public Path {
public:
    /// `completions` gets every request that ends. `index` is the path's in the path set, for the listener.
    QueuedPath(std::uint16_t index, RequestList& completions, PathListener& listener)
        : index_(index), completions_(completions), listener_(listener) {}

    void submit(Request& request) noexcept final;
    void flush() noexcept final;
    [[nodiscard]] bool live() const noexcept final {
        return !ending_ && open_queues_ > 0 && open_queues_ == queues_.size();
    }
    [[nodiscard]] PathState state() const noexcept final { return state_; }
    void set_state(PathState state) noexcept final { state_ = state; }
    [[nodiscard]] std::uint32_t outstanding() const noexcept final { return outstanding_; }
    [[nodiscard]] std::uint64_t outstanding_bytes() const noexcept final { return outstanding_bytes_; }
    void close(const Error& reason) noexcept final;
    [[nodiscard]] bool closed() const noexcept final { return open_queues_ == 0; }
    [[nodiscard]] PathTraffic traffic() const noexcept final;

    // ---- for its queues; `arrival`: Reactor::arrival()

    void command_done(Request& request, const CommandEnd& end, Nanoseconds arrival) noexcept;
    /// There may be room for commands that found none.
    void has_room(Nanoseconds arrival) noexcept {
        if (!parked_.empty() && live()) {
            issue_parked(arrival);
        }
    }
    /// After the last command_done() of that queue.
    void queue_closed(const Error& error, Nanoseconds arrival) noexcept;

protected:
    /// Bytes that one command covers, by operation; flush: any.
    using CommandLimits = std::array<std::uint32_t, kOperations>;

    /// What one command may cover: the device's limit in bytes (0 = none said) and the command's own in
    /// blocks, as whole blocks, in bytes.
    [[nodiscard]] static std::uint32_t whole_blocks(std::uint64_t limit, unsigned block_shift,
                                                    std::uint64_t max_blocks) noexcept;
    /// `boundary`: bytes of which no read or write crosses a multiple; 0 = none. Precondition: nothing is
    /// outstanding.
    void set_command_limits(const CommandLimits& limits, std::uint64_t boundary) noexcept;
    /// The queues of a new connection. Precondition: closed(), and nothing is outstanding.
    void use(std::vector<std::unique_ptr<CommandQueue>> queues) noexcept;

private:
    [[nodiscard]] std::uint32_t command_length(const Request& request, std::uint32_t done) const noexcept;
    [[nodiscard]] std::uint32_t count_commands(const Request& request) const noexcept;
    bool issue(Request& request) noexcept;
    void issue_parked(Nanoseconds arrival) noexcept;
    CommandQueue* next_queue() noexcept;
    static void fail(Request& request, const CommandEnd& end) noexcept;
    void complete(Request& request, Nanoseconds arrival) noexcept;

    std::uint16_t index_;
    CommandLimits command_limits_{};
    CommandLimits uncut_{};      ///< bytes that need no look at the boundary; 0: always look
    std::uint64_t boundary_ = 0; ///< bytes; 0 = none
    PathState state_ = PathState::optimized;
    RequestList& completions_;
    PathListener& listener_;
    std::vector<std::unique_ptr<CommandQueue>> queues_;
    std::size_t turn_ = 0; ///< the queue that gets the next command
    std::size_t open_queues_ = 0;
    std::uint32_t outstanding_ = 0;
    std::uint64_t outstanding_bytes_ = 0;
    RequestList parked_;  ///< commands left to issue, no queue with room
    bool ending_ = false; ///< close() was called, or a queue was lost
    std::uint64_t commands_ = 0;
    PathTraffic past_; ///< of connections that were lost
};

} // namespace mpath
