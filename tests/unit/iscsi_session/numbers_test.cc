// SPDX-License-Identifier: GPL-2.0-only
// The sequence numbers of a session, and the window of commands that a target takes. RFC 7143, section 4.2.2.
#include "tests/unit/iscsi_session/session_fixture.h"

namespace mpath::iscsi::test {
namespace {

class SessionNumbersTest : public SessionTest {
protected:
    static constexpr std::uint32_t kFirst = kNumbers.cmd_sn;

    void open_with_window(std::uint32_t commands) {
        SessionNumbers numbers = kNumbers;
        numbers.max_cmd_sn = kFirst + commands - 1;
        open({.numbers = numbers});
    }
    /// That the target takes commands up to this one, counted from the session's first.
    void tell_window(std::uint32_t exp_cmd_sn, std::uint32_t max_cmd_sn) {
        target_->exp_cmd_sn = kFirst + exp_cmd_sn;
        target_->max_cmd_sn = kFirst + max_cmd_sn;
        target_->send(target_->news());
        settle();
    }
};

TEST_F(SessionNumbersTest, CountCommandsAcrossTheWrap) {
    open();
    for (std::uint32_t i = 0; i < 4; ++i) {
        submit(Transfer::none, nullptr, 0);
        session_->flush();
        EXPECT_EQ(receive(Opcode::scsi_command).as<ScsiCommand>().cmd_sn, kFirst + i);
    }
    EXPECT_EQ(session_->numbers().cmd_sn, 2U);
}

TEST_F(SessionNumbersTest, AcknowledgeAnswers) {
    open();
    const auto tag = start_flush();
    target_->send(target_->response(tag));
    ASSERT_TRUE(run_until_done(1));
    submit(Transfer::none, nullptr, 0);
    session_->flush();
    EXPECT_EQ(receive().as<ScsiCommand>().exp_stat_sn, kNumbers.exp_stat_sn + 1);
}

TEST_F(SessionNumbersTest, OfAnswersAreTakenByThoseOnlyThatAnswer) {
    open({.parameters = {.immediate_data = false}});
    Bytes buffer(512);
    const auto read = start_read(buffer);
    const auto write = start_write(buffer);
    target_->send(
        {target_->data_in(read, 0, pattern(512), kFinal), target_->r2t(write, 1, 0, 512), target_->news()});
    receive(Opcode::data_out);
    EXPECT_EQ(session_->numbers().exp_stat_sn, kNumbers.exp_stat_sn);
    target_->send({target_->response(write), target_->response(read)});
    ASSERT_TRUE(run_until_done(2));
    EXPECT_EQ(session_->numbers().exp_stat_sn, kNumbers.exp_stat_sn + 2);
}

TEST_F(SessionNumbersTest, AreNotTakenByWhatIsImmediate) {
    open();
    ASSERT_TRUE(session_->ping());
    session_->flush();
    const Pdu ping = receive(Opcode::nop_out);
    EXPECT_TRUE(ping.immediate());
    EXPECT_EQ(ping.as<NopOut>().cmd_sn, kFirst) << "the next command's";
    submit(Transfer::none, nullptr, 0);
    session_->flush();
    EXPECT_EQ(receive(Opcode::scsi_command).as<ScsiCommand>().cmd_sn, kFirst);
}

TEST_F(SessionNumbersTest, WindowIsWhatTheTargetTakes) {
    open_with_window(3);
    for (int i = 0; i < 3; ++i) {
        ASSERT_FALSE(session_->full());
        submit(Transfer::none, nullptr, 0);
    }
    EXPECT_TRUE(session_->full());
    EXPECT_EQ(session_->outstanding(), 3U);
}

TEST_F(SessionNumbersTest, WindowMayBeClosedAtFirst) {
    open_with_window(0);
    EXPECT_TRUE(session_->full());
    tell_window(0, 0);
    EXPECT_FALSE(session_->full());
}

TEST_F(SessionNumbersTest, WindowThatOpensIsToldToWhoFoundItClosed) {
    open_with_window(1);
    const auto tag = start_flush();
    ASSERT_TRUE(session_->full());
    const int before = rooms_;
    target_->send(target_->response(tag)); // with the window as it was
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(session_->full());
    EXPECT_EQ(rooms_, before);
    tell_window(1, 1);
    EXPECT_FALSE(session_->full());
    EXPECT_EQ(rooms_, before + 1);
    EXPECT_EQ(session_->statistics().window_closed, 1U);
    EXPECT_GT(session_->statistics().window_closed_time, 0);
}

TEST_F(SessionNumbersTest, WindowThatNobodyFoundClosedIsNotCounted) {
    open_with_window(1);
    const auto tag = start_flush();
    ++target_->max_cmd_sn;
    target_->send(target_->response(tag));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_FALSE(session_->full());
    EXPECT_EQ(session_->statistics().window_closed, 0U);
}

struct News {
    const char* name;
    std::uint32_t exp_cmd_sn;
    std::uint32_t max_cmd_sn;
    bool opens;
};

class SessionWindowNews : public SessionNumbersTest, public testing::WithParamInterface<News> {};

TEST_P(SessionWindowNews, CountIfTheyAreNewAndMakeSense) {
    open_with_window(2);
    start_flush();
    start_flush();
    ASSERT_TRUE(session_->full());
    tell_window(GetParam().exp_cmd_sn, GetParam().max_cmd_sn);
    EXPECT_EQ(session_->full(), !GetParam().opens);
    EXPECT_FALSE(closed_);
}

INSTANTIATE_TEST_SUITE_P(Rows, SessionWindowNews,
                         testing::Values(News{"OneMore", 2, 2, true}, News{"ManyMore", 2, 5000, true},
                                         News{"ManyMoreThanAnybodyKeeps", 2, 0x7ffffffe, true},
                                         News{"TheSame", 2, 1, false}, News{"Older", 0, 0, false},
                                         News{"ClosedOnTheSpot", 10, 9, true},
                                         News{"EndingBeforeItBegins", 10, 8, false},
                                         News{"EndingLongBeforeItBegins", 0x7fffffff, 2, false}),
                         [](const auto& row) { return row.param.name; });

TEST_F(SessionNumbersTest, WindowIsNeverTakenBack) {
    open_with_window(2);
    start_flush();
    tell_window(1, 0);
    EXPECT_FALSE(session_->full()) << "section 4.2.2.1: what was granted stays granted";
}

TEST_F(SessionNumbersTest, WindowComesWithEverything) {
    open({.parameters = {.immediate_data = false},
          .numbers = {.cmd_sn = 5, .exp_stat_sn = 1, .max_cmd_sn = 6}});
    Bytes buffer(512);
    const auto read = start_read(buffer);
    const auto write = start_write(buffer);
    target_->max_cmd_sn = 7;
    target_->send(target_->data_in(read, 0, pattern(256), 0));
    ASSERT_TRUE(run_until([this] { return !session_->full(); }));
    start_flush();
    EXPECT_TRUE(session_->full());
    target_->max_cmd_sn = 8;
    target_->send(target_->r2t(write, 1, 0, 512));
    ASSERT_TRUE(run_until([this] { return !session_->full(); }));
    receive(Opcode::data_out);
}

} // namespace
} // namespace mpath::iscsi::test
