// SPDX-License-Identifier: GPL-2.0-only
// The same report as CSV and as JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/csv.h"
#include "report/json.h"
#include "tests/unit/report/records.h"

namespace mpath::report {
namespace {

using testing::HasSubstr;

report::Report report_of(std::vector<record::Record> records) {
    std::vector<report::Run> runs;
    runs.push_back(run_of(std::move(records)));
    return make_report(std::move(runs));
}

TEST(Csv, HasALineForEachOperationWithItsNumbers) {
    const std::string text = to_csv(report_of({record_of({})}));
    EXPECT_THAT(text, testing::StartsWith("run,job,host,setting,path,operation,"));
    EXPECT_THAT(text, HasSubstr("\nrun,job,,round-robin,a,read,10.000,1000,4096000,100.000,409600.0,1.000000,"
                                "100000.0,100000,100000,100000,100000\n"));
}

TEST(Csv, LeavesEmptyWhatWasNotMeasured) {
    record::Record record = record_of({});
    record.results.settings = {{"round-robin", 4 * kSecond, 1, 4, 0}};
    record.results.paths[0].settings.push_back(
        {std::string(record::kTransition), record.results.paths[0].settings[0].operations});
    EXPECT_THAT(to_csv(report_of({record})),
                HasSubstr("\nrun,job,,transition,a,read,,1000,4096000,,,1.000000,"))
        << "a transition has no rates";
}

TEST(Csv, QuotesNames) {
    EXPECT_THAT(to_csv(report_of({record_of({.name = "a,b"})})), HasSubstr("\nrun,\"a,b\",,"));
}

TEST(Json, TellsNumbersConditionsAndFindings) {
    const auto json = nlohmann::json::parse(to_json(report_of({record_of({.reads = 0})})));
    EXPECT_EQ(json["format"], "fio-mpath report");
    EXPECT_EQ(json["version"], 1);
    const auto& block = json["blocks"][0];
    EXPECT_EQ(block["job"], "job");
    EXPECT_EQ(block["host"], nullptr);
    EXPECT_EQ(block["conditions"]["workload"]["iodepth"], 8);
    EXPECT_EQ(block["client"]["cpu_ns_per_io"], nullptr);
    EXPECT_EQ(block["written_before"], nullptr);
    EXPECT_EQ(block["findings"][0]["weight"], "error");
}

} // namespace
} // namespace mpath::report
