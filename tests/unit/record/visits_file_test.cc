// SPDX-License-Identifier: GPL-2.0-only
#include "record/visits_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sample_record.h"
#include "temporary_directory.h"

namespace mpath::record {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kFirstLine = "{\"format\":\"fio-mpath visits\",\"version\":3}\n";

TEST(VisitsFile, ReadsBackAsAppended) {
    const TemporaryDirectory directory;
    const std::string file = directory.file("v");
    Visit open = sample_visit(3);
    open.cause = VisitCause::command;
    open.unit.reset();
    open.settled.reset();
    open.ended.reset();
    FoldedTally folded;
    folded.visits = 7;
    folded.steady[0] = {10, 40'960, 610'000};
    auto writer = VisitWriter::create(file);
    ASSERT_TRUE(writer) << writer.error().text;
    ASSERT_TRUE(writer->append(sample_visit(1)));
    ASSERT_TRUE(writer->append(open));
    const auto before = read_visits(file);
    ASSERT_TRUE(before) << before.error().text;
    EXPECT_EQ(before->folded, std::nullopt);
    ASSERT_TRUE(writer->append(folded));
    const auto read = read_visits(file);
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_THAT(read->visits, testing::ElementsAre(sample_visit(1), open));
    EXPECT_EQ(read->folded, folded);
}

TEST(VisitsFile, SaysWhatItIsAndNullForWhatDidNotHappen) {
    const TemporaryDirectory directory;
    Visit visit = sample_visit(1);
    visit.ended.reset();
    ASSERT_TRUE(VisitWriter::create(directory.file("v"))->append(visit));
    const std::string text = text_of_file(directory.file("v"));
    EXPECT_THAT(text, testing::StartsWith(kFirstLine));
    const json line = json::parse(text.substr(text.find('\n')));
    EXPECT_EQ(line["setting"], "queue-depth");
    EXPECT_EQ(line["cause"], "schedule");
    EXPECT_EQ(line["unit"], 0);
    EXPECT_TRUE(line["ended_ns"].is_null());
    EXPECT_EQ(line["steady"]["write"]["bytes"], 8192);
    EXPECT_EQ(line["transition"]["read"]["max_ns"], 61'000);
    EXPECT_TRUE(line["transition"]["write"]["max_ns"].is_null());
}

TEST(VisitsFile, LeavesOutALastLineThatWasCutOff) {
    const TemporaryDirectory directory;
    const std::string file = directory.file("v");
    ASSERT_TRUE(VisitWriter::create(file)->append(sample_visit(1)));
    write_file(file, text_of_file(file) + "{\"number\":2,");
    const auto read = read_visits(file);
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(read->visits.size(), 1U);
}

TEST(VisitsFile, RefusesOtherFiles) {
    const TemporaryDirectory directory;
    const std::string file = directory.file("v");
    ASSERT_TRUE(VisitWriter::create(file)->append(sample_visit(2)));
    const std::string line = text_of_file(file).substr(std::string(kFirstLine).size());
    json unknown = json::parse(line);
    unknown["cause"] = "whim";
    const std::string folded = R"({"folded_visits":1,"transition":null,"steady":null})";
    const std::pair<std::string, const char*> cases[] = {
        {"", "is no visits file, or was cut off in its first line"},
        {"{\"format\":\"fio-mpath intervals\",\"version\":3}\n", "is JSON, but no fio-mpath visits"},
        {"{\"format\":\"fio-mpath visits\",\"version\":4}\n", "has version 4"},
        {std::string(kFirstLine) + "{}\n", "line 2 is a broken visit: number is missing"},
        {std::string(kFirstLine) + "[\n", "line 2 is no JSON"},
        {std::string(kFirstLine) + unknown.dump() + "\n", "cause is no cause of a visit"},
        {std::string(kFirstLine) + line + line, "line 3 is a broken visit: number 2 after 2"},
        {std::string(kFirstLine) + folded + "\n", "transition is not an object"},
    };
    for (const auto& [text, sentence] : cases) {
        write_file(file, text);
        const auto read = read_visits(file);
        ASSERT_FALSE(read) << text;
        EXPECT_THAT(read.error().text, HasSubstr(sentence));
    }
}

TEST(VisitsFile, HasNothingAfterTheFoldedVisits) {
    const TemporaryDirectory directory;
    const std::string file = directory.file("v");
    auto writer = VisitWriter::create(file);
    ASSERT_TRUE(writer->append(FoldedTally{}));
    ASSERT_TRUE(writer->append(sample_visit(1)));
    const auto read = read_visits(file);
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().text, HasSubstr("line 3 comes after the folded visits"));
}

TEST(VisitsFile, ThatCanNotBeMadeSaysWhere) {
    const auto writer = VisitWriter::create("/nonexistent/v");
    ASSERT_FALSE(writer);
    EXPECT_THAT(writer.error().text, HasSubstr("the visits file /nonexistent/v can't be made"));
}

TEST(FoldedTally, GivesBackWhatWasAdded) {
    FoldedTally folded;
    folded.add(sample_visit(1));
    folded.add(sample_visit(2));
    EXPECT_EQ(folded.visits, 2U);
    EXPECT_EQ(folded.transition[0], (Tally{2, 8192, 122'000}));
    EXPECT_EQ(folded.steady[1], (Tally{2, 16'384, 162'000}));
    FoldedTally written;
    written.add(sample_visit(2));
    folded.subtract(written);
    EXPECT_EQ(folded, written);
    folded.subtract(written);
    EXPECT_EQ(folded, FoldedTally());
}

} // namespace
} // namespace mpath::record
