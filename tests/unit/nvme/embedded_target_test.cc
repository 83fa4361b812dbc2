// SPDX-License-Identifier: GPL-2.0-only
// The initiator against the embedded target, which reads the standard on its own account.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "target/server.h"
#include "tests/unit/nvme/controller_fixture.h"

namespace mpath::nvme::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

/// A target on a loopback port, served by a thread.
class RunningTarget {
public:
    explicit RunningTarget(target::Options options) {
        if (options.listeners.empty()) {
            options.listeners.emplace_back();
        }
        server_ = std::move(*target::Server::create(options, clock_));
        thread_ = std::thread([this] { server_->run(); });
    }
    RunningTarget(const RunningTarget&) = delete;
    RunningTarget& operator=(const RunningTarget&) = delete;
    ~RunningTarget() {
        server_->stop();
        thread_.join();
    }

    [[nodiscard]] std::string address(std::size_t listener = 0) const {
        return server_->listeners()[listener]->address;
    }

private:
    SystemClock clock_;
    std::unique_ptr<target::Server> server_;
    std::thread thread_;
};

class EmbeddedTarget : public ControllerTest {
protected:
    EmbeddedTarget() { subnqn_ = target::Options().subnqn; }
    Error refused_by(const target::Options& options) {
        const RunningTarget target(options);
        auto controller = connect_to(target.address());
        if (controller) {
            close(**controller);
            return {0, "connected"};
        }
        return controller.error();
    }
};

TEST_F(EmbeddedTarget, two_listeners_are_two_paths_to_one_device) {
    target::Options options;
    options.listeners.resize(2);
    options.listeners[1].ana = AnaState::non_optimized;
    const RunningTarget target(options);
    auto a = connect_to(target.address(0));
    auto b = connect_to(target.address(1));
    ASSERT_TRUE(a) << a.error().text;
    ASSERT_TRUE(b) << b.error().text;
    EXPECT_EQ((*a)->facts().identity, (*b)->facts().identity);
    EXPECT_EQ((*a)->facts().limits, (*b)->facts().limits);
    EXPECT_NE((*a)->facts().controller_id, (*b)->facts().controller_id);
    EXPECT_EQ((*a)->facts().state, PathState::optimized);
    EXPECT_EQ((*b)->facts().state, PathState::non_optimized);
    EXPECT_EQ(shutdown(**a), 0);
    EXPECT_EQ(shutdown(**b), 0);
}

TEST_F(EmbeddedTarget, gives_io_queues_with_the_negotiated_parameters) {
    target::Options options;
    options.in_capsule = 4096;
    options.max_h2c_data = 65536;
    options.cpda = 3;
    options.queue_size = 64;
    options.io_queues = 2;
    const RunningTarget target(options);
    auto controller = connect_to(target.address());
    ASSERT_TRUE(controller) << controller.error().text;
    const auto queues =
        net::run_until_done(*reactor_, (*controller)->connect_io_queues(clock_.now() + 10 * kSecond));
    ASSERT_TRUE(queues) << queues.error().text;
    ASSERT_THAT(*queues, SizeIs(2));
    for (std::uint16_t i = 0; i < 2; ++i) {
        const ConnectedQueue& queue = (*queues)[i];
        EXPECT_TRUE(queue.socket.valid());
        EXPECT_EQ(queue.controller_id, (*controller)->facts().controller_id);
        EXPECT_EQ(queue.parameters.id, i + 1);
        EXPECT_EQ(queue.parameters.size, 64);
        EXPECT_EQ(queue.parameters.in_capsule, 4096U);
        EXPECT_EQ(queue.parameters.max_h2c_data, 65536U);
        EXPECT_EQ(queue.parameters.cpda, 3);
    }
    EXPECT_EQ(shutdown(**controller), 0);
}

unsigned tcp_patience(int fd) {
    unsigned milliseconds = 0;
    socklen_t length = sizeof milliseconds;
    ::getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, &length);
    return milliseconds;
}

