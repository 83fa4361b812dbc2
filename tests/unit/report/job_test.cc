// SPDX-License-Identifier: GPL-2.0-only
#include "report/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/report/records.h"

namespace mpath::report {
namespace {

using testing::ElementsAre;

Job job_in(const std::string& file, const JobShape& shape) {
    Job job{file, record_of(shape), {}, {}, {}};
    job.record.written_utc = job.record.results.measured_until; // both clocks alike
    return job;
}

std::vector<std::size_t> sizes(std::vector<Job> jobs) {
    std::vector<std::size_t> all;
    for (const report::Run& run : runs_of(std::move(jobs))) {
        all.push_back(run.jobs.size());
    }
    return all;
}

TEST(Runs, HaveTheRecordsOfOnePrefix) {
    EXPECT_THAT(sizes({job_in("x_mpath.1.json", {}),
                       job_in("x_mpath.2.json", {.thread_number = 2, .from = 90 * kSecond}),
                       job_in("y_mpath.1.json", {.from = 90 * kSecond})}),
                ElementsAre(2, 1));
}

TEST(Runs, HaveTheJobsOfOtherHostsThatRanAtTheSameTime) {
    EXPECT_THAT(
        sizes({job_in("h1/x_mpath.1.json", {.host = "h1"}), job_in("h2/x_mpath.1.json", {.host = "h2"})}),
        ElementsAre(2));
    EXPECT_THAT(sizes({job_in("h1/x_mpath.1.json", {.host = "h1"}),
                       job_in("h2/x_mpath.1.json", {.host = "h2", .from = 90 * kSecond})}),
                ElementsAre(1, 1));
}

TEST(Runs, OfTwoFioOnOneHostAreTwo) {
    EXPECT_THAT(sizes({job_in("x_mpath.1.json", {}), job_in("y_mpath.1.json", {})}), ElementsAre(1, 1));
}

TEST(Job, TellsUtcByItsFirstInterval) {
    Job job = job_in("x_mpath.1.json", {.from = 5 * kSecond});
    job.intervals = {record::Interval{1006 * kSecond, 6 * kSecond, kSecond, {}, {}}};
    EXPECT_EQ(job.began_utc(), 1005 * kSecond);
    EXPECT_EQ(job.ended_utc(), 1015 * kSecond);
}

} // namespace
} // namespace mpath::report
