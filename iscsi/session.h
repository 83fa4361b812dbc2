// SPDX-License-Identifier: GPL-2.0-only
// A session in its full feature phase (iscsi/login.h), with its one connection: commands, their data and all
// that comes unasked. Everything happens on the thread of its reactor. ErrorRecoveryLevel 0: what goes wrong
// with the connection ends the session. RFC 7143.
//
// A command's life: submit() gives it a slot and a CmdSN and writes it into the open send batch, together
// with the data that may go unasked; R2Ts ask for the rest; Data-In brings what it reads; a SCSI response, or
// Data-In with status, ends it. A write ends only when, besides, the network has let go of its buffer. When
// the connection breaks, every open command ends as lost, after the kernel holds no buffer of it any more.
//
// A target that breaks the protocol loses the connection, and so does one whose answer came damaged. Data-In
// with a wrong digest fails only the command it is for, when its status comes (section 7.8 leaves us that
// where, at ErrorRecoveryLevel 0, it can't be asked for again).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/slot_fifo.h"
#include "iscsi/session_parameters.h"
#include "iscsi/wire/pdu.h"
#include "iscsi/wire/scsi.h"
#include "net/stream.h"

namespace mpath::iscsi {

enum class Transfer : std::uint8_t { none, to_host, to_target };

/// How a command ended.
struct CommandEnd {
    void* owner = nullptr; ///< as given to submit()
    bool lost = false;     ///< the connection broke first: whether the command was executed is unknown
    bool unsent = false;   ///< lost, but none of it can have been executed: not even a part of its data went
                           ///< to the network (a device may write what it has before it asks for more)
    bool failed = false;   ///< the target could not carry it out (response code): there is no status
    bool damaged = false;  ///< a digest of its data was wrong
    std::uint8_t status = 0;          ///< scsi_status::; kTaskAborted as well where task management ended it
    std::uint32_t asked = 0;          ///< bytes of data that it was to move
    std::uint32_t moved = 0;          ///< of these, those that were moved; success with fewer is none
    std::span<const std::byte> sense; ///< during the call only; without its length
};

/// What a target said without having been asked.
struct AsyncEvent {
    std::uint8_t event = 0; ///< async_event::
    std::uint16_t parameter1 = 0;
    std::uint16_t parameter2 = 0;
    std::uint16_t parameter3 = 0;
    std::span<const std::byte> sense; ///< of event kScsi; during the call only
};

/// Hears from a session, from the reactor's run.
class SessionClient {
public:
    SessionClient() = default;
    SessionClient(const SessionClient&) = delete;
    SessionClient& operator=(const SessionClient&) = delete;
    virtual ~SessionClient() = default;

    /// The slot is free again: submit() may be called.
    virtual void on_command_done(const CommandEnd& end) noexcept = 0;
    /// A batch has left, or the target takes further commands: what found no room may be submitted now.
    virtual void on_room() noexcept = 0;
    virtual void on_async(const AsyncEvent& event) noexcept = 0;
    /// The answer to ping().
    virtual void on_pong() noexcept {}
    /// task_response:: to the function with that tag. The commands that it has ended are done already.
    virtual void on_task_managed(std::uint32_t /*tag*/, std::uint8_t /*response*/) noexcept {}
    /// The answer to log_out(): 0, the target has ended the session.
    virtual void on_logged_out(std::uint8_t /*response*/) noexcept {}
    /// After the last on_command_done(). `error.code` is 0 when close() ended it.
    virtual void on_session_closed(const Error& error) noexcept = 0;
};

class Session final : private net::Stream::Handler {
public:
    struct Statistics {
        std::uint64_t pdus_sent = 0;
        std::uint64_t pdus_received = 0;
        std::uint64_t payload_copied = 0;       ///< bytes of read data that went through the staging buffer
        std::uint64_t protocol_violations = 0;  ///< each ended the connection
        std::uint64_t header_digest_errors = 0; ///< likewise
        std::uint64_t data_digest_errors = 0;   ///< PDUs; Data-In failed its command, others the connection
        std::uint64_t window_closed = 0;        ///< times that a command had to wait until the target took it
        Nanoseconds window_closed_time = 0;     ///< of all these together
    };

