// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <vector>

#include <tl/expected.hpp>

#include "base/clock.h"
#include "nvme/wire/command.h"
#include "nvme/wire/fabrics.h"
#include "nvme/wire/pdu.h"
#include "nvme/wire/status.h"
#include "target/admin.h"
#include "target/answer_mixer.h"
#include "target/controller.h"
#include "target/fault/command_filter.h"
#include "target/frame.h"
#include "target/io_command.h"
#include "target/misbehave.h"
#include "target/pdu_writer.h"
#include "target/r2t_table.h"
#include "target/subsystem.h"
#include "target/variation.h"

namespace mpath::target {

/// Where a PDU's payload goes.
struct Payload {
    std::byte* to = nullptr; ///< nullptr: nowhere, it is only counted
    std::uint32_t length = 0;
};

/// The commands of one connection: an admin or an I/O queue, or neither before its Connect.
///
/// A command's life: its capsule takes a slot; what the host has to send arrives in the capsule or is asked
/// for with R2Ts; then, after the listener's delay, it is carried out and answered, and the slot is free.
class Queue {
public:
    /// `variation`: nullptr, or outlives the queue.
    Queue(Subsystem& subsystem, Listener& listener, PduWriter& writer, Variation* variation);
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;
    ~Queue();

    /// Takes a command with `data` bytes in its capsule. If those are not 0, the payload returned has to be
    /// received, and payload_received() called after.
    tl::expected<Payload, Fault> capsule(const nvme::Sqe& sqe, std::uint32_t data, Nanoseconds now);
    /// The same for data an R2T asked for.
    tl::expected<Payload, Fault> h2c_data(const nvme::H2cData& header, std::uint32_t data);
    /// `intact`: false if its digest says otherwise, which fails its command.
    void payload_received(bool intact, Nanoseconds now);

    /// R2Ts that the host takes at a time for one command.
    void set_max_r2t(std::uint32_t max_r2t);

    /// Carries out the commands whose delay is over.
    void expire(Nanoseconds now);
    static constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();
    [[nodiscard]] Nanoseconds next_due() const {
        if (has_news()) {
            return 0;
        }
        const Nanoseconds delayed = delayed_.empty() ? kNever : delayed_.front().due;
        return mixer_ == nullptr ? delayed : std::min(delayed, mixer_->due());
    }
    /// At the end of each round: writes answers that were kept for mixing, and events.
    void release(Nanoseconds now) {
        if (has_news()) {
            deliver_events();
        }
        if (mixer_ != nullptr) {
            mixer_->release(now, flow_control_ ? static_cast<std::uint16_t>(head_) : 0);
        }
    }

    [[nodiscard]] bool serves_io() const { return role_ == Role::io; }
    /// What faults know it by.
    [[nodiscard]] Subject subject() const;
    [[nodiscard]] Subject subject_of(const nvme::Sqe& sqe) const;

    /// False: its association has ended, or was reset since this queue was connected.
    [[nodiscard]] bool alive() const;

private:
    enum class Role : std::uint8_t { unconnected, admin, io };

    struct Command {
        nvme::Sqe sqe{};
        IoPlan plan{};              ///< I/O commands: what to do; for all: status and bytes from the host
        bool is_io = false;         ///< neither Fabrics nor admin
        bool owns_cid = false;      ///< false: another outstanding command has the same
        std::uint32_t asked = 0;    ///< bytes of the host's data that were asked for
        std::uint32_t received = 0; ///< bytes of it that have come
        std::uint32_t open_r2ts = 0;
        Misdeed misdeed = Misdeed::none; ///< to do while its data is asked for
        bool held = false;               ///< neither carried out nor answered as long as the connection is
        Nanoseconds delay = 0; ///< a script's: before it is carried out, or after the connection's loss
        std::vector<std::byte> buffer; ///< host data that is not a namespace's; kept for the slot's next one
    };
    struct Delayed {
        Nanoseconds due;
        std::uint16_t slot;
    };

    std::uint16_t take_slot(const nvme::Sqe& sqe);
    void plan(Command& command);
    void plan_fabrics(Command& command) const;
    [[nodiscard]] tl::expected<void, Fault> check_capsule(Command& command, std::uint32_t data) const;
    [[nodiscard]] std::byte* destination(Command& command, std::uint32_t offset) const;
    void ask_for_data(std::uint16_t slot);
    [[nodiscard]] std::uint32_t r2t_step(std::uint32_t left);
    void open_r2t(std::uint16_t slot, std::uint32_t offset, std::uint32_t length, std::uint32_t told);
    void data_complete(std::uint16_t slot, Nanoseconds now);

    void execute(std::uint16_t slot, Nanoseconds now);
    void execute_io(Command& command);
    void answer_read(const Command& command);
    void finish(std::uint16_t slot);
    Answer execute_fabrics(Command& command, Nanoseconds now);
    Answer execute_connect(Command& command, Nanoseconds now);
    void answer(const Command& command, const Answer& with);
    void respond(const Command& command, nvme::Status status, std::uint32_t dw0 = 0, std::uint32_t dw1 = 0);
    [[nodiscard]] nvme::Cqe completion(const Command& command, nvme::Status status, std::uint32_t dw0,
                                       std::uint32_t dw1) const;
    void begin_io();
    void set_size(std::uint32_t entries);

    [[nodiscard]] bool has_news() const {
        return role_ == Role::admin && !event_slots_.empty() && controller_->events.any();
    }
    void deliver_events();
    AnswerMixer* mixer();

    void afflict(Command& command);
    void prepare_answer(const Command& command);
    void give_up_held_writes();
    Misdeed next_misdeed(const Command& command, Victims kind);
    void ask_wrongly(std::uint16_t slot);
    void execute_wrongly(Command& command);
    void fail_early(std::uint16_t slot);

    Subsystem& subsystem_;
    Listener& listener_;
    PduWriter& writer_;
    Variation* variation_;
    Role role_ = Role::unconnected;
    std::uint16_t qid_ = 0;
    std::shared_ptr<Controller> controller_;
    unsigned resets_seen_ = 0;
    bool flow_control_ = true;
    std::uint32_t entries_ = 0;
    std::uint32_t head_ = 0; ///< SQHD

    std::vector<Command> commands_;
    std::vector<std::uint16_t> free_;
    std::bitset<65536> cids_;                  ///< of the commands outstanding
    std::deque<Delayed> delayed_;              ///< in the order of time
    std::deque<std::uint16_t> event_slots_;    ///< Async Event Requests
    std::vector<std::uint16_t> held_slots_;    ///< writes whose data is complete
    bool muted_ = false;                       ///< nothing is said to the command in hand
    bool was_faulty_ = false;                  ///< faults have been asked for the last answer
    std::unique_ptr<Variation> own_variation_; ///< of a mixer that a script has brought in

    std::unique_ptr<AnswerMixer> mixer_;         ///< nullptr: answers leave as they are made
    std::unique_ptr<Misbehaviour> misbehaviour_; ///< nullptr: everything is done right
    R2tTable r2ts_;
    std::uint32_t hosts_max_r2t_ = 1;   ///< what it allows
    std::uint32_t max_r2t_ = 1;         ///< at a time for one command
    bool receiving_capsule_ = false;    ///< the payload being received is of a capsule, or else of an R2T
    std::uint16_t receiving_ = 0;       ///< its slot, or the R2T's tag
    std::uint32_t receiving_bytes_ = 0; ///< its length
};

} // namespace mpath::target
