// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "base/clock.h"
#include "target/iscsi/pdu_writer.h"
#include "target/variation.h"

namespace mpath::target::scsi {

/// Answers in random order, the data of several reads by turns. Some of them wait for others to come, for a
/// short time.
class ReplyMixer {
public:
    ReplyMixer(PduWriter& writer, Variation& variation) : writer_(writer), variation_(variation) {}

    void add(const Reply& reply) { waiting_.push_back(reply); }
    /// Writes most of what waits, and all of it when due.
    void release(Nanoseconds now);
    /// When the rest has to be released; the end of time if there is none.
    [[nodiscard]] Nanoseconds due() const { return due_; }

private:
    static constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

    PduWriter& writer_;
    Variation& variation_;
    std::vector<Reply> waiting_;
    Nanoseconds due_ = kNever;
};

} // namespace mpath::target::scsi
