// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "live/job_slot.h"
#include "record/visits_file.h"

namespace mpath::job {

/// Writes a job's visits to their file before the job forgets them: at each checkpoint those whose I/Os have
/// all come back, all that are left in the end, and what could not be written one by one as a sum. The file
/// is made when there is something to tell: with a schedule, or once somebody has switched. Not for the I/O
/// thread.
class VisitRecorder {
public:
    VisitRecorder(live::JobSlot& slot, std::string file) : slot_(slot), file_(std::move(file)) {}

    Result<void> checkpoint();
    /// When the I/O thread stands still.
    Result<void> finish();
    /// Empty as long as there is none.
    [[nodiscard]] std::optional<std::string> file() const {
        return writer_ ? std::optional(file_) : std::nullopt;
    }

private:
    Result<void> make_writer();
    Result<void> write_those_before(std::uint64_t number);
    void look_who_is_done();
    [[nodiscard]] record::FoldedTally not_written() const;

    live::JobSlot& slot_;
    std::string file_;
    std::optional<record::VisitWriter> writer_;
    std::uint64_t next_ = 1; ///< to be written
    /// The first that was not done at the checkpoint before. An I/O that has come back is counted a moment
    /// later, when fio takes it; a checkpoint later it has been.
    std::uint64_t first_open_ = 1;
    record::FoldedTally written_;
};

} // namespace mpath::job
