// SPDX-License-Identifier: GPL-2.0-only
// The third part of Queue, which breaks the rules when it is told to.
#include <algorithm>

#include "target/queue.h"

namespace mpath::target {

namespace {
constexpr std::uint16_t kNobodysTag = 0xffff;
constexpr std::uint32_t kBeyond = 4096;
constexpr std::uint32_t kOverlap = 4;
} // namespace

Misdeed Queue::next_misdeed(const Command& command, Victims kind) {
    const Misdeed always = misbehaviour_ == nullptr ? Misdeed::none : misbehaviour_->next(kind);
    if (always != Misdeed::none || listener_.faults.empty()) {
        return always;
    }
    const Action* lie =
        listener_.faults.take_if(ActionKind::lie, subject_of(command.sqe),
                                 [kind](const Action& action) { return victims_of(action.misdeed) == kind; });
    return lie == nullptr ? Misdeed::none : lie->misdeed;
}

void Queue::ask_wrongly(std::uint16_t slot) {
    Command& command = commands_[slot];
    const std::uint32_t left = command.plan.from_host - command.asked;
    const bool is_first = command.asked == 0;
    switch (command.misdeed) {
    case Misdeed::r2t_empty:
        if (is_first) {
            writer_.r2t(command.sqe.cid, kNobodysTag, 0, 0);
        }
        open_r2t(slot, command.asked, left, left);
        break;
    case Misdeed::r2t_beyond:
        open_r2t(slot, command.asked, left, left + kBeyond);
        break;
    case Misdeed::r2t_overlap: {
        const std::uint32_t length = is_first ? left / 8 * 4 : left;
        open_r2t(slot, command.asked - (is_first ? 0 : kOverlap), length, length);
        break;
    }
    default: { // too many at a time
        const auto share = static_cast<std::uint32_t>(left / (std::uint64_t{hosts_max_r2t_} + 1));
        const std::uint32_t step = std::max(4U, share / 4 * 4);
        for (std::uint32_t i = 0; i < hosts_max_r2t_ && command.asked + step < command.plan.from_host; ++i) {
            open_r2t(slot, command.asked, step, step);
        }
        const std::uint32_t rest = command.plan.from_host - command.asked;
        open_r2t(slot, command.asked, rest, rest);
        break;
    }
    }
}

void Queue::execute_wrongly(Command& command) {
    Misdeed misdeed = next_misdeed(command, Victims::all);
    if (misdeed == Misdeed::none && command.sqe.opcode == nvme::io_opcode::kRead) {
        misdeed = next_misdeed(command, Victims::reads);
    }
    if (misdeed == Misdeed::none || muted_) {
        execute_io(command);
        return;
    }
    const Place place = place_of(misdeed);
    if (place == Place::after) {
        execute_io(command);
    }
    misbehave(misdeed, writer_, completion(command, nvme::Status(), 0, 0), command.plan);
    if (place == Place::before) {
        execute_io(command);
    }
}

void Queue::fail_early(std::uint16_t slot) {
    respond(commands_[slot], nvme::Status(nvme::StatusCode::internal_error));
    r2ts_.abandon(slot);
    finish(slot);
}

} // namespace mpath::target