/// A peer that acknowledges nothing would otherwise be noticed on an I/O connection only after a quarter of
/// an hour.
TEST_F(EmbeddedTarget, connections_have_the_patience_of_the_keep_alive_timeout) {
    const RunningTarget target({});
    for (const std::uint32_t keep_alive_ms : {7000U, 0U}) {
        options_.keep_alive_ms = keep_alive_ms;
        auto controller = connect_to(target.address());
        ASSERT_TRUE(controller) << controller.error().text;
        const auto queues =
            net::run_until_done(*reactor_, (*controller)->connect_io_queues(clock_.now() + 10 * kSecond));
        ASSERT_TRUE(queues) << queues.error().text;
        EXPECT_EQ(tcp_patience(queues->front().socket.get()), keep_alive_ms == 0 ? 30000 : keep_alive_ms);
        EXPECT_EQ(shutdown(**controller), 0);
    }
}

/// The target drops who is silent for longer than the timeout; ours never is.
TEST_F(EmbeddedTarget, is_kept_alive_for_several_timeouts) {
    options_.keep_alive_ms = 200;
    const RunningTarget target({});
    auto controller = connect_to(target.address());
    ASSERT_TRUE(controller) << controller.error().text;
    (*controller)->start(listener_);
    EXPECT_TRUE(run_until([&] { return (*controller)->statistics().keep_alives >= 10; }));
    EXPECT_THAT(listener_.losses, testing::IsEmpty());
    EXPECT_EQ(shutdown(**controller), 0);
}

struct Refusing {
    const char* name;
    void (*set)(target::Options&);
    int code;
    const char* sentence;
};

class EmbeddedTargetRefuses : public EmbeddedTarget, public testing::WithParamInterface<Refusing> {};

TEST_P(EmbeddedTargetRefuses, with_a_sentence_that_says_what_to_do) {
    target::Options options;
    GetParam().set(options);
    const Error error = refused_by(options);
    EXPECT_EQ(error.code, GetParam().code);
    EXPECT_THAT(error.text, HasSubstr(GetParam().sentence));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, EmbeddedTargetRefuses,
    testing::Values(
        Refusing{"tls", [](target::Options& o) { o.demand_tls = true; }, EACCES, "demands TLS"},
        Refusing{"authentication", [](target::Options& o) { o.demand_auth = true; }, EACCES,
                 "demands authentication"},
        Refusing{"garbage", [](target::Options& o) { o.garbage = true; }, EPROTO, "behind ICResp"},
        Refusing{"wrong_nqn", [](target::Options& o) { o.subnqn = "nqn.2014-08.org.example:other"; }, ENODEV,
                 "no subsystem nqn.2025-01.io.fio-mpath:target here"},
        Refusing{"metadata", [](target::Options& o) { o.metadata = 8; }, EMEDIUMTYPE, "8 bytes of metadata"},
        Refusing{"protection",
                 [](target::Options& o) {
                     o.metadata = 8;
                     o.protection = 1;
                 },
                 EMEDIUMTYPE, "protection information"}),
    [](const auto& row) { return row.param.name; });

TEST_F(EmbeddedTarget, out_of_controllers_is_told_from_other_refusals) {
    target::Options options;
    options.controllers = 1;
    const RunningTarget target(options);
    auto first = connect_to(target.address());
    ASSERT_TRUE(first) << first.error().text;
    auto second = connect_to(target.address());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, EBUSY);
    EXPECT_THAT(second.error().text, HasSubstr("out of controllers"));
    EXPECT_EQ(shutdown(**first), 0);
}

TEST_F(EmbeddedTarget, a_missing_namespace_is_answered_with_those_there_are) {
    nsid_ = 9;
    target::Options options;
    options.namespaces = 3;
    const Error error = refused_by(options);
    EXPECT_EQ(error.code, ENODEV);
    EXPECT_THAT(error.text, HasSubstr("no namespace 9; there are: 1, 2, 3"));
}

} // namespace
} // namespace mpath::nvme::test