    /// `commands`: outstanding at most, 1..4096. Receives from the first run of the reactor on.
    Session(net::Reactor& reactor, LoggedIn logged_in, std::uint16_t commands, SessionClient& client);
    ~Session() override;

    /// No slot, no room in the send batch, or the target takes no command now (CmdSN window);
    /// on_command_done() and on_room() say when to look again.
    [[nodiscard]] bool full() const noexcept {
        if (free_head_ == kNoSlot || !stream_.has_room(kCommandRoom, kCommandPieces)) {
            return true;
        }
        const bool closed = window_closed();
        if (closed && window_wanted_since_ == 0) {
            window_wanted_since_ = reactor_.clock().now();
        }
        return closed;
    }
    /// Which slot the next submit() takes, from 0. Precondition: !full().
    [[nodiscard]] std::uint16_t next_slot() const noexcept { return free_head_; }
    [[nodiscard]] std::uint32_t outstanding() const noexcept { return outstanding_; }
    [[nodiscard]] bool closing() const noexcept { return stream_.closing(); }

    /// Sends the command. `data` of `length` bytes must stay until it is done. Preconditions: !full(),
    /// !closing().
    void submit(const Cdb& cdb, const Lun& lun, Transfer transfer, std::byte* data, std::uint32_t length,
                void* owner) noexcept;
    /// Stages what was submitted for the reactor's next run.
    void flush() noexcept { stream_.flush(); }

    // What follows is for trouble and for watching; each is sent with the next flush(). False: there is no
    // room just now.

    /// NOP-Out that wants an answer: on_pong().
    bool ping() noexcept;
    /// ABORT TASK for the command of this owner; on_task_managed() with `tag`. False as well when there is no
    /// such command. If the target agrees, or does not know it, the command ends with kTaskAborted.
    bool abort_task(const void* owner, const Lun& lun, std::uint32_t& tag) noexcept;
    /// LOGICAL UNIT RESET, which ends the commands of all initiators; ours, if the target agrees, with
    /// kTaskAborted.
    bool reset_unit(const Lun& lun, std::uint32_t& tag) noexcept;
    /// Asks the target to end the session; on_logged_out().
    bool log_out() noexcept;

    /// Ends the connection. Open commands end as lost; on_session_closed() follows. An orderly ending tells
    /// the target so (Logout), but does not wait for its answer.
    void close(Error reason, net::Stream::Ending ending) noexcept;

    [[nodiscard]] int fd() const noexcept { return stream_.fd(); }
    [[nodiscard]] const SessionParameters& parameters() const noexcept { return parameters_; }
    [[nodiscard]] const SessionNumbers& numbers() const noexcept { return numbers_; }
    [[nodiscard]] const Statistics& statistics() const noexcept { return statistics_; }
    [[nodiscard]] const net::Stream::Statistics& wire_statistics() const noexcept {
        return stream_.statistics();
    }

private:
    static constexpr std::uint16_t kNoSlot = SlotFifo::kEnd;
    static constexpr unsigned kSlotBits = 12; ///< of a task tag; above them is the slot's generation
    static constexpr std::uint32_t kSlotMask = (1U << kSlotBits) - 1;
    static constexpr std::uint32_t kGenerationMask = 0x0fffffff;
    static constexpr std::uint32_t kOtherTask = 0x80000000; ///< tags of what is no SCSI command
    static constexpr std::uint32_t kPing = kOtherTask;
    static constexpr std::uint32_t kLogout = kOtherTask + 1;
    static constexpr std::uint32_t kFirstFunction = kOtherTask + 2; ///< of task management
    /// Payloads from here on are received where they belong, however little else is on the way.
    static constexpr std::uint32_t kDirectFrom = 16 * 1024;
    /// A header with its digest; padding and digest of immediate data.
    static constexpr std::size_t kCommandRoom = kBhsSize + 3 * kDigestSize;
    static constexpr std::size_t kCommandPieces = 3;
    static constexpr std::size_t kKeptSense = 32;   ///< bytes, of an answer that has to wait
    static constexpr std::size_t kMaxFunctions = 4; ///< of task management, waiting for their answer

