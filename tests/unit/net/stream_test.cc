// SPDX-License-Identifier: GPL-2.0-only
#include "net/stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "tests/unit/net/socket_pair.h"

namespace mpath::net {
namespace {

using Bytes = std::vector<std::byte>;

Bytes pattern(std::size_t length) {
    Bytes bytes(length);
    for (std::size_t i = 0; i < length; ++i) {
        bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
    }
    return bytes;
}

class StreamTest : public testing::Test, protected Stream::Handler {
protected:
    void open(int buffer = 0) {
        auto made = make_reactor(clock_, 16);
        ASSERT_TRUE(made) << made.error().text;
        reactor_ = std::move(*made);
        auto pair = test::make_socket_pair(buffer);
        far_.emplace(std::move(pair.theirs));
        stream_ =
            std::make_unique<Stream>(*reactor_, std::move(pair.ours), static_cast<Stream::Handler&>(*this));
        stream_->start();
    }
    void TearDown() override {
        if (stream_ && !closed_) {
            stream_->close({0, {}}, Stream::Ending::orderly);
            EXPECT_TRUE(run_until([this] { return closed_.has_value(); }));
        }
        EXPECT_LE(times_closed_, 1);
    }

    template <typename Condition>
    bool run_until(Condition condition) {
        for (int i = 0; i < 10'000; ++i) {
            far_->pump();
            if (condition()) {
                return true;
            }
            reactor_->run(kMillisecond);
        }
        return false;
    }
    void settle() {
        for (int i = 0; i < 3; ++i) {
            far_->pump();
            reactor_->run(kMillisecond);
        }
    }
    void append(const Bytes& header, const Bytes& payload) {
        std::copy(header.begin(), header.end(), stream_->append_header(header.size()));
        if (!payload.empty()) {
            stream_->append_payload(payload.data(), payload.size());
        }
    }

    SystemClock clock_;
    std::unique_ptr<Reactor> reactor_;
    std::optional<test::FarEnd> far_;
    std::unique_ptr<Stream> stream_;

