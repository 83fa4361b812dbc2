// SPDX-License-Identifier: GPL-2.0-only
// The visits of a job that was steered, beside its record: one line of JSON for each, in a file that only
// grows, so that what a job keeps of them itself stays bounded.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "path/request.h"
#include "record/lines_file.h"
#include "record/visit.h"

namespace mpath::record {

/// Of moments, what can be taken away again.
struct Tally {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    std::uint64_t sum = 0; ///< nanoseconds

    void add(const Moments& moments);
    void subtract(const Tally& other);
    bool operator==(const Tally&) const = default;
};

/// What has no line of its own: visits of which more ended between two checkpoints than a job keeps, and I/Os
/// that were counted when the line of their visit was written already. Together with the lines it is all that
/// the job counted.
struct FoldedTally {
    std::uint64_t visits = 0;
    std::array<Tally, kOperations> transition;
    std::array<Tally, kOperations> steady;

    void add(const Visit& visit);
    void subtract(const FoldedTally& other);
    bool operator==(const FoldedTally&) const = default;
};

/// Not for the I/O thread.
class VisitWriter {
public:
    /// Makes the file anew; its first line says what it is.
    static Result<VisitWriter> create(const std::string& file);
    Result<void> append(const Visit& visit);
    /// The last line; of a job that was killed there is none.
    Result<void> append(const FoldedTally& folded);

private:
    explicit VisitWriter(LinesFile lines) : lines_(std::move(lines)) {}

    LinesFile lines_;
};

struct Visits {
    std::vector<Visit> visits; ///< in the order they began
    std::optional<FoldedTally> folded;
};

/// All of a file. A last line that was cut off by a kill is left out; anything else that is not right is an
/// error.
Result<Visits> read_visits(const std::string& file);

} // namespace mpath::record
