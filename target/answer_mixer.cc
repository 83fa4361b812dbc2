// SPDX-License-Identifier: GPL-2.0-only
#include "target/answer_mixer.h"

#include <algorithm>

namespace mpath::target {

namespace {
constexpr Nanoseconds kLongestWait = 200 * kMicrosecond;
constexpr std::size_t kMostHeldBack = 8;
} // namespace

void AnswerMixer::release(Nanoseconds now, std::uint16_t sqhd) {
    if (waiting_.empty()) {
        return;
    }
    const std::size_t most = std::min(waiting_.size(), kMostHeldBack);
    const std::size_t held_back = now >= due_ ? 0 : variation_.pick(static_cast<std::uint32_t>(most) + 1);
    while (waiting_.size() > held_back) {
        write_part(variation_.pick(static_cast<std::uint32_t>(waiting_.size())), sqhd);
    }
    due_ = waiting_.empty() ? kNever : now + kLongestWait;
}

void AnswerMixer::write_part(std::size_t index, std::uint16_t sqhd) {
    MixedAnswer& answer = waiting_[index];
    bool over = false;
    if (answer.done < answer.length) {
        ReadPiece piece{.cid = answer.cqe.cid,
                        .data_offset = answer.done,
                        .length = writer_.c2h_step(answer.length - answer.done)};
        answer.done += piece.length;
        if (answer.done == answer.length) {
            piece.flags = nvme::pdu_flag::kLastPdu | (answer.success ? nvme::pdu_flag::kSuccess : 0);
            over = answer.success;
        }
        writer_.read_piece(piece, *answer.from, answer.offset + piece.data_offset);
    } else {
        answer.cqe.sqhd = sqhd;
        writer_.capsule_resp(answer.cqe);
        over = true;
    }
    if (over) {
        answer = waiting_.back();
        waiting_.pop_back();
    }
}

} // namespace mpath::target
