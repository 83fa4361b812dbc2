// SPDX-License-Identifier: GPL-2.0-only
#include "live/process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include <gtest/gtest.h>

#include "temporary_directory.h"

namespace mpath::live {
namespace {

/// A child that lives until the test kills it.
class Child {
public:
    Child() : pid_(::fork()) {
        if (pid_ == 0) {
            ::pause();
            ::_exit(0);
        }
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() { reap(); }

    [[nodiscard]] std::uint64_t pid() const { return static_cast<std::uint64_t>(pid_); }
    /// Dead, but its parent has not looked yet.
    void kill() const {
        ::kill(pid_, SIGKILL);
        siginfo_t info{};
        ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
    }
    void reap() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
            pid_ = -1;
        }
    }

private:
    pid_t pid_;
};

TEST(Process, KnowsWhenItStarted) {
    const auto self = this_process();
    ASSERT_TRUE(self);
    EXPECT_EQ(self->pid, static_cast<std::uint64_t>(::getpid()));
    EXPECT_EQ(start_of(self->pid), self->start);
    EXPECT_GT(self->start, 0U);
    EXPECT_GT(self->pid_namespace, 0U);
}

TEST(Process, ThatIsGoneOrAZombieHasNoStart) {
    Child child;
    const std::uint64_t pid = child.pid();
    EXPECT_TRUE(start_of(pid));
    child.kill();
    EXPECT_FALSE(start_of(pid)) << "a zombie owns nothing";
    child.reap();
    EXPECT_FALSE(start_of(pid));
}

TEST(BlockName, TellsItsOwner) {
    const ProcessId owner{4026531836, 1234, 99};
    EXPECT_EQ(block_name(owner), "fio-mpath.4026531836.1234.99");
    EXPECT_EQ(owner_from_name(block_name(owner)), owner);
}

TEST(BlockName, OfOtherFilesTellsNothing) {
    for (const char* name : {"", "fio-mpath", "fio-mpath.", "fio-mpath.1", "fio-mpath.1.2", "fio-mpath.1.2.",
                             "fio-mpath.1.2.x", "fio-mpath.1.2.3.4", "fio-mpath..2.3", "fio-mpath.-1.2.3",
                             "other.1.2.3", "fio-mpath.1.2.99999999999999999999999"}) {
        EXPECT_FALSE(owner_from_name(name)) << name;
    }
}

TEST(StaleBlocks, OfDeadOwnersAndReusedPidsAreRemovedAndNoOthers) {
    const TemporaryDirectory directory;
    const ProcessId self = this_process().value();
    Child dead;
    const std::uint64_t dead_pid = dead.pid();
    const std::uint64_t dead_start = start_of(dead_pid).value();
    dead.reap();
    Child alive;

    const std::string of_dead = block_name({self.pid_namespace, dead_pid, dead_start});
    const std::string of_reused_pid = block_name({self.pid_namespace, alive.pid(), 1});
    const std::string of_alive = block_name({self.pid_namespace, alive.pid(), start_of(alive.pid()).value()});
    const std::string of_container = block_name({self.pid_namespace + 1, dead_pid, dead_start});
    for (const std::string& name :
         {of_dead, of_reused_pid, of_alive, of_container, std::string("fio-mpath.notes")}) {
        directory.touch(name);
    }
    remove_stale_blocks(directory.path(), self);
    EXPECT_EQ(directory.files(), (std::set<std::string>{of_alive, of_container, "fio-mpath.notes"}));
}

TEST(StaleBlocks, OfAnotherUserAreLeftAlone) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can give a file to another user";
    }
    const TemporaryDirectory directory;
    const ProcessId self = this_process().value();
    const std::string name = block_name({self.pid_namespace, self.pid, 1});
    directory.touch(name);
    ASSERT_EQ(::chown((directory.path() + "/" + name).c_str(), 12345, 12345), 0);
    remove_stale_blocks(directory.path(), self);
    EXPECT_EQ(directory.files(), std::set{name});
}

TEST(StaleBlocks, AreNoReasonToFailWhenTheDirectoryIsMissing) {
    remove_stale_blocks("/nonexistent", this_process().value());
}

} // namespace
} // namespace mpath::live
