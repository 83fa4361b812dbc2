// SPDX-License-Identifier: GPL-2.0-only
// What becomes of I/O whose attempt failed, and of I/O without a path. Two paths, p0 and p1; round-robin
// begins with p0. The table of dispositions is docs/multipath.md's.
#include <gtest/gtest.h>

#include "multipath/failure.h"
#include "multipath/path_set.h"
#include "tests/unit/multipath/fake_path.h"
#include "tests/unit/multipath/heard_retries.h"

namespace mpath::multipath::test {
namespace {

struct Rule {
    ErrorClass error;
    Disposition disposition;
    Disposition with_dnr_failover;
};

class DispositionTest : public testing::TestWithParam<Rule> {};

TEST_P(DispositionTest, is_as_the_table_says) {
    const Rule& rule = GetParam();
    EXPECT_EQ(disposition(rule.error, {}), rule.disposition);
    EXPECT_EQ(disposition(rule.error, {.dnr_fails_over = true}), rule.with_dnr_failover);
}

constexpr auto kFinish = Disposition::finish;
constexpr auto kRequeue = Disposition::requeue;
constexpr auto kRetry = Disposition::retry;

INSTANTIATE_TEST_SUITE_P(Table, DispositionTest,
                         testing::Values(Rule{ErrorClass::path_error, kRequeue, kRequeue},
                                         Rule{ErrorClass::ana_loss, kRequeue, kRequeue},
                                         Rule{ErrorClass::ana_inaccessible, kRequeue, kRequeue},
                                         Rule{ErrorClass::ana_transition, kRequeue, kRequeue},
                                         Rule{ErrorClass::path_error_dnr, kFinish, kRequeue},
                                         Rule{ErrorClass::state_changed, kRetry, kRetry},
                                         Rule{ErrorClass::unit_attention, kRetry, kRetry},
                                         Rule{ErrorClass::transport_error, kRetry, kRetry},
                                         Rule{ErrorClass::busy, kRetry, kRetry},
                                         Rule{ErrorClass::aborted, kRequeue, kRequeue},
                                         Rule{ErrorClass::path_down, kRequeue, kRequeue},
                                         Rule{ErrorClass::no_path, kFinish, kFinish},
                                         Rule{ErrorClass::io_error, kFinish, kFinish}));

class RetryTest : public testing::Test {
protected:
    static constexpr Nanoseconds kMs = kMillisecond;

    RetryTest() : set(make_io_policy("round-robin", {}).value(), heard) {
        set.add("p0", paths[0]);
        set.add("p1", paths[1]);
        request.operation = Operation::write;
        request.queued_at = kSecond;
    }

    void submit() { set.submit(request); }
    /// The attempt ends on the path that has it.
    void end(ErrorClass error, Nanoseconds at = kSecond + kMs) {
        request.error_class = error;
        request.completed_at = at;
        set.arrivals().push(request);
        set.collect(at, finished);
    }
    [[nodiscard]] bool ended() const { return !finished.empty(); }
    [[nodiscard]] std::size_t attempts(std::size_t path) const { return paths[path].submitted.size(); }

