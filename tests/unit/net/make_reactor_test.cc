// SPDX-License-Identifier: GPL-2.0-only
// Which backend a host gets.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <thread>

#include "net/reactor.h"
#include "net/uring_reactor.h"

namespace mpath::net {
namespace {

class MakeReactor : public testing::Test {
protected:
    void SetUp() override {
        if (const char* value = std::getenv("MPATH_NET")) {
            before_ = value;
        }
        ::unsetenv("MPATH_NET");
    }
    void TearDown() override {
        if (before_) {
            ::setenv("MPATH_NET", before_->c_str(), 1);
        } else {
            ::unsetenv("MPATH_NET");
        }
    }
    static void choose(const char* backend) { ::setenv("MPATH_NET", backend, 1); }

    SystemClock clock_;

private:
    std::optional<std::string> before_;
};

TEST_F(MakeReactor, TakesIoUringWhereItCanBeHad) {
    const bool possible = UringReactor::create(clock_, 8).has_value();
    for (const char* wish : {"", "auto"}) {
        if (*wish != '\0') {
            choose(wish);
        }
        const auto reactor = make_reactor(clock_, 8);
        ASSERT_TRUE(reactor) << reactor.error().text;
        EXPECT_EQ((*reactor)->backend(), possible ? "io_uring" : "poll");
    }
}

TEST_F(MakeReactor, CanBeForcedToPoll) {
    choose("poll");
    const auto reactor = make_reactor(clock_, 8);
    ASSERT_TRUE(reactor) << reactor.error().text;
    EXPECT_EQ((*reactor)->backend(), "poll");
}

TEST_F(MakeReactor, RefusesABackendThatIsNone) {
    choose("epoll");
    const auto reactor = make_reactor(clock_, 8);
    ASSERT_FALSE(reactor);
    EXPECT_EQ(reactor.error().code, EINVAL);
    EXPECT_EQ(reactor.error().text, "MPATH_NET=epoll is not a backend: it can be io_uring, poll or auto");
}

/// What a host that keeps io_uring from us answers with to one of its three system calls.
struct Denial {
    const char* name;
    int system_call;
    int error;
    const char* sentence; ///< of MPATH_NET=io_uring
};

class MakeReactorDenied : public MakeReactor, public testing::WithParamInterface<Denial> {
protected:
    /// From now on, for this thread only.
    [[nodiscard]] static bool deny(const Denial& denial) {
        std::array<sock_filter, 4> program{
            {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
             BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(denial.system_call), 0, 1),
             BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(denial.error)),
             BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
        const sock_fprog filter{program.size(), program.data()};
        return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
               ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
    }
};

TEST_P(MakeReactorDenied, FallsBackToPollAndSaysWhyWhenForced) {
    if (!UringReactor::create(clock_, 8)) {
        GTEST_SKIP() << "this host denies io_uring already";
    }
    std::thread([this] {
        ASSERT_TRUE(deny(GetParam()));
        const auto fallback = make_reactor(clock_, 8);
        ASSERT_TRUE(fallback) << fallback.error().text;
        EXPECT_EQ((*fallback)->backend(), "poll");
        choose("io_uring");
        const auto forced = make_reactor(clock_, 8);
        ASSERT_FALSE(forced);
        EXPECT_EQ(forced.error().code, GetParam().error);
        EXPECT_NE(forced.error().text.find(GetParam().sentence), std::string::npos) << forced.error().text;
    }).join();
}

INSTANTIATE_TEST_SUITE_P(
    Hosts, MakeReactorDenied,
    testing::Values(
        Denial{"Sysctl", SYS_io_uring_setup, EPERM, "can't be set up on this host (Operation not permitted)"},
        Denial{"Container", SYS_io_uring_setup, ENOSYS,
               "can't be set up on this host (Function not implemented)"},
        Denial{"Memlock", SYS_io_uring_setup, ENOMEM, "the memlock limit too low"},
        Denial{"FilterOfRegister", SYS_io_uring_register, ENOSYS, "lacks operations"},
        Denial{"FilterOfEnter", SYS_io_uring_enter, EPERM, "can be set up on this host, but not used"}),
    [](const auto& denial) { return denial.param.name; });

} // namespace
} // namespace mpath::net
