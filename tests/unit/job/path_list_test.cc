// SPDX-License-Identifier: GPL-2.0-only
#include "job/path_list.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mpath::job {
namespace {

const std::string some_uri = "nvme+tcp://h/nqn.x/1";

std::vector<PathSpec> list_of(const std::string& text) {
    return parse_path_list(text).value();
}

std::string names_in(const std::string& text) {
    std::string names;
    for (const PathSpec& path : list_of(text)) {
        names += path.name + " ";
    }
    return names;
}

TEST(PathList, reads_name_and_uri_of_each_entry) {
    const auto list = list_of("a=nvme+tcp://192.0.2.1/nqn.x/1,b=nvme+tcp://[::1]:8009/nqn.y/2");
    ASSERT_EQ(list.size(), 2U);
    EXPECT_EQ(list[0], (PathSpec{"a", nvme::Uri{"192.0.2.1", 4420, "nqn.x", 1}}));
    EXPECT_EQ(list[1], (PathSpec{"b", nvme::Uri{"::1", 8009, "nqn.y", 2}}));
}

TEST(PathList, numbers_unnamed_paths_by_their_place) {
    EXPECT_EQ(names_in(some_uri + "," + some_uri), "p0 p1 ");
    EXPECT_EQ(names_in("left=" + some_uri + "," + some_uri), "left p1 ");
}

TEST(PathList, takes_blanks_around_entries_and_names) {
    EXPECT_EQ(names_in(" a = " + some_uri + " ,\tb=" + some_uri), "a b ");
}

TEST(PathList, leaves_an_equals_sign_behind_the_scheme_to_the_uri) {
    const auto list = list_of("nvme+tcp://h/nqn.x:a=b/1");
    EXPECT_EQ(list[0].name, "p0");
    EXPECT_EQ(target_of(list[0].uri), "nqn.x:a=b");
}

struct Bad {
    std::string text;
    int code;
    std::string sentence;
};

TEST(PathListRefuses, and_says_which_entry) {
    const Bad cases[] = {
        {"", EINVAL,
         "paths= names no path; write paths=[name=]URI,… with nvme+tcp://host[:port]/subnqn/nsid or "
         "iscsi://[user@]host[:port]/target/lun"},
        {" \t", EINVAL,
         "paths= names no path; write paths=[name=]URI,… with nvme+tcp://host[:port]/subnqn/nsid or "
         "iscsi://[user@]host[:port]/target/lun"},
        {some_uri + ",," + some_uri, EINVAL, "paths= entry 2: is empty"},
        {some_uri + ",", EINVAL, "paths= entry 2: is empty"},
        {"=" + some_uri, EINVAL, "paths= entry 1: the name before '=' is empty"},
        {"a=", EINVAL,
         "paths= entry 1: there is no path; write nvme+tcp://host[:port]/subnqn/nsid or "
         "iscsi://[user@]host[:port]/target/lun"},
        {"a=" + some_uri + ",a=" + some_uri, EINVAL, "paths= entry 2: the name a is that of entry 1 already"},
        {"p1=" + some_uri + "," + some_uri, EINVAL, "paths= entry 2: the name p1 is that of entry 1 already"},
        {"0=" + some_uri, EINVAL,
         "paths= entry 1: the name '0' must begin with a letter and consist of letters, digits, '-', '_' and "
         "'.'"},
        {"a+b=" + some_uri, EINVAL,
         "paths= entry 1: the name 'a+b' must begin with a letter and consist of letters, digits, '-', '_' "
         "and "
         "'.'"},
        {std::string(33, 'a') + "=" + some_uri, EINVAL,
         "paths= entry 1: the name '" + std::string(33, 'a') + "' is longer than 32 characters"},
        {"optimized=" + some_uri, EINVAL,
         "paths= entry 1: the name 'optimized' is reserved, because path=optimized means something else"},
        {"non-optimized=" + some_uri, EINVAL,
         "paths= entry 1: the name 'non-optimized' is reserved, because path=non-optimized means something "
         "else"},
        {"all=" + some_uri, EINVAL,
         "paths= entry 1: the name 'all' is reserved, because path=all means something else"},
        {"iscsi://h/iqn.x/a", EINVAL,
         "paths= entry 1: 'iscsi://h/iqn.x/a', character 17: LUN 'a' is not a number from 0 to 16383"},
        {"/dev/nvme0n1", ENOTSUP,
         "paths= entry 1: '/dev/nvme0n1': kernel block devices are not driven by this version; name the "
         "target's "
         "addresses as nvme+tcp://host[:port]/subnqn/nsid or iscsi://[user@]host[:port]/target/lun"},
        {"192.0.2.1", EINVAL,
         "paths= entry 1: '192.0.2.1' has no scheme; write nvme+tcp://host[:port]/subnqn/nsid or "
         "iscsi://[user@]host[:port]/target/lun"},
        {some_uri + ",nvme+tcp://h/nqn.x/0", EINVAL,
         "paths= entry 2: 'nvme+tcp://h/nqn.x/0', character 20: NSID '0' is not a number from 1 to "
         "4294967294"},
    };
    for (const Bad& bad : cases) {
        const auto list = parse_path_list(bad.text);
        ASSERT_FALSE(list) << bad.text;
        EXPECT_EQ(list.error().code, bad.code) << bad.text;
        EXPECT_EQ(list.error().text, bad.sentence);
    }
}

TEST(PathListRefuses, more_paths_than_an_index_is_meant_for) {
    std::string text = some_uri;
    for (std::size_t i = 1; i <= kMaxPaths; ++i) {
        text += "," + some_uri;
    }
    const auto list = parse_path_list(text);
    ASSERT_FALSE(list);
    EXPECT_EQ(list.error().text, "paths= lists 1025 paths, at most 1024 are possible");
}

class PathSelectionTest : public testing::Test {
protected:
    std::vector<PathSpec> list = list_of("left=" + some_uri + "," + some_uri + ",right=" + some_uri);
};

TEST_F(PathSelectionTest, selects_by_name_and_index) {
    using multipath::StateFilter;
    const std::pair<std::string, PathSelection> cases[] = {
        {"all", {{0, 1, 2}, StateFilter::any}},
        {"left", {{0}, StateFilter::any}},
        {"p1", {{1}, StateFilter::any}},
        {"2", {{2}, StateFilter::any}},
        {"right,0", {{0, 2}, StateFilter::any}},
        {" left , 1 ", {{0, 1}, StateFilter::any}},
        {"left,left,0", {{0}, StateFilter::any}},
        {"optimized", {{0, 1, 2}, StateFilter::optimized}},
        {"non-optimized", {{0, 1, 2}, StateFilter::non_optimized}},
    };
    for (const auto& [text, selection] : cases) {
        const auto parsed = parse_path_selection(text, list);
        ASSERT_TRUE(parsed) << parsed.error().text;
        EXPECT_EQ(*parsed, selection) << text;
    }
}

TEST_F(PathSelectionTest, refuses_what_names_no_path_and_lists_the_known_ones) {
    const std::pair<std::string, std::string> cases[] = {
        {"", "path= names no path; paths= has left, p1, right"},
        {"middle", "path=middle: 'middle' is no path; paths= has left, p1, right (indices 0 to 2)"},
        {"3", "path=3: '3' is no path; paths= has left, p1, right (indices 0 to 2)"},
        {"99999", "path=99999: '99999' is no path; paths= has left, p1, right (indices 0 to 2)"},
        {"left,", "path=left,: '' is no path; paths= has left, p1, right (indices 0 to 2)"},
        {"left,optimized", "path=left,optimized: 'optimized' stands alone, not beside other paths"},
    };
    for (const auto& [text, sentence] : cases) {
        const auto parsed = parse_path_selection(text, list);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().code, EINVAL);
        EXPECT_EQ(parsed.error().text, sentence);
    }
}

} // namespace
} // namespace mpath::job
