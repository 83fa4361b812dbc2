// SPDX-License-Identifier: GPL-2.0-only
#include "cli/top_keys.h"

#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace mpath::cli {
namespace {

using What = TopAction::What;

/// What comes of keys, redraws left out.
std::vector<TopAction> pressed(std::string_view bytes) {
    TopKeys keys;
    std::vector<TopAction> actions;
    for (const char byte : bytes) {
        const auto action = keys.press(byte);
        if (action && action->what != What::redraw) {
            actions.push_back(*action);
        }
    }
    return actions;
}

TEST(TopKeys, ChooseJobs) {
    for (const char* next : {"j", "\t", "\x1B[B", "\x1BOB", "\x1B[1;5B"}) {
        ASSERT_EQ(pressed(next).size(), 1U) << next;
        EXPECT_EQ(pressed(next)[0].what, What::next_job);
    }
    for (const char* previous : {"k", "\x1B[A", "\x1BOA"}) {
        ASSERT_EQ(pressed(previous).size(), 1U) << previous;
        EXPECT_EQ(pressed(previous)[0].what, What::previous_job);
    }
}

TEST(TopKeys, ChooseAPolicyByItsNumber) {
    const auto actions = pressed("125");
    ASSERT_EQ(actions.size(), 3U);
    EXPECT_EQ(actions[0].what, What::policy);
    EXPECT_EQ(actions[0].policy, 0U);
    EXPECT_EQ(actions[1].policy, 1U);
    EXPECT_EQ(actions[2].policy, 4U);
    EXPECT_TRUE(pressed("0789").empty());
}

TEST(TopKeys, AskForThePathWhereOneIsNeeded) {
    const struct {
        const char* keys;
        What what;
        std::size_t path;
        const char* prompt;
    } cases[] = {{"e1", What::enable, 1, "enable which path? 0-9"},
                 {"d0", What::disable, 0, "disable which path? 0-9"},
                 {"63", What::preferred, 3, "prefer which path? 0-9"}};
    for (const auto& the : cases) {
        TopKeys keys;
        keys.press(the.keys[0]);
        EXPECT_EQ(keys.prompt(), the.prompt);
        const auto action = keys.press(the.keys[1]);
        EXPECT_EQ(action->what, the.what);
        EXPECT_EQ(action->path, the.path);
        EXPECT_EQ(keys.prompt(), "");
    }
}

TEST(TopKeys, ForgetTheQuestionWhenSomethingElseIsPressed) {
    EXPECT_TRUE(pressed("dx").empty());
    EXPECT_TRUE(pressed("d\x1B").empty());
    EXPECT_EQ(pressed("dxq")[0].what, What::quit);
}

TEST(TopKeys, QuitAndGoBackToTheSchedule) {
    EXPECT_EQ(pressed("q")[0].what, What::quit);
    EXPECT_EQ(pressed("s")[0].what, What::schedule);
    EXPECT_TRUE(pressed("zZ\n \x7F").empty());
    EXPECT_TRUE(pressed("\x1B[H\x1B[5~").empty()) << "keys that mean nothing here";
}

} // namespace
} // namespace mpath::cli
