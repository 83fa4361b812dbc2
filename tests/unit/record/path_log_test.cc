// SPDX-License-Identifier: GPL-2.0-only
#include "record/path_log.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_record.h"
#include "temporary_directory.h"

namespace mpath::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> lines_of_file(const std::string& file) {
    std::istringstream text(text_of_file(file));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) {
        lines.push_back(line);
    }
    return lines;
}

TEST(PathLog, NamesItsColumns) {
    const TemporaryDirectory directory;
    ASSERT_TRUE(PathLogWriter::create(directory.file("l"), {"p0"}));
    EXPECT_THAT(lines_of_file(directory.file("l")),
                ElementsAre("time_ms,utc_ns,what,path,setting,state,"
                            "read_count,read_bytes,read_mean_ns,read_min_ns,read_max_ns,"
                            "write_count,write_bytes,write_mean_ns,write_min_ns,write_max_ns,"
                            "trim_count,trim_bytes,trim_mean_ns,trim_min_ns,trim_max_ns,"
                            "sync_count,sync_bytes,sync_mean_ns,sync_min_ns,sync_max_ns,"
                            "depth,requeues,errors,from,cause,delay_ns,text"));
}

TEST(PathLog, TellsIntervalsSwitchesAndEventsInTheOrderOfTime) {
    const TemporaryDirectory directory;
    PathLogPart part{sample_interval(7 * kSecond), {}, {}};
    part.interval.paths[0].requeues = 2;
    part.interval.paths.emplace_back().name = "p1";
    part.switches = {{6'500 * kMillisecond, "round-robin", "queue-depth", VisitCause::schedule, 120'000},
                     {6'900 * kMillisecond, std::nullopt, "numa", VisitCause::command, std::nullopt}};
    part.events = {{0, 6'600 * kMillisecond, 0, EventKind::state, "optimized -> inaccessible, \"moved\""},
                   {0, 4'000 * kMillisecond, kNoPath, EventKind::refused, "p2"}};
    auto writer = PathLogWriter::create(directory.file("l"), {"p0"});
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->append(part, 5 * kSecond));
    auto lines = lines_of_file(directory.file("l"));
    lines.erase(lines.begin());
    const std::string nothing(19, ','); // of the operations
    EXPECT_THAT(lines, ElementsAre("-1000.000,1790000004000000000,event,,,," + nothing + ",,,,,refused,,p2",
                                   "1500.000,1790000006500000000,switch,,queue-depth,," + nothing +
                                       ",,,,round-robin,schedule,120000,",
                                   "1600.000,1790000006600000000,event,p0,,," + nothing +
                                       ",,,,,state,,\"optimized -> inaccessible, \"\"moved\"\"\"",
                                   "1900.000,1790000006900000000,switch,,numa,," + nothing + ",,,,,command,,",
                                   "2000.000,1790000007000000000,interval,p0,round-robin,non-optimized,"
                                   "1,4096,61000,61000,61000,0,0,,,,0,0,,,,0,0,,,,1.500,2,0,,,,",
                                   "2000.000,1790000007000000000,interval,p1,round-robin,,"
                                   "0,0,,,,0,0,,,,0,0,,,,0,0,,,,0.000,0,0,,,,"));
}

TEST(PathLog, QuotesAsRfc4180Asks) {
    EXPECT_EQ(csv_field("plain text"), "plain text");
    EXPECT_EQ(csv_field(""), "");
    EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
    EXPECT_EQ(csv_field("say \"hi\""), "\"say \"\"hi\"\"\"");
    EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

TEST(PathLog, ThatCanNotBeMadeSaysWhere) {
    const auto writer = PathLogWriter::create("/nonexistent/l", {});
    ASSERT_FALSE(writer);
    EXPECT_THAT(writer.error().text, HasSubstr("the path log /nonexistent/l can't be made"));
}

} // namespace
} // namespace mpath::record
