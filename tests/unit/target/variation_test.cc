// SPDX-License-Identifier: GPL-2.0-only
// Whatever the target chooses at random is legal, and the data is right.
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "peer.h"
#include "target/variation.h"

namespace mpath::target {
namespace {

using nvme::PduType;
namespace pdu_flag = nvme::pdu_flag;
namespace io_opcode = nvme::io_opcode;

TEST(TargetVariation, ASeedAndAConnectionGiveTheSameChoices) {
    const auto choices = [](std::uint64_t seed, std::uint64_t connection) {
        Variation variation(seed, connection);
        std::vector<std::uint32_t> sizes;
        for (int i = 0; i < 100; ++i) {
            sizes.push_back(variation.size(1 << 20));
        }
        return sizes;
    };
    EXPECT_EQ(choices(7, 1), choices(7, 1));
    EXPECT_NE(choices(7, 1), choices(7, 2));
    EXPECT_NE(choices(7, 1), choices(8, 1));
}

TEST(TargetVariation, SizesAreMultiplesOfFourOrTheRest) {
    Variation variation(1, 1);
    for (const std::uint32_t left : {1U, 3U, 4U, 6U, 512U, 1U << 20, 0xfffffffcU}) {
        for (int i = 0; i < 1000; ++i) {
            const std::uint32_t size = variation.size(left);
            ASSERT_GE(size, 1U);
            ASSERT_LE(size, left);
            ASSERT_TRUE(size % 4 == 0 || size == left);
        }
    }
}

TEST(TargetVariation, DataStartsAtAnyMultipleOfTheAlignment) {
    Variation variation(1, 1);
    std::set<unsigned> seen;
    for (int i = 0; i < 1000; ++i) {
        const unsigned offset = variation.data_offset(32, 16);
        ASSERT_TRUE(offset >= 32 && offset <= 128 && offset % 16 == 0);
        seen.insert(offset);
    }
    EXPECT_EQ(seen.size(), 7U);
    EXPECT_EQ(variation.data_offset(128, 128), 128);
}

/// A host with many commands outstanding, each on blocks of its own, that holds the target to the rules.
class StrictHost {
public:
    StrictHost(Bench& bench, const Wish& wish, unsigned seed)
        : bench_(bench), wish_(wish), random_(seed),
          host_(bench, seed % 2 == 0 ? 0 : nvme::kCattrDisableSqFlowControl, wish),
          may_skip_completion_(seed % 2 != 0) {}

    void run(int commands) {
        while ((commands > 0 || !outstanding_.empty()) && !testing::Test::HasFatalFailure()) {
            while (commands > 0 && outstanding_.size() < 16 && random_() % 3 != 0) {
                issue(static_cast<std::uint16_t>(commands--));
            }
            if (const auto pdu = host_.io.receive()) {
                handle(*pdu);
            } else if (!r2ts_.empty()) {
                answer_one();
            } else {
                bench_.now += kMillisecond; // some answers may be held back
                ASSERT_LT(++idle_, 100000);
            }
            if (!r2ts_.empty() && random_() % 2 == 0) {
                answer_one();
            }
        }
    }

    int reordered = 0; ///< answers that overtook an older command's
    int interleaved = 0;

private:
    struct Command {
        bool is_read = false;
        Bytes data;
        std::size_t moved = 0; ///< read: bytes that came; write: bytes asked for
        std::uint32_t open_r2ts = 0;
        bool ended = false; ///< the last data came
        int age = 0;
    };

    void issue(std::uint16_t cid) {
        std::uint64_t region = random_() % 32;
        while (regions_.contains(region)) {
            region = (region + 1) % 32;
        }
        Command& command = outstanding_[cid];
        const auto blocks = static_cast<std::uint32_t>(1 + random_() % 128);
        command.age = next_age_++;
        command.is_read = random_() % 2 == 0;
        regions_.insert(region);
        region_of_[cid] = region;
        Bytes& kept = contents_[region];
        kept.resize(std::size_t{128} * 512);
        if (command.is_read) {
            command.data.assign(kept.begin(), kept.begin() + blocks * 512);
            host_.io.capsule(blocks_command(io_opcode::kRead, cid, region * 128, blocks));
            return;
        }
        command.data = pattern(std::size_t{blocks} * 512, static_cast<unsigned>(random_()));
        std::copy(command.data.begin(), command.data.end(), kept.begin());
        const auto sqe = blocks_command(io_opcode::kWrite, cid, region * 128, blocks);
        if (command.data.size() <= 8192 && random_() % 2 == 0) {
            command.moved = command.data.size();
            host_.io.capsule(sqe, command.data);
        } else {
            host_.io.capsule(sqe);
        }
    }

    void handle(const Pdu& pdu) {
        ASSERT_EQ((pdu.flags() & pdu_flag::kHeaderDigest) != 0, wish_.header_digest);
        ASSERT_TRUE(!wish_.header_digest || pdu.header_digest_is_right());
        switch (pdu.type()) {
        case PduType::r2t:
            return asked_for(pdu.as<nvme::R2t>());
        case PduType::c2h_data:
            return data_came(pdu);
        case PduType::capsule_resp: {
            const auto cqe = pdu.as<nvme::CapsuleResp>().cqe;
            ASSERT_EQ(status_of(cqe), nvme::StatusCode::success);
            return complete(cqe.cid);
        }
        default:
            FAIL() << "PDU type " << static_cast<int>(pdu.type());
        }
    }

