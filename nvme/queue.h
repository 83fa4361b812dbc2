// SPDX-License-Identifier: GPL-2.0-only
// One queue pair: one TCP connection that has exchanged ICReq and Connect already (nvme/queue_connect.h).
// Admin and I/O queues alike. Everything happens on the thread of its reactor.
//
// A command's life: submit() gives it a slot and writes its capsule into the open send batch; data comes in
// C2HData, or goes out with the capsule or in H2CData as R2Ts ask for it; a CapsuleResp, or C2HData with
// SUCCESS, ends it. A write ends only when, besides, the network has let go of its buffer. When the
// connection breaks, every open command ends as lost, after the kernel holds no buffer of it any more.
//
// A controller that breaks the protocol is told so in an H2CTermReq, and the connection ends (queue.cc,
// fault()). Data with a wrong digest ends only the command it is for, with Transient Transport Error,
// whatever the controller's own answer says of success.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/slot_fifo.h"
#include "base/unique_fd.h"
#include "net/stream.h"
#include "nvme/pdu_options.h"
#include "nvme/protocol_fault.h"
#include "nvme/wire/command.h"
#include "nvme/wire/pdu.h"
#include "nvme/wire/status.h"

namespace mpath::nvme {

enum class Transfer : std::uint8_t { none, to_host, to_controller };

/// What both sides have agreed on.
struct QueueParameters {
    std::uint16_t id = 0;    ///< 0: admin
    std::uint16_t size = 32; ///< entries, as in Connect plus one; one less can be outstanding. At most 4096
    std::uint32_t in_capsule = 8192;   ///< bytes of data a command capsule may carry
    std::uint8_t cpda = 0;             ///< as in ICResp: alignment of our data, dwords, 0's based
    PduOptions pdu{};                  ///< as in ICReq, and ICResp has agreed
    std::uint32_t max_h2c_data = 4096; ///< as in ICResp: bytes of one H2CData PDU
};

/// How a command ended.
struct Completion {
    void* owner = nullptr; ///< as given to submit()
    Status status;
    std::uint32_t dw0 = 0;
    std::uint32_t dw1 = 0;
    bool lost = false;   ///< the connection broke first: whether the command was executed is unknown
    bool unsent = false; ///< lost, but it can't have been executed: not all of it ever went to the network
};

class QueueClient {
public:
    QueueClient() = default;
    QueueClient(const QueueClient&) = delete;
    QueueClient& operator=(const QueueClient&) = delete;
    virtual ~QueueClient() = default;

    /// From the reactor's run. The slot is free again: submit() may be called.
    virtual void on_command_done(const Completion& completion) noexcept = 0;
    /// A batch has left: what did not fit it may be submitted now.
    virtual void on_sent() noexcept = 0;
    /// After the last on_command_done(). `error.code` is 0 when close() ended it.
    virtual void on_queue_closed(const Error& error) noexcept = 0;
};

class Queue final : private net::Stream::Handler {
public:
    struct Statistics {
        std::uint64_t pdus_sent = 0;
        std::uint64_t pdus_received = 0;
        std::uint64_t payload_copied = 0;       ///< bytes of read data that went through the staging buffer
        std::uint64_t protocol_violations = 0;  ///< each ended the connection
        std::uint64_t header_digest_errors = 0; ///< likewise
        std::uint64_t data_digest_errors = 0;   ///< PDUs; each failed its command
    };

    /// Receives from the first run of the reactor on.
    Queue(net::Reactor& reactor, UniqueFd socket, const QueueParameters& parameters, QueueClient& client);
    ~Queue() override;

    /// No slot, or no room in the send batch; on_command_done() and on_sent() say when to look again.
    [[nodiscard]] bool full() const noexcept {
        return free_head_ == kNoSlot || !stream_.has_room(kCapsuleRoom);
    }
    /// Which slot the next submit() takes: 0..size-2. Precondition: !full().
    [[nodiscard]] std::uint16_t next_slot() const noexcept { return free_head_; }
    [[nodiscard]] std::uint32_t outstanding() const noexcept { return outstanding_; }
    [[nodiscard]] bool closing() const noexcept { return stream_.closing(); }

    /// Sends `sqe`, whose cid, flags and sgl are filled in here. `data` of `length` bytes must stay until the
    /// command is done. Preconditions: !full(), !closing().
    void submit(const Sqe& sqe, Transfer transfer, std::byte* data, std::uint32_t length,
                void* owner) noexcept;
    /// Stages what was submitted for the reactor's next run.
    void flush() noexcept { stream_.flush(); }

    /// Ends the connection. Open commands end as lost; on_queue_closed() follows.
    void close(Error reason, net::Stream::Ending ending) noexcept {
        stream_.close(std::move(reason), ending);
    }

    [[nodiscard]] int fd() const noexcept { return stream_.fd(); }
    [[nodiscard]] const QueueParameters& parameters() const noexcept { return parameters_; }
    [[nodiscard]] const Statistics& statistics() const noexcept { return statistics_; }
    [[nodiscard]] const net::Stream::Statistics& wire_statistics() const noexcept {
        return stream_.statistics();
    }

private:
    static constexpr std::uint16_t kNoSlot = SlotFifo::kEnd;
    static constexpr unsigned kSlotBits =
        12; ///< of a command identifier; above them is the slot's generation
    static constexpr std::uint16_t kSlotMask = (1U << kSlotBits) - 1;
    /// Payloads from here on are received where they belong, however little else is on the way.
    static constexpr std::uint32_t kDirectFrom = 16 * 1024;
    /// What a capsule takes of a send batch besides its data: 72 bytes of header and 4 of digest are padded
    /// to at most 144 (CPDA 17), and 4 bytes of digest follow the data.
    static constexpr std::size_t kCapsuleRoom = 148;

