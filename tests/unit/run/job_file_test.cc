// SPDX-License-Identifier: GPL-2.0-only
#include "run/job_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "files.h"

namespace mpath::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts(const Section& section) {
    std::vector<std::string> all;
    for (const Line& line : section.lines) {
        all.push_back(line.text);
    }
    return all;
}

std::string error_of(std::map<std::string, std::string> texts, const std::string& name = "job.fio") {
    const auto sections = read_job_file(name, files(std::move(texts)));
    return sections ? "" : sections.error().text;
}

TEST(JobFile, KeepsEverySectionAndEveryLineAsItIs) {
    const auto sections =
        sections_of("# question\n\n[global]\nbs=4k ; small\n  rw = randread\n[a]\n[b] # last\nloops");
    ASSERT_EQ(sections.size(), 3);
    EXPECT_EQ(sections[0].name, "global");
    EXPECT_THAT(texts(sections[0]), ElementsAre("bs=4k ; small", "  rw = randread"));
    EXPECT_EQ(sections[1].name, "a");
    EXPECT_EQ(sections[2].name, "b");
    EXPECT_THAT(texts(sections[2]), ElementsAre("loops"));
}

TEST(JobFile, SaysWhereALineStands) {
    EXPECT_EQ(sections_of("[a]\n\nbs=4k\n")[0].lines[1].place(), "job.fio:3");
}

TEST(JobFile, ASectionWhoseNameBeginsWithGlobalGivesDefaults) {
    const auto sections = sections_of("[global]\n[global-2]\n[globe]\n");
    EXPECT_TRUE(sections[0].is_global());
    EXPECT_TRUE(sections[1].is_global());
    EXPECT_FALSE(sections[2].is_global());
}

TEST(JobFile, ReplacesAnIncludeByTheLinesOfThatFile) {
    const auto sections = read_job_file(
        "job.fio",
        files({{"job.fio", "[a]\nrw=read\ninclude common\nbs=8k\n"}, {"common", "# shared\nbs=4k\n"}}));
    ASSERT_TRUE(sections) << sections.error().text;
    EXPECT_THAT(texts((*sections)[0]), ElementsAre("rw=read", "# shared", "bs=4k", "bs=8k"));
    EXPECT_EQ((*sections)[0].lines[2].place(), "common:2");
}

TEST(JobFile, LooksForAnIncludeAsNamedThenBesideTheFileThatIncludesIt) {
    const auto sections = read_job_file("jobs/job.fio", files({{"jobs/job.fio", "[a]\ninclude sub/x\n"},
                                                               {"jobs/sub/x", "include y\n"},
                                                               {"jobs/sub/y", "bs=4k\n"}}));
    ASSERT_TRUE(sections) << sections.error().text;
    EXPECT_EQ((*sections)[0].lines.at(0).place(), "jobs/sub/y:1");
}

TEST(JobFile, RefusesWhatFioWouldNotUnderstand) {
    EXPECT_THAT(error_of({{"job.fio", "bs=4k\n[a]\n"}}),
                HasSubstr("job.fio:1: 'bs=4k' stands before the first"));
    EXPECT_THAT(error_of({{"job.fio", "[a\nbs=4k\n"}}), HasSubstr("job.fio:1: '[a' is no [section]"));
    EXPECT_THAT(error_of({{"job.fio", "[a]\ninclude x\n"}, {"x", "bs=4k\n[b]\n"}}),
                HasSubstr("x:2: an included file can't begin a section"));
    EXPECT_THAT(error_of({{"job.fio", "[a]\ninclude x\n"}}),
                HasSubstr("job.fio:2: include x: x can't be read"));
    EXPECT_THAT(error_of({{"job.fio", "[a]\ninclude x\n"}, {"x", "include x\n"}}),
                HasSubstr("must not include itself"));
    EXPECT_THAT(error_of({{"job.fio", "[a]\nbssplit=" + std::string(5000, '4') + "\n"}}),
                HasSubstr("job.fio:2: the line is longer than the 4094 bytes"));
    EXPECT_THAT(error_of({}, "nosuch.fio"), HasSubstr("nosuch.fio"));
}

TEST(JobFileOption, IsNameAndValueWithoutBlanksAndComments) {
    const struct {
        const char* line;
        const char* name;
        std::optional<std::string> value;
    } cases[] = {
        {"bs=4k", "bs", "4k"},
        {"  bs = 4k  ", "bs", "4k"},
        {"bs=4k ; small", "bs", "4k"},
        {"bs=4k#small", "bs", "4k"},
        {"time_based", "time_based", std::nullopt},
        {"filename=trtype=TCP ns=1", "filename", "trtype=TCP ns=1"},
        {"rate=", "rate", ""},
    };
    for (const auto& one : cases) {
        const auto option = parse_option(one.line);
        ASSERT_TRUE(option) << one.line;
        EXPECT_EQ(option->name, one.name);
        EXPECT_EQ(option->value, one.value);
    }
    for (const char* line : {"", "   \t", "# bs=4k", " ; bs=4k"}) {
        EXPECT_FALSE(parse_option(line)) << line;
    }
}

} // namespace
} // namespace mpath::run