    /// What of the byte stream comes next.
    enum class Receiving : std::uint8_t {
        pdu,     ///< a header, and payload as far as it has come with it
        payload, ///< the rest of that, received where it belongs
        tail,    ///< padding and digest of the payload
    };

    struct ReadyToTransfer {   ///< an R2T not yet served
        std::uint32_t end = 0; ///< of what it asks for; it begins where the one before ends
        std::uint32_t tag = 0; ///< the target's
    };

    struct Slot {
        void* owner = nullptr;
        std::byte* data = nullptr;
        std::uint32_t length = 0;
        std::uint32_t moved = 0;         ///< bytes received, or put into send batches
        std::uint32_t requested = 0;     ///< bytes that were sent unasked, or that R2Ts have covered
        std::uint32_t data_sn = 0;       ///< of the next Data-Out in the sequence that is being sent
        std::uint32_t next_sn = 0;       ///< of the next Data-In, or R2T
        std::uint32_t tag = 0;           ///< slot number and generation
        std::uint64_t command_batch = 0; ///< send batch that the command is in
        std::uint64_t batch = 0;         ///< last send batch that refers to `data`; 0 = none
        std::uint32_t cmd_sn = 0;
        Lun lun{};
        std::uint16_t next = kNoSlot; ///< free list, or the list of slots with data to send
        std::uint16_t r2t_first = 0;  ///< in the slot's part of r2ts_, a ring
        std::uint16_t r2ts = 0;       ///< of these, not yet served
        Transfer transfer = Transfer::none;
        bool open = false;
        bool damaged = false;    ///< a data digest was wrong
        bool answered = false;   ///< waiting for `batch` to leave; the rest of the answer is below
        bool failed = false;     ///< as CommandEnd::failed
        std::uint8_t status = 0; ///< of the answer
        std::uint8_t sense_length = 0;
        std::uint32_t residual = 0; ///< bytes that were not moved
        std::array<std::byte, kKeptSense> sense;
    };

    /// The answer to a command.
    struct Answer {
        bool failed = false;
        std::uint8_t status = 0;
        std::uint32_t residual = 0;
        std::span<const std::byte> sense;
    };

    /// Data-In whose payload, padding or digest may still have to come.
    struct Payload {
        Slot* slot = nullptr;
        const std::byte* data = nullptr;
        std::uint32_t length = 0;
        std::uint32_t residual = 0;
        std::uint8_t flags = 0;
        std::uint8_t status = 0;
    };

    /// A task management function without an answer so far.
    struct TaskFunction {
        std::uint32_t tag = kNoTag;  ///< kNoTag: none
        std::uint32_t task = kNoTag; ///< the command it is about; kNoTag: all that `lun` had before it
        std::uint32_t cmd_sn = 0;
        Lun lun{};
    };

    // net::Stream::Handler
    std::size_t on_data(std::span<const std::byte> bytes) noexcept override;
    void on_direct_received() noexcept override;
    void on_sent() noexcept override;
    void on_closed(const Error& error) noexcept override;

    // Receiving (session_receive.cc). What takes bytes returns how many; 0: more are needed, or the end has
    // come.
    std::size_t take_pdu(std::span<const std::byte> bytes) noexcept;
    std::size_t take_data_in(std::span<const std::byte> bytes) noexcept;
    std::size_t take_tail(std::span<const std::byte> bytes) noexcept;
    std::size_t take_other(const Bhs& header, std::span<const std::byte> bytes) noexcept;
    void take_response(const ScsiResponse& pdu, std::span<const std::byte> data) noexcept;
    void take_r2t(const R2t& pdu) noexcept;
    void payload_received() noexcept;
    bool take_status_number(std::uint32_t stat_sn) noexcept;
    void take_window(std::uint32_t exp_cmd_sn, std::uint32_t max_cmd_sn) noexcept;
    Slot* find(std::uint32_t tag) noexcept;
    /// The sense data of a segment that begins with its length. Section 11.4.7.
    static std::span<const std::byte> sense_of(std::span<const std::byte> data) noexcept;
    /// Bytes behind the payload: padding, and its digest.
    [[nodiscard]] std::size_t payload_tail() const noexcept {
        const std::size_t digest = parameters_.data_digest && payload_.length > 0 ? kDigestSize : 0;
        return padded(payload_.length) - payload_.length + digest;
    }

