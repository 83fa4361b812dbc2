// SPDX-License-Identifier: GPL-2.0-only
#include "target/iscsi/reply_mixer.h"

#include <algorithm>

namespace mpath::target::scsi {

namespace {
constexpr Nanoseconds kLongestWait = 200 * kMicrosecond;
constexpr std::size_t kMostHeldBack = 8;
} // namespace

void ReplyMixer::release(Nanoseconds now) {
    if (waiting_.empty()) {
        return;
    }
    const std::size_t most = std::min(waiting_.size(), kMostHeldBack);
    const std::size_t held_back = now >= due_ ? 0 : variation_.pick(static_cast<std::uint32_t>(most) + 1);
    while (waiting_.size() > held_back) {
        Reply& reply = waiting_[variation_.pick(static_cast<std::uint32_t>(waiting_.size()))];
        if (writer_.put_next(reply)) {
            reply = waiting_.back();
            waiting_.pop_back();
        }
    }
    due_ = waiting_.empty() ? kNever : now + kLongestWait;
}

} // namespace mpath::target::scsi
