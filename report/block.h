// SPDX-License-Identifier: GPL-2.0-only
// What a run measured, merged from the records of its jobs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "record/merge.h"
#include "record/record.h"

namespace mpath::run {

/// Jobs that are shown as one: the numjobs= of one section, on one device and one host.
struct Block {
    std::string host;              ///< empty unless fio servers ran the jobs: HOST,PORT
    record::Conditions conditions; ///< of the first job
    record::JobReport report;
    bool is_sum = false; ///< of several blocks
};

/// In the order of the records. Where several blocks ran at the same time on one device (fio's group), a
/// block for all of them together comes after them.
[[nodiscard]] std::vector<Block> blocks_of(std::span<const record::Record> records);

/// The same blocks over several runs that came one after the other: counts are added, and so is the time they
/// were measured in. A block that a run lacks is as the others have it.
[[nodiscard]] std::vector<Block> merge_repeats(std::span<const std::vector<Block>> repeats);

/// Conditions, table of the paths and events of each block.
[[nodiscard]] std::string render(std::span<const Block> blocks);

/// Names of the jobs that completed no I/O at all.
[[nodiscard]] std::vector<std::string> jobs_without_io(std::span<const record::Record> records);

/// Whether two blocks are of the same jobs.
[[nodiscard]] bool same_jobs(const Block& a, const Block& b);

} // namespace mpath::run