    std::array<FakePath, 2> paths;
    HeardRetries heard;
    PathSet set;
    Request request;
    RequestList finished;
};

TEST_F(RetryTest, an_io_whose_path_was_lost_goes_to_the_other_at_once) {
    submit();
    paths[0].become('x');
    end(ErrorClass::path_down);
    EXPECT_FALSE(ended());
    EXPECT_EQ(attempts(1), 1U);
    EXPECT_EQ(heard.take(), "failed:0 again:1");
    EXPECT_EQ(request.queued_at, kSecond) << "its start stays";
    EXPECT_EQ(request.dispatched_at, kSecond + kMs);
    EXPECT_EQ(request.error_class, ErrorClass::none);
}

TEST_F(RetryTest, a_refusal_for_the_state_changes_it_and_asks_for_the_truth) {
    const std::array rules{std::pair{ErrorClass::ana_inaccessible, PathState::inaccessible},
                           std::pair{ErrorClass::ana_loss, PathState::persistent_loss},
                           std::pair{ErrorClass::ana_transition, PathState::change}};
    set.set_reports_state(0, true);
    for (const auto& [error, state] : rules) {
        paths[0].become('O');
        paths[1].become('I');
        submit();
        paths[1].become('O');
        end(error);
        EXPECT_EQ(paths[0].state(), state);
        EXPECT_EQ(heard.take(), "refused:0 failed:0 again:1");
        end(ErrorClass::none);
        finished = {};
        request.trouble = {};
    }
}

TEST_F(RetryTest, a_state_that_changed_is_asked_for_and_stays_until_it_is_known) {
    set.set_reports_state(0, true);
    submit();
    end(ErrorClass::state_changed);
    EXPECT_EQ(paths[0].state(), PathState::optimized);
    EXPECT_EQ(heard.take(), "refused:0 failed:0 again:0");
    paths[0].become('I');
    end(ErrorClass::state_changed);
    EXPECT_EQ(heard.take(), "refused:0 failed:0 again:1") << "it is known by now";
}

TEST_F(RetryTest, nobody_asks_a_device_without_states_for_its_state) {
    submit();
    end(ErrorClass::state_changed);
    EXPECT_EQ(heard.take(), "failed:0 again:0");
}

TEST_F(RetryTest, news_of_the_device_costs_an_attempt_on_the_same_path) {
    set.set_reports_state(0, true);
    submit();
    end(ErrorClass::unit_attention);
    EXPECT_EQ(heard.take(), "failed:0 again:0");
    EXPECT_EQ(request.trouble.retries, 1);
    end(ErrorClass::none);
    EXPECT_TRUE(ended());
    EXPECT_EQ(attempts(1), 0U);
}

TEST_F(RetryTest, S2335_a_state_from_a_target_without_states_leaves_the_path_usable_and_ends_in_an_error) {
    paths[1].become('x');
    submit();
    Nanoseconds now = kSecond;
    for (int refused = 1; !ended(); ++refused) {
        ASSERT_LT(refused, 100);
        end(ErrorClass::ana_inaccessible, now += kMs);
        EXPECT_EQ(paths[0].state(), PathState::optimized);
        if (!ended()) {
            ASSERT_TRUE(set.waiting()) << "answered at once";
            now = set.next_due();
            set.expire(now);
        }
    }
    EXPECT_EQ(request.error, ENOLINK);
    EXPECT_EQ(attempts(0), 1U + RetryRules{}.max_pauses);
}

TEST_F(RetryTest, paths_that_refuse_in_turn_are_not_spun_on) {
    submit();
    end(ErrorClass::path_error);
    EXPECT_FALSE(set.waiting()) << "the other one has not refused yet";
    EXPECT_EQ(attempts(0) + attempts(1), 2U);
    end(ErrorClass::path_error, 2 * kSecond);
    EXPECT_EQ(attempts(0) + attempts(1), 2U);
    ASSERT_TRUE(set.waiting());
    EXPECT_EQ(set.next_due(), 2 * kSecond + 100 * kMs);
    set.expire(2 * kSecond + 99 * kMs);
    EXPECT_EQ(attempts(0) + attempts(1), 2U);
    set.expire(2 * kSecond + 100 * kMs);
    EXPECT_EQ(attempts(0) + attempts(1), 3U);
    EXPECT_EQ(set.next_due(), kNever);
}

TEST_F(RetryTest, a_busy_device_is_asked_again_on_the_same_path_after_the_time_it_wants) {
    submit();
    request.retry_after = 300 * kMs;
    end(ErrorClass::busy, 2 * kSecond);
    EXPECT_EQ(set.next_due(), 2 * kSecond + 300 * kMs);
    set.expire(set.next_due());
    EXPECT_EQ(attempts(0), 2U);
    EXPECT_EQ(attempts(1), 0U);
    EXPECT_EQ(heard.take(), "failed:0 again:0");
    end(ErrorClass::busy, 3 * kSecond);
    EXPECT_EQ(set.next_due(), 3 * kSecond + 100 * kMs) << "it did not say how long";
}

TEST_F(RetryTest, a_busy_device_whose_path_went_away_is_asked_on_the_other) {
    submit();
    end(ErrorClass::busy, 2 * kSecond);
    paths[0].become('x');
    set.expire(set.next_due());
    EXPECT_EQ(attempts(1), 1U);
}

TEST_F(RetryTest, a_damaged_transfer_is_repeated_at_once_until_the_budget_is_spent) {
    submit();
    for (int i = 0; i < 5; ++i) {
        end(ErrorClass::transport_error);
        ASSERT_FALSE(ended());
    }
    end(ErrorClass::transport_error);
    EXPECT_TRUE(ended());
    EXPECT_EQ(request.error, EIO);
    EXPECT_EQ(attempts(0), 6U);
}

TEST_F(RetryTest, do_not_retry_ends_it) {
    submit();
    end(ErrorClass::path_error_dnr);
    EXPECT_TRUE(ended());
    EXPECT_EQ(request.error, ENOLINK);
    EXPECT_EQ(heard.take(), "");
}

// ---- no path

TEST_F(RetryTest, an_io_waits_for_paths_that_are_connected_but_inaccessible) {
    paths[0].become('I');
    paths[1].become('C');
    submit();
    EXPECT_TRUE(set.waiting());
    EXPECT_FALSE(set.has_arrivals());
    paths[1].become('N');
    set.path_changed(kSecond + 700);
    EXPECT_FALSE(set.waiting());
    EXPECT_EQ(request.path, 1);
    EXPECT_EQ(heard.take(), "held:700 again:1");
}

TEST_F(RetryTest, an_io_waits_while_a_path_may_return_and_fails_when_none_may) {
    paths[0].become('x');
    paths[1].become('x');
    set.set_may_return(1, true);
    submit();
    set.path_changed(kSecond + 10);
    EXPECT_TRUE(set.waiting());
    set.set_may_return(1, false);
    set.path_changed(kSecond + 20);
    set.collect(kSecond + 20, finished);
    EXPECT_TRUE(ended());
    EXPECT_EQ(request.error_class, ErrorClass::no_path);
    EXPECT_EQ(request.error, EIO);
    EXPECT_EQ(heard.take(), "held:20");
}

TEST_F(RetryTest, a_path_that_the_job_may_not_use_is_not_waited_for) {
    paths[0].become('x');
    set.enable(1, false);
    submit();
    set.collect(kSecond, finished);
    EXPECT_TRUE(ended());
}

TEST_F(RetryTest, what_waits_fails_when_the_job_gives_up_and_nothing_is_repeated_afterwards) {
    paths[0].become('I');
    paths[1].become('I');
    submit();
    Request under_way;
    paths[0].become('O');
    set.submit(under_way);
    set.give_up(2 * kSecond);
    set.collect(2 * kSecond, finished);
    ASSERT_EQ(finished.pop(), &request);
    EXPECT_FALSE(set.waiting());
    under_way.error_class = ErrorClass::path_down;
    set.arrivals().push(under_way);
    set.collect(2 * kSecond, finished);
    EXPECT_EQ(finished.pop(), &under_way);
    EXPECT_EQ(under_way.error, ENOLINK);
}

// ---- writes whose fate is unknown

TEST_F(RetryTest, a_write_that_may_still_be_executed_is_exposed_when_it_is_repeated_at_once) {
    submit();
    paths[0].become('x');
    request.maybe_executed = true;
    end(ErrorClass::path_down);
    EXPECT_EQ(heard.take(), "failed:0 exposed:0 again:1");
}

TEST_F(RetryTest, a_write_that_never_left_is_not_exposed) {
    submit();
    paths[0].become('x');
    end(ErrorClass::path_down);
    EXPECT_EQ(heard.take(), "failed:0 again:1");
}

TEST_F(RetryTest, a_read_is_not_exposed) {
    request.operation = Operation::read;
    submit();
    paths[0].become('x');
    request.maybe_executed = true;
    end(ErrorClass::path_down);
    EXPECT_EQ(heard.take(), "failed:0 again:1");
}

TEST_F(RetryTest, a_held_write_waits_until_the_target_must_have_noticed_and_is_not_exposed) {
    set.set_write_hold(0, 10 * kSecond);
    submit();
    paths[0].become('x');
    request.maybe_executed = true;
    end(ErrorClass::path_down, 2 * kSecond);
    EXPECT_EQ(attempts(1), 0U);
    EXPECT_EQ(set.next_due(), 12 * kSecond);
    set.expire(12 * kSecond);
    EXPECT_EQ(attempts(1), 1U);
    EXPECT_EQ(heard.take(), "failed:0 again:1");
}

TEST_F(RetryTest, a_hold_is_for_writes_that_may_be_executed_only) {
    set.set_write_hold(0, 10 * kSecond);
    submit();
    paths[0].become('x');
    end(ErrorClass::path_down);
    EXPECT_EQ(attempts(1), 1U);
}

} // namespace
} // namespace mpath::multipath::test
