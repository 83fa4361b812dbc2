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
    std::uint16_t setting = 0;     ///< index of the setting it was submitted in
    Nanoseconds dispatched_at = 0; ///< when that path took it: start of the path's response time
    Nanoseconds waited = 0;        ///< of that, until a queue of the path had room for its first command
    Nanoseconds completed_at = 0;  ///< when its last answer arrived

    std::uint32_t commands = 0;          ///< commands it was split into
    std::uint32_t commands_unissued = 0; ///< of these, not yet sent
    std::uint32_t commands_open = 0;     ///< of these, sent and not yet completed
    std::uint32_t issued_bytes = 0;      ///< bytes covered by the commands issued so far

    bool parked = false; ///< on the path's list of those that wait for room in a queue

    ErrorClass error_class = ErrorClass::none; ///< of the first command that failed
    std::uint16_t protocol_status = 0;         ///< as received (NVMe: CQE status without phase, SCT and SC)
    int error = 0;                             ///< positive errno for fio; 0 = success

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
