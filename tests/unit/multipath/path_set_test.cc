// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/path_set.h"

#include <cerrno>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/multipath/fake_path.h"
#include "tests/unit/multipath/heard_retries.h"

namespace mpath::multipath::test {
namespace {

class PathSetTest : public testing::Test {
protected:
    PathSetTest() : set(make_io_policy("round-robin", {}).value(), heard) {
        set.add("p0", a);
        set.add("p1", b);
    }

    Request& finish_one() {
        set.collect(kNow, finished);
        return *finished.pop();
    }

    static constexpr Nanoseconds kNow = 9'000;
    FakePath a;
    FakePath b;
    HeardRetries heard;
    PathSet set;
    RequestList finished;
};

TEST_F(PathSetTest, gives_each_request_to_the_path_its_policy_picks) {
    Request first;
    Request second;
    set.submit(first);
    set.submit(second);
    ASSERT_EQ(a.submitted.size(), 1U);
    ASSERT_EQ(b.submitted.size(), 1U);
    EXPECT_EQ(a.submitted[0], &first);
    EXPECT_EQ(first.path, 0);
    EXPECT_EQ(second.path, 1);
}

TEST_F(PathSetTest, dispatches_at_the_time_it_was_queued) {
    Request request;
    request.queued_at = 1'234;
    set.submit(request);
    EXPECT_EQ(request.dispatched_at, 1'234U);
}

TEST_F(PathSetTest, flushes_only_paths_that_got_something) {
    Request request;
    set.submit(request);
    set.flush();
    EXPECT_EQ(a.flushes, 1);
    EXPECT_EQ(b.flushes, 0);
    set.flush();
    EXPECT_EQ(a.flushes, 1);
}

TEST_F(PathSetTest, stamps_what_arrived_unless_the_path_did) {
    Request unstamped;
    Request stamped;
    set.submit(unstamped);
    set.submit(stamped);
    stamped.completed_at = 5'000;
    set.arrivals().push(unstamped);
    set.arrivals().push(stamped);
    EXPECT_EQ(finish_one().completed_at, kNow);
    EXPECT_EQ(finish_one().completed_at, 5'000U);
}

TEST_F(PathSetTest, forgets_the_last_io_of_a_reused_request) {
    Request request;
    request.error = EIO;
    request.error_class = ErrorClass::io_error;
    request.protocol_status = 0x281;
    request.completed_at = 77;
    set.submit(request);
    EXPECT_EQ(request.error, 0);
    EXPECT_EQ(request.error_class, ErrorClass::none);
    EXPECT_EQ(request.protocol_status, 0);
    EXPECT_EQ(request.completed_at, 0U);
}

TEST_F(PathSetTest, fails_a_request_when_no_path_is_usable) {
    a.become('x');
    b.become('x');
    Request request;
    set.submit(request);
    ASSERT_TRUE(set.has_arrivals());
    const Request& failed = finish_one();
    EXPECT_EQ(&failed, &request);
    EXPECT_EQ(failed.error_class, ErrorClass::no_path);
    EXPECT_EQ(failed.error, EIO);
    EXPECT_EQ(failed.path, kUnassigned);
    EXPECT_FALSE(set.has_arrivals());
}

TEST_F(PathSetTest, keeps_the_error_a_path_reported) {
    Request request;
    set.submit(request);
    request.error_class = ErrorClass::io_error;
    request.error = EILSEQ;
    set.arrivals().push(request);
    EXPECT_EQ(finish_one().error, EILSEQ);
}

TEST_F(PathSetTest, goes_on_after_the_device_refused_an_io) {
    Request first;
    Request second;
    set.submit(first);
    first.error_class = ErrorClass::io_error;
    set.arrivals().push(first);
    (void)finish_one();
    set.submit(second);
    EXPECT_EQ(second.path, 1);
}

TEST_F(PathSetTest, keeps_io_away_from_a_disabled_path) {
    set.enable(0, false);
    Request first;
    Request second;
    set.submit(first);
    set.submit(second);
    EXPECT_TRUE(a.submitted.empty());
    EXPECT_EQ(second.path, 1);
    EXPECT_FALSE(set.enabled(0));
    set.enable(0, true);
    Request third;
    set.submit(third);
    EXPECT_EQ(third.path, 0);
}

TEST_F(PathSetTest, follows_a_state_the_job_asked_for) {
    set.set_filter(StateFilter::non_optimized);
    b.become('N');
    Request first;
    set.submit(first);
    EXPECT_EQ(first.path, 1);
    a.become('N');
    b.become('O');
    set.path_changed(kNow);
    Request second;
    set.submit(second);
    EXPECT_EQ(second.path, 0);
}

TEST_F(PathSetTest, counts_usable_paths_among_the_enabled) {
    EXPECT_EQ(set.usable(), 2U);
    a.become('C');
    EXPECT_EQ(set.usable(), 1U);
    set.enable(1, false);
    EXPECT_EQ(set.usable(), 0U);
}

TEST_F(PathSetTest, changes_its_policy_between_two_ios) {
    Request request;
    set.submit(request);
    set.set_policy(make_io_policy("queue-depth", {}).value());
    a.depth = 5;
    b.depth = 9;
    set.submit(request);
    EXPECT_EQ(request.path, 0);
    EXPECT_EQ(set.policy().name(), "queue-depth");
}

/// Writes down what it is told.
class HearingPolicy final : public IoPolicy {
public:
    HearingPolicy(std::vector<std::size_t>& heard, bool hears) : heard_(heard), hears_(hears) {}

    [[nodiscard]] std::size_t select(const PathView& view, Operation) noexcept override {
        return view.size() - 1;
    }
    void path_failed(std::size_t) noexcept override {}
    void path_changed() noexcept override {}
    [[nodiscard]] bool hears_completions() const noexcept override { return hears_; }
    void completed(std::size_t position, const Request&) noexcept override { heard_.push_back(position); }
    [[nodiscard]] std::string_view name() const noexcept override { return "hearing"; }
    [[nodiscard]] std::string_view semantics() const noexcept override { return "of a test"; }

private:
    std::vector<std::size_t>& heard_;
    bool hears_;
};

TEST_F(PathSetTest, tells_a_policy_that_asks_of_each_success) {
    std::vector<std::size_t> told;
    set.set_policy(std::make_unique<HearingPolicy>(told, true));
    Request success;
    Request refused;
    set.submit(success);
    set.submit(refused);
    refused.error_class = ErrorClass::io_error;
    set.arrivals().push(success);
    set.arrivals().push(refused);
    set.collect(kNow, finished);
    EXPECT_EQ(told, std::vector<std::size_t>{1});
}

TEST_F(PathSetTest, tells_a_policy_the_position_of_now) {
    std::vector<std::size_t> told;
    set.set_policy(std::make_unique<HearingPolicy>(told, true));
    Request first;
    Request second;
    set.submit(first);
    set.submit(second);
    set.enable(0, false);
    set.arrivals().push(first);
    set.collect(kNow, finished);
    EXPECT_EQ(told, std::vector<std::size_t>{0});
    set.enable(1, false);
    set.arrivals().push(second);
    set.collect(kNow, finished);
    EXPECT_EQ(told, std::vector<std::size_t>{0}) << "the path is no candidate any more";
}

TEST_F(PathSetTest, tells_a_policy_nothing_that_does_not_ask) {
    std::vector<std::size_t> told;
    set.set_policy(std::make_unique<HearingPolicy>(told, false));
    Request request;
    set.submit(request);
    set.arrivals().push(request);
    set.collect(kNow, finished);
    EXPECT_TRUE(told.empty());
}

} // namespace
} // namespace mpath::multipath::test
