// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/service_time.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/multipath/fake_path.h"

namespace mpath::multipath::test {
namespace {

struct ServiceTimeCase {
    std::string name;
    std::string states;
    std::vector<std::uint64_t> bytes; ///< in flight, and staying so
    std::string choices;
};

class ServiceTimeRule : public testing::TestWithParam<ServiceTimeCase> {};

TEST_P(ServiceTimeRule, holds) {
    const ServiceTimeCase& rule = GetParam();
    FakePaths paths(rule.states);
    paths.set_bytes(rule.bytes);
    ServiceTime policy(rule.states.size());
    EXPECT_EQ(choices(policy, paths.view(), rule.choices.size()), rule.choices);
}

INSTANTIATE_TEST_SUITE_P(
    DeviceMapper, ServiceTimeRule,
    testing::Values(
        ServiceTimeCase{"takes_the_path_with_the_fewest_bytes", "OOO", {9000, 500, 4096}, "BB"},
        ServiceTimeCase{"takes_turns_among_equally_loaded_paths", "OOO", {0, 0, 0}, "ABCABC"},
        ServiceTimeCase{"takes_turns_among_those_with_the_fewest_bytes", "OOO", {512, 0, 0}, "BCBC"},
        ServiceTimeCase{
            "prefers_a_loaded_optimized_path_to_an_idle_non_optimized_one", "NON", {0, 9999, 0}, "BB"},
        ServiceTimeCase{"uses_non_optimized_paths_where_there_are_no_others", "NIN", {4096, 0, 512}, "CC"},
        ServiceTimeCase{"passes_over_an_idle_unusable_path", "xILCO", {0, 0, 0, 0, 9}, "EE"},
        ServiceTimeCase{"has_no_path_when_none_is_usable", "xI", {0, 0}, "--"}),
    [](const auto& param_info) { return param_info.param.name; });

// dm moves a chosen path to the end of its list, behind those that were passed over.
TEST(ServiceTime, gives_a_tie_to_the_path_whose_last_io_is_longest_ago) {
    FakePaths paths("OOO");
    ServiceTime policy(3);
    EXPECT_EQ(choices(policy, paths.view(), 1), "A");
    paths.set_bytes({0, 512, 0});
    EXPECT_EQ(choices(policy, paths.view(), 2), "CA");
    paths.set_bytes({0, 0, 0});
    EXPECT_EQ(choices(policy, paths.view(), 3), "BCA");
}

TEST(ServiceTime, counts_bytes_and_not_ios) {
    FakePaths paths("OO");
    paths.set_depths({1, 8});
    paths.set_bytes({65536, 4096});
    ServiceTime policy(2);
    EXPECT_EQ(choices(policy, paths.view(), 1), "B");
}

TEST(ServiceTime, starts_its_order_anew_after_a_change) {
    const FakePaths paths("OOO");
    ServiceTime policy(3);
    EXPECT_EQ(choices(policy, paths.view(), 2), "AB");
    policy.path_changed();
    EXPECT_EQ(choices(policy, paths.view(), 2), "AB");
}

} // namespace
} // namespace mpath::multipath::test