    void asked_for(const nvme::R2t& r2t) {
        ASSERT_TRUE(outstanding_.contains(r2t.cccid));
        Command& command = outstanding_[r2t.cccid];
        ASSERT_FALSE(command.is_read);
        ASSERT_EQ(r2t.r2to, command.moved);
        ASSERT_GT(r2t.r2tl, 0U);
        ASSERT_EQ(r2t.r2tl % 4, 0U);
        command.moved += r2t.r2tl;
        ASSERT_LE(command.moved, command.data.size());
        ASSERT_LE(++command.open_r2ts, wish_.max_r2t);
        r2ts_.push_back(r2t);
    }

    void answer_one() {
        const std::size_t chosen = random_() % r2ts_.size();
        const nvme::R2t r2t = r2ts_[chosen];
        r2ts_.erase(r2ts_.begin() + static_cast<std::ptrdiff_t>(chosen));
        Command& command = outstanding_[r2t.cccid];
        --command.open_r2ts;
        host_.io.answer_r2t(r2t, command.data, host_.io.ic_resp().maxh2cdata);
    }

    void data_came(const Pdu& pdu) {
        const auto header = pdu.as<nvme::C2hData>();
        ASSERT_TRUE(outstanding_.contains(header.cccid));
        Command& command = outstanding_[header.cccid];
        ASSERT_TRUE(command.is_read && !command.ended);
        const unsigned start = sizeof(nvme::C2hData) + (wish_.header_digest ? 4 : 0);
        ASSERT_TRUE(header.common.pdo >= start && header.common.pdo <= 128);
        ASSERT_EQ(header.common.pdo % ((wish_.hpda + 1U) * 4), 0U);
        ASSERT_EQ((pdu.flags() & pdu_flag::kDataDigest) != 0, wish_.data_digest);
        ASSERT_TRUE(!wish_.data_digest || pdu.data_digest_is_right());
        const Bytes data = pdu.data();
        ASSERT_EQ(header.datao, command.moved);
        ASSERT_EQ(header.datal, data.size());
        ASSERT_LE(command.moved + data.size(), command.data.size());
        ASSERT_TRUE(std::equal(data.begin(), data.end(),
                               command.data.begin() + static_cast<std::ptrdiff_t>(command.moved)));
        command.moved += data.size();
        command.ended = (pdu.flags() & pdu_flag::kLastPdu) != 0;
        ASSERT_EQ(command.ended, command.moved == command.data.size());
        interleaved += header.cccid != last_reader_ && last_reader_open_ ? 1 : 0;
        last_reader_ = header.cccid;
        last_reader_open_ = !command.ended;
        if ((pdu.flags() & pdu_flag::kSuccess) != 0) {
            ASSERT_TRUE(command.ended && may_skip_completion_);
            complete(header.cccid);
        }
    }

    void complete(std::uint16_t cid) {
        ASSERT_TRUE(outstanding_.contains(cid));
        const Command command = outstanding_[cid];
        ASSERT_EQ(command.moved, command.data.size());
        ASSERT_EQ(command.open_r2ts, 0U);
        outstanding_.erase(cid);
        regions_.erase(region_of_[cid]);
        for (const auto& [other, older] : outstanding_) {
            reordered += older.age < command.age ? 1 : 0;
        }
    }

    Bench& bench_;
    Wish wish_;
    std::mt19937 random_;
    Association host_;
    bool may_skip_completion_;
    std::map<std::uint16_t, Command> outstanding_;
    std::map<std::uint16_t, std::uint64_t> region_of_;
    std::set<std::uint64_t> regions_;
    std::map<std::uint64_t, Bytes> contents_;
    std::vector<nvme::R2t> r2ts_;
    int next_age_ = 0;
    int idle_ = 0;
    std::uint16_t last_reader_ = 0;
    bool last_reader_open_ = false;
};

TEST(TargetVariation, IsLegalAndRightUnderEverySeed) {
    for (unsigned seed = 1; seed <= 24 && !testing::Test::HasFatalFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Options options = Bench::small();
        options.vary = true;
        options.seed = seed;
        Bench bench(options);
        const Wish wish{.hpda = static_cast<std::uint8_t>(seed * 5 % 32),
                        .header_digest = seed % 3 == 0,
                        .data_digest = seed % 4 < 2,
                        .max_r2t = 1 + seed % 5};
        StrictHost host(bench, wish, seed);
        host.run(60);
        EXPECT_EQ(bench.listener.counters.violations, 0U);
        EXPECT_EQ(bench.listener.counters.data_digest_errors, 0U);
    }
}

TEST(TargetReorder, AnswersOvertakeAndDataOfReadsTakesTurns) {
    Options options = Bench::small();
    options.reorder = true;
    options.c2h_size = 1024;
    Bench bench(options);
    StrictHost host(bench, {}, 1);
    host.run(200);
    EXPECT_GT(host.reordered, 0);
    EXPECT_GT(host.interleaved, 0);
}

} // namespace
} // namespace mpath::target