    /// What of the byte stream comes next.
    enum class Receiving : std::uint8_t {
        pdu,     ///< a header, and payload as far as it has come with it
        payload, ///< the rest of that, received where it belongs
        digest,  ///< of the payload
    };

    struct ReadyToTransfer {   ///< an R2T not yet served
        std::uint32_t end = 0; ///< of what it asks for; it begins where the one before ends
        std::uint16_t ttag = 0;
    };

    struct Slot {
        void* owner = nullptr;
        std::byte* data = nullptr;
        std::uint32_t length = 0;
        std::uint32_t moved = 0;      ///< bytes received, or put into send batches
        std::uint32_t requested = 0;  ///< bytes that R2Ts, or the capsule, have covered
        std::uint64_t batch = 0;      ///< last send batch that refers to `data`; 0 = none
        Cqe cqe;                      ///< the answer, when it came before `batch` had left
        std::uint16_t cid = 0;        ///< slot number and generation
        std::uint16_t next = kNoSlot; ///< free list, or the list of slots with H2C data to send
        Transfer transfer = Transfer::none;
        bool open = false;
        bool last_received = false; ///< LAST_PDU seen: no further C2HData may come
        bool answered = false;      ///< `cqe` is valid, waiting for `batch` to leave
        bool damaged = false;       ///< a data digest was wrong
        std::uint8_t r2t_first = 0; ///< in the slot's part of r2ts_, a ring
        std::uint8_t r2ts = 0;      ///< of these, not yet served
    };

    /// C2HData whose payload or digest is still to come.
    struct Payload {
        Slot* slot = nullptr;
        const std::byte* data = nullptr;
        std::uint32_t length = 0;
        std::uint8_t flags = 0;
    };

    // net::Stream::Handler
    std::size_t on_data(std::span<const std::byte> bytes) noexcept override;
    void on_direct_received() noexcept override;
    void on_sent() noexcept override;
    void on_closed(const Error& error) noexcept override;

    // Receiving (queue_receive.cc). What takes bytes returns how many; 0: more are needed, or the end has
    // come.
    std::size_t take_pdu(std::span<const std::byte> bytes) noexcept;
    std::size_t take_c2h_data(std::span<const std::byte> bytes, std::uint32_t head) noexcept;
    std::size_t take_data_digest(std::span<const std::byte> bytes) noexcept;
    std::size_t take_capsule_resp(std::span<const std::byte> bytes, std::uint32_t head) noexcept;
    std::size_t take_r2t(std::span<const std::byte> bytes, std::uint32_t head) noexcept;
    std::size_t take_term_req(std::span<const std::byte> bytes) noexcept;
    void data_received(Slot& slot, std::uint8_t flags) noexcept;
    Slot* find(std::uint16_t cid) noexcept;

    // Sending (queue_send.cc).
    void append_data(const std::byte* data, std::uint32_t length) noexcept;
    void pump_h2c() noexcept;
    bool send_r2t(Slot& slot) noexcept;
    void drop_h2c(std::uint16_t index) noexcept;
    [[nodiscard]] ReadyToTransfer& r2t_of(const Slot& slot, std::size_t turn) noexcept {
        const std::size_t limit = parameters_.pdu.max_r2t;
        return r2ts_[(slot.cid & kSlotMask) * limit + (slot.r2t_first + turn) % limit];
    }

    // Ending (queue.cc).
    void answer(Slot& slot, const Cqe& cqe) noexcept;
    void finish(Slot& slot, const Cqe& cqe, bool lost) noexcept;
    std::size_t fault(const ProtocolFault& fault, std::span<const std::byte> pdu) noexcept;
    [[nodiscard]] bool write_data_sent() const noexcept;

    QueueParameters parameters_;
    bool plain_; ///< no digests, no alignment of what we receive
    QueueClient& client_;
    std::size_t capsule_head_; ///< bytes of a capsule's header, digest included
    std::size_t capsule_data_; ///< where its data starts
    std::size_t h2c_data_;     ///< where that of H2CData starts
    std::size_t small_window_; ///< bytes a receive may put into staging while large payloads are expected
    std::vector<Slot> slots_;
    std::vector<ReadyToTransfer> r2ts_; ///< max_r2t for each slot
    std::uint16_t free_head_ = kNoSlot;
    SlotFifo with_h2c_; ///< slots that have R2Ts to serve
    std::uint32_t outstanding_ = 0;
    std::uint32_t large_reads_ = 0;     ///< open commands whose data is to bypass the staging buffer
    std::uint32_t waiting_answers_ = 0; ///< answered slots waiting for their batch
    Receiving receiving_ = Receiving::pdu;
    Payload payload_;
    Statistics statistics_;
    net::Stream stream_;
};

} // namespace mpath::nvme
