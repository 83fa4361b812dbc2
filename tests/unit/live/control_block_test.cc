// SPDX-License-Identifier: GPL-2.0-only
#include "live/control_block.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/process.h"
#include "small_file_system.h"
#include "temporary_directory.h"

namespace mpath::live {
namespace {

using testing::HasSubstr;

JobDescription description(std::uint32_t number, std::size_t paths = 2) {
    JobDescription job;
    job.thread_number = number;
    job.name = "job" + std::to_string(number);
    job.iopolicy = "round-robin";
    for (std::size_t index = 0; index < paths; ++index) {
        job.paths.push_back({"p" + std::to_string(index), "127.0.0.1:" + std::to_string(4420 + index)});
    }
    return job;
}

/// Runs `body` in a forked child; its exit status, or -1 when a signal ended it.
template <typename Body>
int in_child(Body body) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::_exit(body());
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ControlBlock, IsAPrivateFileNamedAfterItsOwner) {
    const TemporaryDirectory directory;
    const auto block = ControlBlock::create(directory.path());
    ASSERT_TRUE(block) << block.error().text;
    EXPECT_EQ(directory.files(), std::set{block_name(this_process().value())});
    struct stat status {};
    ASSERT_EQ(::stat(block->file().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600U);
}

TEST(ControlBlock, ComesOnceInAProcess) {
    const TemporaryDirectory directory;
    const auto block = ControlBlock::create(directory.path());
    const auto second = ControlBlock::create(directory.path());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, EEXIST);
    EXPECT_THAT(second.error().text, HasSubstr(block->file()));
}

TEST(ControlBlock, IsRemovedByItsOwnerAlone) {
    const TemporaryDirectory directory;
    {
        std::optional<ControlBlock> block(std::move(ControlBlock::create(directory.path()).value()));
        EXPECT_TRUE(block->owned());
        EXPECT_EQ(in_child([&] {
                      const bool owned = block->owned();
                      block.reset();
                      return owned ? 1 : 0;
                  }),
                  0);
        EXPECT_EQ(directory.files().size(), 1U) << "a job that ends leaves the block to the others";
    }
    EXPECT_TRUE(directory.files().empty());
}

TEST(ControlBlock, ReplacesTheOneThatADeadRunLeftBehind) {
    const TemporaryDirectory directory;
    EXPECT_EQ(in_child([&] {
                  auto block = ControlBlock::create(directory.path());
                  ::raise(SIGKILL);
                  return 0;
              }),
              -1);
    ASSERT_EQ(directory.files().size(), 1U);
    const auto block = ControlBlock::create(directory.path());
    ASSERT_TRUE(block);
    EXPECT_EQ(directory.files(), std::set{block_name(this_process().value())});
}

TEST(ControlBlock, HoldsTheJobsInTheOrderTheyWereAdded) {
    const TemporaryDirectory directory;
    auto block = ControlBlock::create(directory.path());
    for (std::uint32_t number = 1; number <= 5; ++number) {
        const auto slot = block->add_job(description(number, number));
        ASSERT_TRUE(slot) << slot.error().text;
    }
    const auto jobs = block->jobs();
    ASSERT_EQ(jobs.size(), 5U);
    for (std::uint32_t number = 1; number <= 5; ++number) {
        const JobSlot& job = *jobs[number - 1];
        EXPECT_EQ(job.thread_number, number);
        EXPECT_EQ(job.name.get(), "job" + std::to_string(number));
        EXPECT_EQ(job.path_count, number);
        EXPECT_EQ(job.path(number - 1).name.get(), "p" + std::to_string(number - 1));
        EXPECT_EQ(job.path(0).state.get(), std::nullopt);
    }
}

TEST(ControlBlock, KeepsCountersOfPathsAndSettingsApart) {
    const TemporaryDirectory directory;
    auto block = ControlBlock::create(directory.path());
    JobDescription job = description(1, 3);
    job.settings = {{"numa", "numa"}, {"latency", "latency"}};
    job.steered = true;
    JobSlot& slot = **block->add_job(job);
    std::uint64_t next = 1;
    for (std::size_t path = 0; path < 3; ++path) {
        for (std::size_t setting = 0; setting < 3; ++setting) {
            slot.operations(path, setting).of(Operation::flush).add(next++, 0);
        }
        slot.path(path).counters.requeues.add(path + 10);
    }
    next = 1;
    for (std::size_t path = 0; path < 3; ++path) {
        for (std::size_t setting = 0; setting < 3; ++setting) {
            EXPECT_EQ(slot.operations(path, setting).of(Operation::flush).moments.snapshot().sum, next++);
        }
        EXPECT_EQ(slot.path(path).counters.requeues.get(), path + 10);
    }
}

TEST(ControlBlock, IsSharedWithForkedJobsAndOutlivesThem) {
    const TemporaryDirectory directory;
    auto block = ControlBlock::create(directory.path());
    JobSlot* slot = *block->add_job(description(1));
    EXPECT_EQ(in_child([&] {
                  slot->begin_measuring(kSecond);
                  slot->operations(0, 0).of(Operation::read).add(1000, 4096);
                  ::raise(SIGKILL);
                  return 0;
              }),
              -1);
    EXPECT_EQ(slot->counters.measuring_since.get(), kSecond);
    EXPECT_EQ(slot->operations(0, 0).of(Operation::read).moments.snapshot().count, 1U);
}

TEST(ControlBlock, CanBeMappedByAnotherProcessAtAnotherAddress) {
    const TemporaryDirectory directory;
    auto block = ControlBlock::create(directory.path());
    (*block->add_job(description(7)))->operations(1, 0).of(Operation::write).add(5, 512);
    const UniqueFd fd(::open(block->file().c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    ASSERT_EQ(::fstat(fd.get(), &status), 0);
    const auto size = static_cast<std::size_t>(status.st_size);
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
    ASSERT_NE(memory, MAP_FAILED);
    const auto& header = *static_cast<const BlockHeader*>(memory);
    EXPECT_EQ(header.magic, kMagic);
    EXPECT_EQ(header.layout_version, kLayoutVersion);
    EXPECT_EQ(header.owner_pid, static_cast<std::uint64_t>(::getpid()));
    EXPECT_EQ(header.job_count, 1U);
    const auto& job =
        *reinterpret_cast<const JobSlot*>(static_cast<const std::byte*>(memory) + header.header_bytes);
    EXPECT_EQ(job.name.get(), "job7");
    EXPECT_EQ(job.operations(1, 0).of(Operation::write).moments.snapshot().bytes, 512U);
    EXPECT_EQ(header.header_bytes + job.bytes, size);
    ::munmap(memory, size);
}

TEST(ControlBlock, SaysSoWhenSharedMemoryIsFull) {
    const TemporaryDirectory directory;
    const SmallFileSystem full(directory.path());
    if (!full.mounted()) {
        GTEST_SKIP() << "only root may mount a small file system";
    }
    auto block = ControlBlock::create(directory.path());
    ASSERT_TRUE(block) << block.error().text;
    ASSERT_TRUE(block->add_job(description(1, 1)));
    const auto slot = block->add_job(description(2, 64));
    ASSERT_FALSE(slot);
    EXPECT_EQ(slot.error().code, ENOSPC);
    EXPECT_THAT(slot.error().text, HasSubstr("free some of /dev/shm or run fewer jobs"));
    EXPECT_EQ(block->jobs().size(), 1U) << "the first job goes on";
    ASSERT_TRUE(block->add_job(description(3, 1))) << "a smaller one still fits";
    EXPECT_EQ(block->jobs().back()->thread_number, 3U);
}

TEST(ControlBlock, SaysSoWhenFilesMayNotGrow) {
    // As a full /dev/shm, for those who may not mount one.
    const TemporaryDirectory directory;
    EXPECT_EQ(in_child([&] {
                  ::signal(SIGXFSZ, SIG_IGN);
                  const rlimit limit{8192, 8192};
                  ::setrlimit(RLIMIT_FSIZE, &limit);
                  auto block = ControlBlock::create(directory.path());
                  if (!block) {
                      return 1;
                  }
                  const auto slot = block->add_job(description(1));
                  return !slot && slot.error().code == EFBIG && block->jobs().empty() ? 0 : 2;
              }),
              0);
}

TEST(ControlBlock, SaysSoWhenTheDirectoryIsMissing) {
    const auto block = ControlBlock::create("/nonexistent");
    ASSERT_FALSE(block);
    EXPECT_EQ(block.error().code, ENOENT);
    EXPECT_THAT(block.error().text, HasSubstr("/nonexistent/fio-mpath."));
}

TEST(FixedText, IsClippedAtAWholeCharacter) {
    FixedText<4> text{};
    EXPECT_EQ(text.get(), "");
    text.set("abµµ");
    EXPECT_EQ(text.get(), "abµ");
    FixedText<3> odd{};
    odd.set("abµ");
    EXPECT_EQ(odd.get(), "ab");
}

} // namespace
} // namespace mpath::live
