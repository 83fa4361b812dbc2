// SPDX-License-Identifier: GPL-2.0-only
// The language of fault scripts: what it takes, and what it says of what it does not.
#include <gtest/gtest.h>

#include "target/fault/script.h"

namespace mpath::target {
namespace {

Result<std::vector<Statement>> parse(std::string_view text) {
    const ScriptContext context{
        .listeners = {"a", "b", "c"}, .groups = 2, .block_size = 4096, .most_bytes = 1 << 30};
    return parse_script(text, "my.script", context);
}

Statement only(std::string_view text) {
    const auto statements = parse(text);
    EXPECT_TRUE(statements) << text << ": " << (statements ? "" : statements.error().text);
    return statements && statements->size() == 1 ? statements->front() : Statement{};
}

TEST(TargetScript, TakesCommentsAndEmptyLines) {
    const auto statements = parse("# nothing yet\n\n  on a drop   # now\r\n\ton b drop");
    ASSERT_TRUE(statements) << statements.error().text;
    EXPECT_EQ(statements->size(), 2U);
    EXPECT_EQ(statements->at(0).actions[0].text, "drop");
}

TEST(TargetScript, TakesEveryAction) {
    for (const char* action : {
             "ana optimized",
             "ana change no-event",
             "group 2 ana persistent-loss",
             "drop",
             "controller 3 drop",
             "queue 0 close",
             "down",
             "refuse-connects",
             "reject-connects",
             "queue 2 reject-connects connect-invalid-host dnr",
             "reject-connects count 2",
             "stall-reading",
             "stall-writing",
             "mute",
             "command keep-alive mute",
             "command write/5 mute",
             "delay 1.5ms",
             "command identify delay 2s",
             "fail 302h",
             "fail 3/02 dnr crd 2 count 7",
             "command ana-log fail internal-error",
             "busy crd 1",
             "flip header",
             "flip data count 2",
             "split 1",
             "split-data 4096",
             "reorder",
             "lie r2t-too-many",
             "lie ana-group-0",
             "lie ana-count-moves count 4",
             "resize 128M",
             "group 1 resize 4k",
             "remove",
             "group 2 remove",
             "identity another-device",
             "fatal",
             "controller 2 reset",
             "hold-writes",
             "hold-writes 500ms count 1",
             "heal",
             "mute or ana inaccessible or down",
         }) {
        const auto statements = parse(fmt::format("on a {}", action));
        EXPECT_TRUE(statements) << action << ": " << (statements ? "" : statements.error().text);
    }
}

TEST(TargetScript, TakesEveryTime) {
    EXPECT_TRUE(only("on a drop").when.at_once());
    EXPECT_EQ(only("at 2s on a drop").when.at->least, 2 * kSecond);
    EXPECT_EQ(only("at 0 on a drop").when.at->least, 0U);
    EXPECT_EQ(only("at 1s..3s on a drop").when.at->most, 3 * kSecond);
    EXPECT_EQ(only("at 1s every 2s on a drop").when.every->least, 2 * kSecond);
    EXPECT_EQ(only("every 2s times 3 on a drop").when.times, 3U);
    EXPECT_EQ(only("after 10 writes on a drop").when.counted, Counted::writes);
    EXPECT_FALSE(only("after 1 command on a drop").when.repeats);
    EXPECT_TRUE(only("every 100 reads on a drop").when.repeats);
    EXPECT_EQ(only("for 10ms..20ms on a mute").duration->most, 20 * kMillisecond);
    EXPECT_EQ(only("after 5 commands for 1s on a mute").duration->least, kSecond);
}

TEST(TargetScript, TakesEveryPlace) {
    using Positions = std::vector<std::size_t>;
    EXPECT_EQ(only("on b drop").listeners, Positions({1}));
    EXPECT_EQ(only("on c+a drop").listeners, Positions({2, 0}));
    EXPECT_EQ(only("on all drop").listeners, Positions({0, 1, 2}));
    EXPECT_TRUE(only("on any drop").any);
    EXPECT_EQ(only("on any of a+b drop").listeners, Positions({0, 1}));
    const Scope scope = only("on a controller 7 queue 2 group 1 command write/3 mute").scope;
    EXPECT_EQ(scope.controller, 7);
    EXPECT_EQ(scope.queue, 2);
    EXPECT_EQ(scope.group, 1U);
    EXPECT_EQ(scope.command->name, "write");
    EXPECT_EQ(scope.nth, 3U);
}

TEST(TargetScript, TakesWhatIsNoFault) {
    EXPECT_EQ(only("status").kind, Statement::Kind::status);
    EXPECT_EQ(only("forget").kind, Statement::Kind::forget);
    EXPECT_EQ(only("seed 42").seed, 42U);
}

TEST(TargetScript, ReadsAStatusWithItsBits) {
    const nvme::Status status = only("on a fail 3/02 dnr crd 2").actions[0].status;
    EXPECT_EQ(status.code(), nvme::StatusCode::ana_inaccessible);
    EXPECT_TRUE(status.dnr());
    EXPECT_EQ(status.crd(), 2U);
}

TEST(TargetScript, SaysWhichLineIsWrongAndWhatWasExpected) {
    struct Bad {
        const char* line;
        const char* sentence;
    };
    for (const Bad& bad : {
             Bad{"drop a", "expected at, every, after, for or on, not 'drop'"},
             Bad{"on", "expected a listener's name, several joined by '+', all or any behind the last word"},
             Bad{"on d drop", "no listener is named 'd', there are a, b, c"},
             Bad{"on a+ drop", "no listener is named '', there are a, b, c"},
             Bad{"on a", "expected an action (ana, drop,"},
             Bad{"on a dorp", "not 'dorp'"},
             Bad{"on a drop now", "expected the end of the statement, not 'now'"},
             Bad{"on a ana", "expected an ANA state behind the last word"},
             Bad{"on a ana open", "'open' is not an ANA state"},
             Bad{"on a group 3 ana optimized", "there is no ANA group 3, there are 1 to 2"},
             Bad{"on a group 1 drop", "drop can't be told for one group, leave 'group' out"},
             Bad{"on a queue x drop", "expected a queue's ID from 0, the admin queue, not 'x'"},
             Bad{"on a controller 0 drop", "expected a controller's ID from 1, not '0'"},
             Bad{"on a command redo mute", "expected a kind of command (io, read, write,"},
             Bad{"on a command read/0 mute", "expected the how manyth command behind '/', from 1"},
             Bad{"on a command read down", "down can't be told for one command"},
             Bad{"at soon on a drop", "expected a time such as 500ms, or two such as 1s..3s, not 'soon'"},
             Bad{"at 3s..1s on a drop", "expected a time such as 500ms"},
             Bad{"every 0 on a drop", "'every' needs a time above 0"},
             Bad{"every 5 apples on a drop", "expected a time such as 500ms"},
             Bad{"after 2s on a drop", "expected a number from 1, not '2s'"},
             Bad{"after 5 on a drop", "expected commands, reads or writes, not 'on'"},
             Bad{"at 1s every 5 reads on a drop", "write two statements"},
             Bad{"at 1s times 2 on a drop", "add 'every'"},
             Bad{"for 2s on a drop", "'drop' is over at once, leave 'for' out"},
             Bad{"for 2s on a mute or drop", "'drop' is over at once"},
             Bad{"on a delay", "expected a duration such as 5ms behind the last word"},
             Bad{"on a fail", "expected a status such as ana-inaccessible or 302h behind the last word"},
             Bad{"on a fail 0h", "'0h' is not a status"},
             Bad{"on a fail 9/00", "'9/00' is not a status"},
             Bad{"on a fail 302h crd 4", "crd 4 is none, there are 1, 2 and 3"},
             Bad{"on a mute dnr", "expected the end of the statement, not 'dnr'"},
             Bad{"on a drop count 2", "expected the end of the statement, not 'count'"},
             Bad{"on a flip tail", "expected header or data, not 'tail'"},
             Bad{"on a split 0", "expected a number of bytes, not '0'"},
             Bad{"on a lie much", "expected what to lie about"},
             Bad{"on a resize 5000", "is not a multiple of the block size 4096"},
             Bad{"on a resize 2G", "four times what the namespaces have at the start"},
             Bad{"on a identity", "expected a text to derive the identity from"},
             Bad{"status now", "expected the end of the statement, not 'now'"},
             Bad{"seed x", "expected a number from 0, not 'x'"},
         }) {
        const auto statements = parse(fmt::format("on a drop\n# second\n{}\non b drop", bad.line));
        ASSERT_FALSE(statements) << bad.line;
        const std::string& text = statements.error().text;
        EXPECT_EQ(text.find("my.script:3: "), 0U) << text;
        EXPECT_NE(text.find(bad.sentence), std::string::npos) << bad.line << ": " << text;
    }
}

TEST(TargetScript, DescribesEachActionOnALine) {
    const std::string text = describe_actions();
    for (const char* name : {"ana STATE", "drop", "hold-writes [DURATION]", "heal"}) {
        EXPECT_NE(text.find(fmt::format("  {} ", name)), std::string::npos) << name;
    }
}

} // namespace
} // namespace mpath::target
