// SPDX-License-Identifier: GPL-2.0-only
#include "live/running_block.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/control_block.h"
#include "small_file_system.h"
#include "temporary_directory.h"

namespace mpath::live {
namespace {

using testing::HasSubstr;

JobDescription two_path_job(const std::string& name) {
    JobDescription job;
    job.thread_number = 1;
    job.name = name;
    job.iopolicy = "round-robin";
    job.paths = {{"a", "127.0.0.1:1"}, {"b", "127.0.0.1:2"}};
    return job;
}

class RunningBlockTest : public testing::Test {
protected:
    FoundBlock found() {
        const auto blocks = find_running_blocks(directory_.path(), self_);
        EXPECT_EQ(blocks.size(), 1U);
        return blocks.at(0);
    }
    RunningBlock open() {
        auto block = RunningBlock::open(found());
        EXPECT_TRUE(block) << block.error().text;
        return std::move(*block);
    }
    Error refusal() {
        const auto block = RunningBlock::open(found());
        EXPECT_FALSE(block);
        return block ? Error{} : block.error();
    }
    std::uint64_t memory_in_use() {
        struct stat status {};
        ::stat(block_.file().c_str(), &status);
        return static_cast<std::uint64_t>(status.st_blocks) * 512;
    }

    ProcessId self_ = this_process().value();
    TemporaryDirectory directory_;
    ControlBlock block_ = std::move(ControlBlock::create(directory_.path()).value());
};

TEST_F(RunningBlockTest, IsFoundByTheNameOfItsFile) {
    const FoundBlock block = found();
    EXPECT_EQ(block.file, block_.file());
    EXPECT_EQ(block.owner, self_);
    EXPECT_TRUE(block.ours);
    EXPECT_TRUE(open().in_use());
}

TEST_F(RunningBlockTest, OfADeadOwnerOrAnotherContainerIsNotFound) {
    directory_.touch(block_name({self_.pid_namespace, self_.pid, self_.start + 1})); // the pid came back
    directory_.touch(block_name({self_.pid_namespace + 1, self_.pid, self_.start}));
    directory_.touch("fio-mpath.notes");
    std::filesystem::create_directory(directory_.path() + "/" +
                                      block_name({self_.pid_namespace, 1, start_of(1).value_or(0)}));
    EXPECT_EQ(found().file, block_.file());
    EXPECT_TRUE(find_running_blocks("/nonexistent", self_).empty());
}

TEST_F(RunningBlockTest, OfAnotherUserIsNamedAndNotTouched) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can give a file to another user";
    }
    ASSERT_EQ(::chown(block_.file().c_str(), 12345, 12345), 0);
    EXPECT_FALSE(found().ours);
    const Error error = refusal();
    EXPECT_EQ(error.code, EPERM);
    EXPECT_THAT(error.text, HasSubstr("belongs to user 12345"));
}

TEST_F(RunningBlockTest, OfAnotherVersionIsRefusedInASentence) {
    const UniqueFd fd(::open(block_.file().c_str(), O_RDWR | O_CLOEXEC));
    const std::uint32_t foreign = kLayoutVersion + 1;
    ASSERT_EQ(::pwrite(fd.get(), &foreign, sizeof foreign, offsetof(BlockHeader, layout_version)), 4);
    const Error error = refusal();
    EXPECT_EQ(error.code, ENOTSUP);
    EXPECT_THAT(error.text, HasSubstr("another version of fio-mpath.so"));
}

TEST_F(RunningBlockTest, ThatIsJustBeingMadeIsForLater) {
    const UniqueFd fd(::open(block_.file().c_str(), O_RDWR | O_CLOEXEC));
    const std::uint64_t nothing = 0;
    ASSERT_EQ(::pwrite(fd.get(), &nothing, sizeof nothing, offsetof(BlockHeader, magic)), 8);
    EXPECT_EQ(refusal().code, EAGAIN);
    ASSERT_EQ(::ftruncate(fd.get(), 0), 0);
    EXPECT_EQ(refusal().code, EAGAIN);
}

TEST_F(RunningBlockTest, ThatIsGoneSaysThatFioHasEnded) {
    const FoundBlock block = found();
    const RunningBlock before = open();
    EXPECT_TRUE(before.in_use());
    ::unlink(block.file.c_str());
    EXPECT_FALSE(before.in_use());
    const auto opened = RunningBlock::open(block);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ENOENT);
    EXPECT_THAT(opened.error().text, HasSubstr("has ended"));
}

