// SPDX-License-Identifier: GPL-2.0-only
#include "report/record_files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/report/records.h"

namespace mpath::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LogFiles : public testing::Test {
protected:
    LogFiles() {
        std::string name = (std::filesystem::temp_directory_path() / "fio-mpath-test-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~LogFiles() override { std::filesystem::remove_all(folder_); }

    void write(const std::string& name, const JobShape& shape, Nanoseconds utc = 100) const {
        record::Record record = record_of(shape);
        record.written_utc = utc;
        ASSERT_TRUE(record::write_record(folder_ + "/" + name, record));
    }

    [[nodiscard]] std::vector<std::string> found(Nanoseconds since = 0) const {
        const std::vector<std::string> prefixes{folder_ + "/run", folder_ + "/other"};
        const report::Run run = make_run("run", find_jobs(prefixes, since).value());
        std::vector<std::string> names;
        for (const Job& job : run.jobs) {
            names.push_back(job.record.results.name);
        }
        return names;
    }

    std::string folder_;
};

TEST_F(LogFiles, AreFoundInOrderOfServerAndThread) {
    write("run_mpath.10.json", {.name = "ten", .thread_number = 10});
    write("run_mpath.2.json", {.name = "two", .thread_number = 2});
    write("other_mpath.3.json", {.name = "three", .thread_number = 3});
    write("run_mpath.h1-8802.1.json", {.name = "8802", .server_port = 8802});
    write("run_mpath.h1-8801.1.json", {.name = "8801", .server_port = 8801});
    EXPECT_THAT(found(), ElementsAre("two", "three", "ten", "8801", "8802"));
}

TEST_F(LogFiles, OfOtherRunsAreLeftAlone) {
    write("run_mpath.1.json", {.name = "now"}, 200);
    write("run_mpath.2.json", {.name = "earlier"}, 100);
    write("run-2_mpath.1.json", {.name = "other prefix"}, 200);
    std::ofstream(folder_ + "/run_mpath.1.intervals.jsonl") << "{}";
    std::ofstream(folder_ + "/run_mpath.1.visits.jsonl") << "{}";
    std::ofstream(folder_ + "/run_path.1.log") << "time_ms";
    std::ofstream(folder_ + "/run_mpath.1.json.new") << "half";
    EXPECT_THAT(found(150), ElementsAre("now"));
}

TEST_F(LogFiles, ThatAreNoRecordsAreAnError) {
    std::ofstream(folder_ + "/run_mpath.1.json") << "{";
    const std::vector<std::string> prefixes{folder_ + "/run"};
    const auto jobs = find_jobs(prefixes, 0);
    ASSERT_FALSE(jobs);
    EXPECT_THAT(jobs.error().text, HasSubstr("run_mpath.1.json is no JSON, or was cut off"));
}

TEST_F(LogFiles, OfAFolderThatIsNotThereAreNone) {
    const std::vector<std::string> prefixes{folder_ + "/nosuch/run"};
    EXPECT_TRUE(find_jobs(prefixes, 0).value().empty());
}

} // namespace
} // namespace mpath::report