    Bytes received_;             ///< by on_data()
    std::size_t most_shown_ = 0; ///< bytes of one on_data()
    std::size_t header_ = 0;     ///< behind so many bytes the direct ones begin; 0: none
    Bytes direct_;               ///< for them
    std::size_t unit_ = 1;       ///< on_data() consumes whole units only
    int times_direct_ = 0;
    int times_sent_ = 0;
    std::function<void()> do_in_data_;
    std::optional<Error> closed_;
    int times_closed_ = 0;

private:
    std::size_t on_data(std::span<const std::byte> bytes) noexcept override {
        most_shown_ = std::max(most_shown_, bytes.size());
        std::size_t take = bytes.size() / unit_ * unit_;
        if (header_ > 0 && times_direct_ == 0 && received_.size() + take >= header_) {
            // As a protocol does: what of the payload is here already is copied, the rest comes directly.
            const std::size_t head = header_ - received_.size();
            const std::size_t here = std::min(bytes.size() - head, direct_.size());
            std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(head), here, direct_.begin());
            if (here < direct_.size()) {
                stream_->receive_direct(direct_.data() + here, direct_.size() - here);
            } else {
                ++times_direct_;
            }
            received_.insert(received_.end(), bytes.begin(),
                             bytes.begin() + static_cast<std::ptrdiff_t>(head));
            const auto behind = bytes.subspan(head + here);
            received_.insert(received_.end(), behind.begin(), behind.end());
            header_ = 0;
            return bytes.size();
        }
        received_.insert(received_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(take));
        if (do_in_data_) {
            do_in_data_();
        }
        return take;
    }
    void on_direct_received() noexcept override { ++times_direct_; }
    void on_sent() noexcept override { ++times_sent_; }
    void on_closed(const Error& error) noexcept override {
        closed_ = error;
        ++times_closed_;
    }
};

// ---- sending

TEST_F(StreamTest, WhatIsAppendedBeforeAFlushLeavesAsOneBatch) {
    open();
    const Bytes payload = pattern(1000);
    const Bytes none;
    Bytes expected;
    for (int i = 0; i < 20; ++i) {
        const Bytes header(24, static_cast<std::byte>(i));
        append(header, i % 3 == 0 ? none : payload);
        expected.insert(expected.end(), header.begin(), header.end());
        if (i % 3 != 0) {
            expected.insert(expected.end(), payload.begin(), payload.end());
        }
    }
    EXPECT_EQ(stream_->open_batch(), 1U);
    EXPECT_FALSE(stream_->sending());
    const auto calls = reactor_->system_calls();
    stream_->flush();
    EXPECT_TRUE(stream_->sending());
    EXPECT_EQ(stream_->open_batch(), 2U);
    EXPECT_EQ(stream_->sent_batch(), 0U);
    reactor_->run(0);
    EXPECT_EQ(reactor_->system_calls(), calls + 1);
    ASSERT_TRUE(run_until([&] { return far_->received().size() == expected.size(); }));
    EXPECT_EQ(far_->received(), expected);
    EXPECT_EQ(times_sent_, 1);
    EXPECT_EQ(stream_->sent_batch(), 1U);
    EXPECT_EQ(stream_->statistics().bytes_sent, expected.size());
}

TEST_F(StreamTest, FlushOfNothingIsNothing) {
    open();
    stream_->flush();
    EXPECT_FALSE(stream_->sending());
    settle();
    EXPECT_EQ(times_sent_, 0);
}

TEST_F(StreamTest, BatchFlushedWhileAnotherIsUnderWayFollowsIt) {
    open(16 * 1024);
    far_->set_reading(false);
    const Bytes large = pattern(1024 * 1024);
    append(Bytes(24, std::byte{1}), large);
    stream_->flush();
    append(Bytes(24, std::byte{2}), {});
    stream_->flush();
    append(Bytes(24, std::byte{3}), {}); // into the same batch: it has not begun to leave
    stream_->flush();
    settle();
    EXPECT_EQ(stream_->sent_batch(), 0U);
    EXPECT_EQ(stream_->open_batch(), 2U);
    far_->set_reading(true);
    ASSERT_TRUE(run_until([&] { return far_->received().size() == large.size() + 3 * 24; }));
    EXPECT_TRUE(std::equal(large.begin(), large.end(), far_->received().begin() + 24));
    EXPECT_EQ(far_->received()[large.size() + 24], std::byte{2});
    EXPECT_EQ(far_->received()[large.size() + 48], std::byte{3});
    EXPECT_EQ(times_sent_, 2);
    EXPECT_EQ(stream_->sent_batch(), 2U);
}

TEST_F(StreamTest, ManyPiecesThatLeaveInManyPartsArriveWhole) {
    open(4 * 1024);
    std::vector<Bytes> payloads;
    Bytes expected;
    for (std::size_t i = 0; stream_->has_room(24); ++i) {
        payloads.push_back(pattern(1 + i * 37 % 9000));
        const Bytes header(24, static_cast<std::byte>(i));
        append(header, payloads.back());
        expected.insert(expected.end(), header.begin(), header.end());
        expected.insert(expected.end(), payloads.back().begin(), payloads.back().end());
    }
    EXPECT_EQ(payloads.size(), Stream::kBatchPieces / 2);
    stream_->flush();
    ASSERT_TRUE(run_until([&] { return far_->received().size() >= expected.size(); }));
    EXPECT_TRUE(far_->received() == expected);
    EXPECT_EQ(times_sent_, 1);
}

TEST_F(StreamTest, HeadersFillABatchToItsLastByteAndNotBeyond) {
    open();
    std::size_t headers = 0;
    for (; stream_->has_room(72); ++headers) {
        append(Bytes(72, static_cast<std::byte>(headers)), {});
    }
    EXPECT_EQ(headers, Stream::kBatchHeaderSize / 72);
    stream_->flush();
    EXPECT_TRUE(stream_->has_room(72));
    ASSERT_TRUE(run_until([&] { return far_->received().size() == headers * 72; }));
}

// ---- receiving

TEST_F(StreamTest, ShowsTheRestAgainTogetherWithWhatFollows) {
    open();
    unit_ = 10;
    const Bytes sent = pattern(1005);
    for (const std::byte byte : sent) {
        far_->send({&byte, 1});
        reactor_->run(0);
    }
    ASSERT_TRUE(run_until([&] { return received_.size() == 1000; }));
    EXPECT_TRUE(std::equal(received_.begin(), received_.end(), sent.begin()));
}

TEST_F(StreamTest, ReceivesMoreThanItsStagingBufferHolds) {
    open();
    unit_ = 24; // never a divisor of what arrives: a rest stays each time
    const Bytes sent = pattern(3 * Stream::kStagingSize / 24 * 24);
    far_->send(sent);
    ASSERT_TRUE(run_until([&] { return received_.size() == sent.size(); }));
    EXPECT_TRUE(received_ == sent);
    EXPECT_EQ(stream_->statistics().bytes_received, sent.size());
    EXPECT_EQ(stream_->statistics().bytes_received_direct, 0U);
}

TEST_F(StreamTest, WindowBoundsWhatStagingTakesAtOnce) {
    open();
    stream_->set_window(100);
    far_->send(pattern(1)); // ends the receive that was staged before
    ASSERT_TRUE(run_until([&] { return received_.size() == 1; }));
    most_shown_ = 0;
    far_->send(pattern(10'000));
    ASSERT_TRUE(run_until([&] { return received_.size() == 10'001; }));
    EXPECT_EQ(most_shown_, 100U);
}

/// Bytes of the direct part: below and above what is received as a whole.
class StreamDirect : public StreamTest, public testing::WithParamInterface<std::size_t> {
protected:
    static constexpr std::size_t kHeader = 24;
    static constexpr std::size_t kTrailer = 31;

    /// Header, direct bytes, trailer; cut in two at `cut`.
    void receive_cut_at(std::size_t cut) {
        const Bytes sent = pattern(kHeader + GetParam() + kTrailer);
        received_.clear();
        direct_.assign(GetParam(), std::byte{});
        times_direct_ = 0;
        header_ = kHeader;
        far_->send({sent.data(), cut});
        reactor_->run(0);
        reactor_->run(0);
        far_->send({sent.data() + cut, sent.size() - cut});
        ASSERT_TRUE(run_until([&] { return received_.size() == kHeader + kTrailer; })) << "cut at " << cut;
        EXPECT_EQ(times_direct_, 1);
        ASSERT_TRUE(std::equal(direct_.begin(), direct_.end(), sent.begin() + kHeader)) << "cut at " << cut;
        EXPECT_TRUE(std::equal(received_.begin(), received_.begin() + kHeader, sent.begin()));
        EXPECT_TRUE(std::equal(received_.begin() + kHeader, received_.end(), sent.end() - kTrailer));
    }
};

TEST_P(StreamDirect, PutsEveryByteWhereItBelongsInEveryCut) {
    open();
    stream_->set_window(48);
    const std::size_t length = kHeader + GetParam() + kTrailer;
    const std::size_t step = length < 1000 ? 1 : length / 50;
    for (std::size_t cut = 1; cut < length; cut += step) {
        receive_cut_at(cut);
    }
    for (const std::size_t cut : {kHeader, kHeader + 1, kHeader + GetParam(), length - 1}) { // the edges
        receive_cut_at(cut);
    }
    EXPECT_GT(stream_->statistics().bytes_received_direct, 0U);
}

INSTANTIATE_TEST_SUITE_P(Lengths, StreamDirect,
                         testing::Values(64, 16 * 1024, 32 * 1024 - 1, 32 * 1024, 200'000));

// ---- ending

TEST_F(StreamTest, OrderlyCloseDeliversWhatWasSent) {
    open();
    const Bytes payload = pattern(10'000);
    append(Bytes(24), payload);
    stream_->flush();
    ASSERT_TRUE(run_until([&] { return stream_->sent_batch() == 1; }));
    stream_->close({0, {}}, Stream::Ending::orderly);
    ASSERT_TRUE(run_until([&] { return closed_ && far_->ended(); }));
    EXPECT_EQ(far_->received().size(), 10'024U);
    EXPECT_EQ(far_->error(), 0);
    EXPECT_EQ(closed_->code, 0);
    EXPECT_EQ(times_closed_, 1);
    EXPECT_EQ(stream_->fd(), -1);
}

TEST_F(StreamTest, AbortIsAReset) {
    open();
    stream_->close({ECANCELED, "enough"}, Stream::Ending::abort);
    EXPECT_FALSE(closed_) << "the kernel may still write into our memory";
    ASSERT_TRUE(run_until([&] { return closed_ && far_->ended(); }));
    EXPECT_EQ(far_->error(), ECONNRESET);
    EXPECT_EQ(closed_->code, ECANCELED);
    EXPECT_EQ(closed_->text, "enough");
}

TEST_F(StreamTest, CloseWithASendAndAReceiveUnderWayIsToldOnce) {
    open(16 * 1024);
    far_->set_reading(false);
    {
        const auto payload = std::make_unique<Bytes>(pattern(4 * 1024 * 1024));
        append(Bytes(24), *payload);
        stream_->flush();
        settle();
        EXPECT_TRUE(stream_->sending());
        stream_->close({ECANCELED, "first"}, Stream::Ending::abort);
        stream_->close({EPROTO, "second"}, Stream::Ending::orderly);
        ASSERT_TRUE(run_until([&] { return closed_.has_value(); }));
    }
    settle(); // under asan: the payload is gone, and nobody reads it
    EXPECT_EQ(times_closed_, 1);
    EXPECT_EQ(closed_->text, "first") << "the first close decides";
}

TEST_F(StreamTest, CloseBeforeTheReactorEverRan) {
    open();
    append(Bytes(24), {});
    stream_->flush();
    stream_->close({0, {}}, Stream::Ending::orderly);
    ASSERT_TRUE(run_until([&] { return closed_.has_value(); }));
    settle();
    EXPECT_EQ(times_closed_, 1);
}

TEST_F(StreamTest, CloseFromInsideOnData) {
    open();
    do_in_data_ = [this] { stream_->close({EPROTO, "nonsense"}, Stream::Ending::orderly); };
    far_->send(pattern(10));
    ASSERT_TRUE(run_until([&] { return closed_.has_value(); }));
    EXPECT_EQ(closed_->text, "nonsense");
    settle();
    EXPECT_EQ(times_closed_, 1);
}

TEST_F(StreamTest, NothingIsFlushedAfterClose) {
    open();
    append(Bytes(24), {});
    stream_->close({0, {}}, Stream::Ending::orderly);
    stream_->flush();
    EXPECT_FALSE(stream_->sending());
    ASSERT_TRUE(run_until([&] { return closed_ && far_->ended(); }));
    EXPECT_TRUE(far_->received().empty());
}

TEST_F(StreamTest, EndOfThePeerIsAnError) {
    open();
    far_->send(pattern(10));
    far_->close();
    ASSERT_TRUE(run_until([&] { return closed_.has_value(); }));
    EXPECT_EQ(closed_->code, ECONNRESET);
    EXPECT_EQ(closed_->text, "the peer closed the connection");
    EXPECT_EQ(received_.size(), 10U) << "what came before is seen";
}

TEST_F(StreamTest, ResetOfThePeerIsAnErrorWithTheKernelsWord) {
    open();
    far_->reset();
    ASSERT_TRUE(run_until([&] { return closed_.has_value(); }));
    EXPECT_EQ(closed_->code, ECONNRESET);
    EXPECT_EQ(closed_->text, "the connection broke: Connection reset by peer");
}

TEST_F(StreamTest, ResetWhileABatchIsUnderWayIsToldOnce) {
    open(16 * 1024);
    far_->set_reading(false);
    const Bytes payload = pattern(4 * 1024 * 1024);
    append(Bytes(24), payload);
    stream_->flush();
    settle();
    far_->reset();
    ASSERT_TRUE(run_until([&] { return closed_.has_value(); }));
    EXPECT_TRUE(closed_->code == ECONNRESET || closed_->code == EPIPE) << closed_->code;
    settle();
    EXPECT_EQ(times_closed_, 1);
}

} // namespace
} // namespace mpath::net
