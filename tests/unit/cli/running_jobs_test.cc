// SPDX-License-Identifier: GPL-2.0-only
#include "cli/running_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "running_fio.h"

namespace mpath::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RunningJobs : public testing::Test {
protected:
    Result<RunningFio> choose(const JobChoice& choice) {
        return choose_jobs(directory_.path(), self_, choice);
    }
    std::vector<std::string> chosen(const JobChoice& choice) {
        const auto fio = choose(choice);
        std::vector<std::string> labels{fio ? "" : fio.error().text};
        if (fio) {
            labels.clear();
            for (const live::JobSlot* job : fio->jobs) {
                labels.push_back(job_label(*job, fio->block.jobs()));
            }
        }
        return labels;
    }
    std::string refusal(const JobChoice& choice) {
        const auto fio = choose(choice);
        EXPECT_FALSE(fio);
        return fio ? "" : fio.error().text;
    }

    live::TemporaryDirectory directory_;
    live::ProcessId self_ = live::this_process().value();
};

class JobsOfOneFio : public RunningJobs {
protected:
    JobsOfOneFio() {
        for (const auto& [name, number] :
             {std::pair("seq", 1U), std::pair("rand", 2U), std::pair("rand", 3U), std::pair("late", 4U)}) {
            slots_.push_back(*block_.add_job(job_with(name, number)));
        }
        for (int started = 0; started < 3; ++started) {
            start_job(*slots_[static_cast<std::size_t>(started)]);
        }
    }
    live::ControlBlock block_ = std::move(live::ControlBlock::create(directory_.path()).value());
    std::vector<live::JobSlot*> slots_;
};

TEST_F(JobsOfOneFio, AreAllMeantWithoutAChoice) {
    EXPECT_THAT(chosen({}), ElementsAre("seq", "rand#2", "rand#3", "late"));
    EXPECT_THAT(chosen({self_.pid, {}}), ElementsAre("seq", "rand#2", "rand#3", "late"));
}

TEST_F(JobsOfOneFio, AreMeantByNameWithAllClonesOrByNumber) {
    EXPECT_THAT(chosen({{}, {"rand"}}), ElementsAre("rand#2", "rand#3"));
    EXPECT_THAT(chosen({{}, {"rand#3", "seq#1"}}), ElementsAre("seq", "rand#3"));
}

TEST_F(JobsOfOneFio, AreLeftOutWhenTheyHaveEnded) {
    end_job(*slots_[0]);
    EXPECT_THAT(chosen({}), ElementsAre("rand#2", "rand#3", "late"));
    EXPECT_EQ(refusal({{}, {"seq"}}), "every job that is meant has ended");
}

TEST_F(JobsOfOneFio, ThatDoNotExistAreNamed) {
    EXPECT_EQ(refusal({{}, {"seq", "rand#9"}}),
              "no running fio has a job 'rand#9'; there are seq, rand#2, rand#3, late");
}

TEST_F(RunningJobs, WithoutAnyFioAreRefused) {
    EXPECT_EQ(refusal({}), "no fio of this user runs with the engine mpath");
    EXPECT_EQ(refusal({77, {}}), "no fio with pid 77 runs with the engine mpath");
}

TEST_F(RunningJobs, OfAnotherUserAreRefusedWithTheirName) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can give a file to another user";
    }
    const auto block = live::ControlBlock::create(directory_.path());
    ASSERT_EQ(::chown(block->file().c_str(), 12345, 12345), 0);
    for (const JobChoice& choice : {JobChoice{}, JobChoice{self_.pid, {}}}) {
        EXPECT_EQ(refusal(choice), fmt::format("fio {} belongs to user 12345; only that user can watch and "
                                               "steer it",
                                               self_.pid));
    }
    const OtherFio mine(directory_.path(), {job_with("mine", 1)});
    EXPECT_THAT(chosen({}), ElementsAre("mine")) << "a stranger's fio is in nobody's way";
}

class JobsOfSeveralFio : public RunningJobs {
protected:
    OtherFio one_{directory_.path(), {job_with("seq", 1), job_with("both", 2)}};
    OtherFio two_{directory_.path(), {job_with("rand", 1), job_with("both", 2)}};
};

TEST_F(JobsOfSeveralFio, AreMeantWhenOneFioHasThem) {
    EXPECT_THAT(chosen({{}, {"seq"}}), ElementsAre("seq"));
    EXPECT_THAT(chosen({two_.pid(), {}}), ElementsAre("rand", "both"));
    EXPECT_THAT(chosen({two_.pid(), {"both"}}), ElementsAre("both"));
}

TEST_F(JobsOfSeveralFio, AreListedWhenSeveralHaveThem) {
    EXPECT_THAT(refusal({}), HasSubstr(fmt::format("--run {} (seq, both)", one_.pid())));
    EXPECT_THAT(refusal({}), HasSubstr(fmt::format("--run {} (rand, both)", two_.pid())));
    EXPECT_THAT(refusal({{}, {"both"}}), HasSubstr(fmt::format("--run {} (both)", one_.pid())));
}

TEST_F(JobsOfSeveralFio, AreNotThoseOfOneThatIsDead) {
    one_.kill();
    EXPECT_THAT(chosen({}), ElementsAre("rand", "both"));
}

} // namespace
} // namespace mpath::cli
