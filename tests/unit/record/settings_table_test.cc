// SPDX-License-Identifier: GPL-2.0-only
// What a table says of a job that was in several settings.
#include "record/settings_table.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/table.h"
#include "record/text.h"
#include "sample_record.h"

namespace mpath::record {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(SettingsTable, HasRatesOverTheSteadyTimeOfEachSettingAndSharesOfEachPath) {
    EXPECT_EQ("\n" + settings_table(steered_report().result), R"(
path  share  op     IOPS        BW    mean     p50     p99   p99.9     max  depth
setting round-robin: 3 visits, 4.00s steady
p0    50.0%  read  1.00k  4.10MB/s  63.4µs  61.0µs  61.0µs   305µs   305µs   0.06
p1    50.0%  read  1.00k  4.10MB/s   274µs   264µs   264µs  1.31ms  1.31ms   0.27
all          read  2.00k  8.19MB/s   168µs   264µs   264µs  1.31ms  1.31ms   0.34
setting queue-depth: 2 visits, 1 of them disturbed, 4.00s steady
p0    75.0%  read  1.50k  6.14MB/s  63.4µs  61.0µs  61.0µs   305µs   305µs   0.10
p1    25.0%  read    500  2.05MB/s   274µs   264µs   264µs  1.31ms  1.31ms   0.14
all          read  2.00k  8.19MB/s   116µs  61.0µs   264µs  1.31ms  1.31ms   0.23
transition: what was submitted around a switch, kept apart
p0    50.0%  read      –         –  63.4µs  61.0µs  61.0µs   305µs   305µs      –
p1    50.0%  read      –         –   274µs   264µs   264µs  1.31ms  1.31ms      –
all          read      –         –   168µs   264µs   264µs  1.31ms  1.31ms      –
)");
}

TEST(SettingsTable, ComesBeforeTheTableOfTheWholeJobOnlyWhenThereAreSeveral) {
    EXPECT_THAT(render_table(sample_report()), Not(HasSubstr("steady")));
    const std::string text = render_table(steered_report());
    EXPECT_THAT(text, HasSubstr("mpath: both: 2 paths, 2 settings, 10.0s measured\n"));
    EXPECT_THAT(text, HasSubstr("\nall settings and transitions together:\npath  state"));
    EXPECT_THAT(text, HasSubstr("\n4 switches: asked for to first I/O p50 120µs, max 120µs\n"));
}

TEST(SettingsTable, SaysZeroPercentForAPathThatASettingDoesNotUse) {
    JobReport report = steered_report();
    report.result.paths[1].settings[1].operations = {};
    EXPECT_THAT(settings_table(report.result), testing::ContainsRegex("p0 +100.0% +read"));
    EXPECT_THAT(settings_table(report.result), testing::ContainsRegex("p1 +0.0% +read +0 +0B/s +– +– +–"));
}

TEST(SettingsTable, LeavesOutASettingThatWasNeverVisitedAndHasNoRatesWithoutSteadyTime) {
    JobReport report = steered_report();
    report.result.settings.push_back({"numa", 0, 0, 0, 0});
    report.result.settings[1] = {"queue-depth", 0, 0, 1, 0};
    for (PathResult& path : report.result.paths) {
        path.settings[1].operations = {};
    }
    const std::string text = settings_table(report.result);
    EXPECT_THAT(text, Not(HasSubstr("numa")));
    EXPECT_THAT(text, HasSubstr("queue-depth: 1 visit, never steady\n"));
}

TEST(SettingsTable, OfJobsSideBySideAddsTheirRatesUp) {
    JobReport report = steered_report();
    merge(report, steered_report());
    EXPECT_THAT(settings_table(report.result),
                HasSubstr("round-robin: 6 visits, 4.00s steady in each of 2 jobs\n"));
    EXPECT_THAT(settings_table(report.result), testing::ContainsRegex("p0 +50.0% +read +2.00k"));
}

TEST(SettingsTable, IsNeverWiderThanAHundredCharacters) {
    JobReport report = steered_report();
    for (PathResult& path : report.result.paths) {
        path.name = std::string(60, 'p');
        path.settings[0].name = std::string(124, 's');
        for (SettingResult& setting : path.settings) {
            for (OperationResult& each : setting.operations.operations) {
                each = operation(12'345, 123'456'789, 999'999);
            }
        }
    }
    report.result.settings[0] = {std::string(124, 's'), 4'000 * kSecond, 1'000, 99'999, 88'888};
    std::istringstream lines(render_table(report));
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(text_width(line), kTableWidth) << line;
    }
    EXPECT_THAT(render_table(report), HasSubstr("s…: 99999 visits, 88888 of them disturbed"));
}

} // namespace
} // namespace mpath::record
