// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/clock.h"
#include "nvme/wire/command.h"
#include "target/namespace.h"
#include "target/pdu_writer.h"
#include "target/variation.h"

namespace mpath::target {

/// What one command is answered with: a read's data, if any, then its completion.
struct MixedAnswer {
    nvme::Cqe cqe;
    const Namespace* from = nullptr; ///< nullptr: no data
    std::uint64_t offset = 0;        ///< of the data in the namespace, bytes
    std::uint32_t length = 0;
    bool success = false;   ///< the last data PDU stands for the completion
    std::uint32_t done = 0; ///< bytes of data written
};

/// Answers in random order, the data of several reads by turns. Some of them wait for others to come, for a
/// short time.
class AnswerMixer {
public:
    AnswerMixer(PduWriter& writer, Variation& variation) : writer_(writer), variation_(variation) {}

    void add(const MixedAnswer& answer) { waiting_.push_back(answer); }
    /// Writes most of what waits, and all of it when due. `sqhd` is for all completions.
    void release(Nanoseconds now, std::uint16_t sqhd);
    /// When the rest has to be released; the end of time if there is none.
    [[nodiscard]] Nanoseconds due() const { return due_; }

private:
    static constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

    void write_part(std::size_t index, std::uint16_t sqhd);

    PduWriter& writer_;
    Variation& variation_;
    std::vector<MixedAnswer> waiting_;
    Nanoseconds due_ = kNever;
};

} // namespace mpath::target
