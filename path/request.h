// SPDX-License-Identifier: GPL-2.0-only
// One I/O of a job on its way through the core.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "path/error_class.h"

namespace mpath {

enum class Operation : std::uint8_t { read, write, trim, flush };
inline constexpr std::size_t kOperations = 4;

/// Whether repeating it later could destroy what was written in between.
constexpr bool modifies(Operation operation) {
    return operation == Operation::write || operation == Operation::trim;
}

/// What an I/O has been through since an attempt failed, or no path could take it. All zero while nothing has
/// happened; the path set fills it, the engine clears it when the I/O ends.
struct Trouble {
    Nanoseconds failed_at = 0;    ///< when the latest attempt failed; 0: none has
    Nanoseconds held_since = 0;   ///< no path was usable since; 0: not held
    Nanoseconds due = 0;          ///< of those that wait for a moment: not to be sent before
    std::uint64_t given_back = 0; ///< paths that failed an attempt for a reason of their own, a bit each
    std::uint16_t failed_on = 0;  ///< path of the latest failed attempt
    std::uint16_t attempts = 0;   ///< since the last pause
    std::uint16_t pauses = 0;     ///< made because every path had refused it
    std::uint16_t retries = 0;    ///< on the same path, as the budget counts them
    bool happened = false;        ///< any of this
    bool same_path = false;       ///< to be sent where it failed
    bool unsure = false;          ///< a write whose latest attempt may still be executed
};

/// One I/O. Preallocated, one per io_u of the job, reused for every I/O that io_u carries; its address does
/// not change. The bridge fills the first group, the path set the second, the path that carries it the rest.
struct Request {
    Operation operation = Operation::read;
    std::uint32_t index = 0;     ///< the io_u's index
    std::byte* buffer = nullptr; ///< fio's buffer; the path may use it until completion
    std::uint64_t offset = 0;    ///< bytes from the start of the device
    std::uint32_t length = 0;    ///< bytes; 0 for flush
    Nanoseconds queued_at = 0;   ///< when fio handed it to us: start of the job's response time

    std::uint16_t path = 0;        ///< index of the path that carries it
    std::uint16_t setting = 0;     ///< index of the setting it counts in: as it was submitted
    std::uint64_t visit = 0;       ///< number of the visit it was submitted in
    Nanoseconds dispatched_at = 0; ///< when that path took it: start of the path's response time
    Nanoseconds waited = 0;        ///< of that, until a queue of the path had room for its first command
    Nanoseconds completed_at = 0;  ///< when its last answer arrived

    std::uint32_t commands = 0;          ///< commands it was split into
    std::uint32_t commands_unissued = 0; ///< of these, not yet sent
    std::uint32_t commands_open = 0;     ///< of these, sent and not yet completed
    std::uint32_t issued_bytes = 0;      ///< bytes covered by the commands issued so far

    bool parked = false; ///< on the path's list of those that wait for room in a queue

    ErrorClass error_class = ErrorClass::none; ///< of the first command that failed
    std::uint32_t protocol_status = 0;         ///< NVMe: CQE status; SCSI: status, key, ASC and ASCQ
    int error = 0;                             ///< positive errno for fio; 0 = success
    Nanoseconds retry_after = 0;               ///< with ErrorClass::busy: what the device asked to wait
    bool maybe_executed = false; ///< with ErrorClass::path_down: all of a command had gone to the network
    Trouble trouble;

    Request* next = nullptr; ///< link of whichever list it is on; a request is on one list at a time
};

/// Intrusive first-in first-out list; allocates nothing.
class RequestList {
public:
    [[nodiscard]] bool empty() const { return head_ == nullptr; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] Request* front() const { return head_; }
    void push(Request& request) {
        request.next = nullptr;
        (head_ == nullptr ? head_ : tail_->next) = &request;
        tail_ = &request;
        ++size_;
    }
    Request* pop() {
        Request* request = head_;
        if (request != nullptr) {
            head_ = request->next;
            --size_;
        }
        return request;
    }

private:
    Request* head_ = nullptr;
    Request* tail_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace mpath
