// SPDX-License-Identifier: GPL-2.0-only
// What runs measured, merged from the records of their jobs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "record/merge.h"
#include "report/job.h"

namespace mpath::report {

/// Jobs that are shown as one: the numjobs= of one section, on one device and one host.
struct Block {
    std::string host;              ///< empty unless several hosts or fio servers ran the jobs: HOST[,PORT]
    record::Conditions conditions; ///< of the first job
    record::JobReport report;
    bool is_sum = false; ///< of several blocks
    /// Its jobs, for each run that it was in. They belong to the runs, which must outlive the block.
    std::vector<std::vector<const Job*>> repeats{};
    std::string run{}; ///< name of the first of these runs

    /// Over all repeats.
    [[nodiscard]] std::vector<const Job*> jobs() const;
};

/// In the order of the jobs. Where several blocks ran at the same time on one device (fio's group), a block
/// for all of them together comes after them.
[[nodiscard]] std::vector<Block> blocks_of(const Run& run);

/// The same blocks over several runs that came one after the other: counts are added, and so is the time they
/// were measured in. A block that a run lacks is as the others have it. Jobs of other runs are the same if
/// what a report says of their conditions is; others stay blocks of their own.
[[nodiscard]] std::vector<Block> merge_repeats(std::span<const std::vector<Block>> repeats);

/// Names of the jobs that completed no I/O at all.
[[nodiscard]] std::vector<std::string> jobs_without_io(const Run& run);

/// Whether two blocks of one run are of the same jobs.
[[nodiscard]] bool same_jobs(const Block& a, const Block& b);

/// Whether two blocks, of any runs, are repeats of the same.
[[nodiscard]] bool same_conditions(const Block& a, const Block& b);

} // namespace mpath::report