TEST_F(RunningBlockTest, SharesItsJobsAndSeesThoseThatComeLater) {
    JobSlot* first = *block_.add_job(two_path_job("first"));
    const RunningBlock other = open();
    ASSERT_EQ(other.jobs().size(), 1U);
    JobSlot& seen = *other.jobs()[0];
    ASSERT_NE(&seen, first) << "mapped anew";
    seen.mailbox.requested.set(7);
    EXPECT_EQ(first->mailbox.requested.get(), 7U);

    for (int i = 0; i < 20; ++i) {
        (*block_.add_job(two_path_job("later")))->operations(1, 0).of(Operation::read).add(i + 1, 512);
    }
    const auto jobs = other.jobs();
    ASSERT_EQ(jobs.size(), 21U);
    EXPECT_EQ(jobs[0], &seen) << "jobs stay where they are";
    EXPECT_EQ(jobs[20]->name.get(), "later");
    EXPECT_EQ(jobs[20]->operations(1, 0).of(Operation::read).moments.snapshot().sum, 20U);
}

TEST_F(RunningBlockTest, WithNonsenseInItHasNoJobs) {
    JobSlot* job = *block_.add_job(two_path_job("j"));
    const RunningBlock other = open();
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{64}, std::uint64_t{1} << 40}) {
        job->bytes = bytes;
        EXPECT_TRUE(other.jobs().empty()) << bytes;
    }
}

TEST_F(RunningBlockTest, IsLockedForOneAtATime) {
    const RunningBlock one = open();
    const RunningBlock two = open();
    {
        const auto lock = one.lock(0);
        ASSERT_TRUE(lock);
        const auto second = two.lock(0);
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().code, EBUSY);
        EXPECT_THAT(second.error().text, HasSubstr("another command"));
    }
    EXPECT_TRUE(two.lock(0));
}

TEST_F(RunningBlockTest, IsUnlockedByTheDeathOfWhoHoldsIt) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
        const RunningBlock mine = open();
        const auto lock = mine.lock(0);
        static_cast<void>(!::write(ready[1], lock ? "y" : "n", 1));
        ::pause();
        ::_exit(0);
    }
    char answer = 0;
    ASSERT_EQ(::read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    const RunningBlock other = open();
    EXPECT_FALSE(other.lock(0));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    EXPECT_TRUE(other.lock(0));
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_F(RunningBlockTest, MakesRoomForWhatAJobWillCountIn) {
    JobSlot* job = *block_.add_job(two_path_job("j"));
    const RunningBlock other = open();
    const std::uint64_t before = memory_in_use();
    ASSERT_TRUE(other.make_room(*other.jobs()[0], 2));
    EXPECT_GE(memory_in_use(), before + 2 * sizeof(record::OperationSet) - 4096);
    const std::uint64_t after = memory_in_use();
    job->operations(0, 2).of(Operation::read).add(1, 1);
    job->operations(1, 2).of(Operation::flush).add(record::kLargestTime, 1);
    EXPECT_EQ(memory_in_use(), after) << "the job touches nothing that is not there";
}

TEST(RunningBlock, SaysSoWhenSharedMemoryIsFull) {
    const TemporaryDirectory directory;
    const SmallFileSystem full(directory.path());
    if (!full.mounted()) {
        GTEST_SKIP() << "only root may mount a small file system";
    }
    auto block = ControlBlock::create(directory.path());
    JobDescription description = two_path_job("wide");
    for (int i = 0; i < 6; ++i) {
        description.paths.push_back({"p" + std::to_string(i), "127.0.0.1:9"});
    }
    ASSERT_TRUE(block->add_job(description));
    const auto found = find_running_blocks(directory.path(), this_process().value());
    const auto other = RunningBlock::open(found.at(0));
    ASSERT_TRUE(other);
    const auto room = other->make_room(*other->jobs()[0], 2);
    ASSERT_FALSE(room);
    EXPECT_EQ(room.error().code, ENOSPC);
    EXPECT_THAT(room.error().text, HasSubstr("job wide"));
    EXPECT_THAT(room.error().text, HasSubstr("free some of /dev/shm"));
}

TEST(JobStanding, IsWhatTheJobSaysUnlessItsProcessIsGone) {
    const ProcessId self = this_process().value();
    const struct {
        JobPhase phase;
        std::uint64_t pid;
        std::uint64_t start;
        JobStanding expected;
    } cases[] = {
        {JobPhase::prepared, 0, 0, JobStanding::prepared},
        {JobPhase::running, self.pid, self.start, JobStanding::running},
        {JobPhase::running, self.pid, self.start - 1, JobStanding::killed},
        {JobPhase::running, 0x7FFFFFFF, 1, JobStanding::killed},
        {JobPhase::ended, self.pid, self.start, JobStanding::ended},
        {JobPhase::ended, 0x7FFFFFFF, 1, JobStanding::ended},
    };
    const TemporaryDirectory directory;
    auto block = ControlBlock::create(directory.path());
    JobSlot& job = **block->add_job(two_path_job("j"));
    for (const auto& the : cases) {
        job.phase.set(static_cast<std::uint64_t>(the.phase));
        job.pid.set(the.pid);
        job.pid_start.set(the.start);
        EXPECT_EQ(standing_of(job), the.expected) << the.pid;
    }
}

} // namespace
} // namespace mpath::live
