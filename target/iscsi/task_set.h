// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <tl/expected.hpp>

#include "base/clock.h"
#include "iscsi/wire/pdu.h"
#include "target/fault/command_filter.h"
#include "target/iscsi/block_command.h"
#include "target/iscsi/control_command.h"
#include "target/iscsi/node.h"
#include "target/iscsi/pdu_writer.h"
#include "target/iscsi/reply_mixer.h"
#include "target/r2t_table.h"
#include "target/variation.h"

namespace mpath::target::scsi {

/// What is wrong with a PDU; goes into a Reject.
struct Fault {
    std::uint8_t reason = iscsi::reject_reason::kProtocolError;
    bool ends = true; ///< the connection with it

    bool operator==(const Fault&) const = default;
};

/// Where a PDU's data goes.
struct Payload {
    std::byte* to = nullptr; ///< nullptr: nowhere, it is only counted
    std::uint32_t kept = 0;  ///< bytes of it that go there; the rest is thrown away
};

/// The SCSI commands of one session.
///
/// A command's life: its PDU takes a place; what the initiator has to send arrives with it, behind it
/// unasked, or is asked for with R2Ts; then, after the listener's delay, it is carried out and answered, and
/// the place is free.
class TaskSet {
public:
    /// All outlive it; `variation`: or nullptr.
    TaskSet(Node& node, Session& session, PduWriter& writer, Variation* variation);
    TaskSet(const TaskSet&) = delete;
    TaskSet& operator=(const TaskSet&) = delete;
    ~TaskSet();

    /// Takes a command. If it has immediate data, that has to be received as the payload says, and
    /// payload_received() called after.
    tl::expected<Payload, Fault> command(const iscsi::ScsiCommand& request, Nanoseconds now);
    /// The same for a Data-Out.
    tl::expected<Payload, Fault> data_out(const iscsi::DataOut& header, Nanoseconds now);
    /// `intact`: false if its digest says otherwise, which fails its command.
    void payload_received(bool intact, Nanoseconds now);

    /// Task management; the response of the function.
    std::uint8_t manage(const iscsi::TaskManagement& request);
    /// Forgets tasks: of one logical unit, or (0) all.
    void abort_all(std::uint32_t nsid);

    /// Says in the writer's numbers how many commands may come.
    void update_window() { writer_.numbers.max_cmd_sn = writer_.numbers.exp_cmd_sn + window_left_ - 1; }

    /// Carries out the commands whose delay is over.
    void expire(Nanoseconds now);
    static constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();
    [[nodiscard]] Nanoseconds next_due() const {
        const Nanoseconds delayed = delayed_.empty() ? kNever : delayed_.front().due;
        return mixer_ == nullptr ? delayed : std::min(delayed, mixer_->due());
    }
    /// At the end of each round: writes answers that were kept for mixing.
    void release(Nanoseconds now) {
        if (mixer_ != nullptr) {
            mixer_->release(now);
        }
    }

    /// What faults know a request by.
    [[nodiscard]] Subject subject_of(const iscsi::Bhs& request) const;

private:
    struct Task {
        iscsi::ScsiCommand request;
        Plan plan;
        std::uint32_t nsid = 0;     ///< 0: no such logical unit
        bool immediate = false;     ///< it has no CmdSN of its own
        std::uint32_t wanted = 0;   ///< bytes of the initiator's data that matter
        std::uint32_t asked = 0;    ///< bytes of it that were asked for, or came unasked
        std::uint32_t received = 0; ///< bytes that have come
        std::uint32_t open_r2ts = 0;
        std::uint32_t r2t_sn = 0;         ///< of the next R2T
        bool unsolicited = false;         ///< data that nobody asked for goes on
        std::uint32_t unsolicited_sn = 0; ///< DataSN of its next PDU
        bool held = false;                ///< neither carried out nor answered as long as the connection is
        Nanoseconds delay = 0; ///< a script's: before it is carried out, or after the connection's loss
        std::vector<std::byte> buffer; ///< data that is not a namespace's; kept for the place's next one
    };
    struct Place {
        std::uint32_t tag;
        std::uint16_t slot;
    };
    struct Delayed {
        Nanoseconds due;
        std::uint16_t slot;
    };

    [[nodiscard]] std::optional<std::uint16_t> find(std::uint32_t tag) const;
    [[nodiscard]] std::optional<Fault> check(const iscsi::ScsiCommand& request) const;
    std::uint16_t take_slot(const iscsi::ScsiCommand& request);
    void plan(Task& task);
    [[nodiscard]] Plan plan_of(const Task& task);
    [[nodiscard]] Outcome refusal_of_state(const Task& task, std::uint8_t states) const;
    [[nodiscard]] std::byte* destination(Task& task, std::uint32_t offset) const;
    [[nodiscard]] Payload payload_of(Task& task, std::uint32_t length) const;
    void proceed(std::uint16_t slot, Nanoseconds now);
    void ask_for_data(std::uint16_t slot);
    void data_complete(std::uint16_t slot, Nanoseconds now);

    void execute(std::uint16_t slot);
    [[nodiscard]] Outcome execute_blocks(Task& task);
    void answer(const Task& task, const Built& built);
    [[nodiscard]] Reply reply_to(const Task& task, const Built& built) const;
    void finish(std::uint16_t slot);
    void abort(std::uint16_t slot);

    void afflict(Task& task);
    void prepare_answer(const Task& task);
    ReplyMixer* mixer();
    void give_up_held_writes();

    Node& node_;
    Session& session_;
    Listener& listener_;
    PduWriter& writer_;
    Variation* variation_;

    std::vector<Task> tasks_;
    std::vector<std::uint16_t> free_;
    std::vector<Place> places_;            ///< of the tasks there are
    std::uint32_t window_left_;            ///< commands with a CmdSN of their own that there is room for
    std::deque<Delayed> delayed_;          ///< in the order of time
    std::vector<std::uint32_t> abandoned_; ///< tags whose unsolicited data still comes
    bool muted_ = false;                   ///< nothing is said to the command in hand
    R2tTable r2ts_;
    std::uint32_t max_r2t_;
    std::unique_ptr<Variation> own_variation_; ///< of a mixer that a script has brought in
    std::unique_ptr<ReplyMixer> mixer_;        ///< nullptr: answers leave as they are made

    /// The payload that is being received.
    struct Receiving {
        enum class Of : std::uint8_t { nothing, task, r2t };
        Of of = Of::nothing;
        std::uint16_t slot = 0; ///< or the R2T's tag
        std::uint32_t length = 0;
        bool last = false; ///< of a sequence
    };
    Receiving receiving_;
};

} // namespace mpath::target::scsi
