// SPDX-License-Identifier: GPL-2.0-only
#include "run/fio_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mpath::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

FioOptions read(std::vector<std::string> words) {
    return read_fio_options(words).value();
}

TEST(FioOptions, SayWhetherStandardOutputIsForPrograms) {
    EXPECT_FALSE(read({}).output_is_data);
    EXPECT_FALSE(read({"--output-format=normal"}).output_is_data);
    for (const char* format : {"json", "json+", "terse", "normal,json"}) {
        EXPECT_TRUE(read({"--output-format=" + std::string(format)}).output_is_data) << format;
    }
    EXPECT_TRUE(read({"--output-format", "json"}).output_is_data);
    EXPECT_TRUE(read({"--minimal"}).output_is_data);
    EXPECT_FALSE(read({"--output-format=json", "--output=file"}).output_is_data);
}

TEST(FioOptions, NameTheSectionsThatRun) {
    EXPECT_THAT(read({"--section=a", "--runtime=5", "--section", "b"}).sections, ElementsAre("a", "b"));
}

TEST(FioOptions, MaySetThePrefixOfTheRecord) {
    EXPECT_EQ(read({"--mpath_log=mine"}).log_prefix, "mine");
    EXPECT_EQ(read({}).log_prefix, std::nullopt);
}

TEST(FioOptions, SayWhetherJobsRunAtAll) {
    EXPECT_TRUE(read({"--runtime=5"}).runs_jobs);
    EXPECT_FALSE(read({"--parse-only"}).runs_jobs);
    EXPECT_FALSE(read({"--showcmd"}).runs_jobs);
}

TEST(FioOptions, RefuseWhatWouldTakeTheJobFilesPlace) {
    const struct {
        std::vector<std::string> words;
        const char* text;
    } cases[] = {
        {{"--filename=/dev/sda"}, "--filename is not for fio here"},
        {{"-ioengine=libaio"}, "--ioengine is not for fio here"},
        {{"--name=x"}, "--name is not for fio here"},
        {{"--server"}, "--server is not for fio here"},
        {{"--client=h"}, "--client goes before JOBFILE"},
        {{"--daemonize=f"}, "--daemonize leaves nothing to wait for"},
        {{"other.fio"}, "'other.fio' behind -- is no option of fio"},
        {{"--bs=4k", "other.fio"}, "'other.fio' behind -- is no option of fio"},
    };
    for (const auto& one : cases) {
        const auto options = read_fio_options(one.words);
        ASSERT_FALSE(options) << one.text;
        EXPECT_THAT(options.error().text, HasSubstr(one.text));
    }
}

} // namespace
} // namespace mpath::run