    // Sending (session_send.cc).
    void append_segment(const std::byte* data, std::uint32_t length) noexcept;
    void append_bhs(const void* bhs) noexcept;
    void append_data_out(Slot& slot, std::uint32_t target_tag, std::uint32_t length, bool last) noexcept;
    [[nodiscard]] std::uint32_t unsolicited(std::uint32_t length, std::uint32_t immediate) const noexcept;
    void pump_data() noexcept;
    bool send_r2t(Slot& slot) noexcept;
    void drop_data(std::uint16_t index) noexcept;
    [[nodiscard]] bool has_room_for_bhs() const noexcept { return stream_.has_room(kBhsSize + kDigestSize); }
    [[nodiscard]] ReadyToTransfer& r2t_of(const Slot& slot, std::size_t turn) noexcept {
        const std::size_t limit = parameters_.max_outstanding_r2t;
        return r2ts_[(slot.tag & kSlotMask) * limit + (slot.r2t_first + turn) % limit];
    }

    // Requests that are no commands, and what comes of them or unasked (session_management.cc).
    void answer_ping() noexcept;
    bool send_task_function(std::uint8_t function, const Lun& lun, const Slot* task,
                            std::uint32_t& tag) noexcept;
    [[nodiscard]] LogoutRequest logout_request() const noexcept;
    void take_nop_in(const NopIn& pdu) noexcept;
    void take_async(const AsyncMessage& pdu, std::span<const std::byte> data) noexcept;
    void take_task_response(const TaskManagementResponse& pdu) noexcept;
    void take_logout_response(const LogoutResponse& pdu) noexcept;
    void take_reject(const Reject& pdu, std::span<const std::byte> data) noexcept;

    // Ending (session.cc).
    void answer(Slot& slot, const Answer& answer) noexcept;
    void finish(Slot& slot, const Answer& answer, bool lost) noexcept;
    std::size_t fault(std::string_view what) noexcept;
    void break_off(std::string reason) noexcept;
    [[nodiscard]] bool write_data_sent() const noexcept;

    /// The target takes no further command.
    [[nodiscard]] bool window_closed() const noexcept {
        return comes_before(numbers_.max_cmd_sn, numbers_.cmd_sn);
    }
    void note_window_opened() noexcept;

    net::Reactor& reactor_;
    SessionParameters parameters_;
    SessionNumbers numbers_;
    SessionClient& client_;
    std::size_t head_size_;    ///< bytes of a header, digest included
    std::size_t small_window_; ///< bytes a receive may put into staging while large payloads are expected
    std::vector<Slot> slots_;
    std::vector<ReadyToTransfer> r2ts_; ///< max_outstanding_r2t for each slot
    std::uint16_t free_head_ = kNoSlot;
    SlotFifo with_data_; ///< slots that have R2Ts to serve
    std::uint32_t outstanding_ = 0;
    std::uint32_t large_reads_ = 0;     ///< open commands whose data is to bypass the staging buffer
    std::uint32_t waiting_answers_ = 0; ///< answered slots waiting for their batch
    std::uint32_t next_function_ = kFirstFunction;
    std::array<TaskFunction, kMaxFunctions> functions_{};
    std::uint32_t pings_ = 0;                     ///< ours, not yet answered
    mutable Nanoseconds window_wanted_since_ = 0; ///< a command waits for the window; 0: none does
    bool window_opened_ = false;                  ///< for one that waited, who does not know yet
    bool said_goodbye_ = false;                   ///< a Logout is on its way, or was
    bool ping_waits_ = false;                     ///< the target's, to be answered; its latest is enough
    NopIn ping_;
    Receiving receiving_ = Receiving::pdu;
    Payload payload_;
    Statistics statistics_;
    net::Stream stream_;
};

} // namespace mpath::iscsi
