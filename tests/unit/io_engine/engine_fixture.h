// SPDX-License-Identifier: GPL-2.0-only
// The engine over paths and a reactor that do what a test says, on a clock that only the test moves.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "job/io_engine.h"
#include "live/control_block.h"
#include "net/reactor.h"

namespace mpath::job::test {

/// Moves with each look at it: code that spins until a time has passed gets there.
class SteppingClock final : public Clock {
public:
    [[nodiscard]] Nanoseconds now() const noexcept override { return now_ += step; }
    [[nodiscard]] Nanoseconds utc() const noexcept override { return now_; }
    void advance(Nanoseconds by) { now_ += by; }

    Nanoseconds step = 0;

private:
    mutable Nanoseconds now_ = kSecond;
};

class FakeReactor final : public net::Reactor {
public:
    explicit FakeReactor(SteppingClock& clock) : Reactor(clock), clock_(clock) {}

    void connect(net::Operation&, int, const sockaddr*, socklen_t) noexcept override {}
    void receive(net::Operation&, int, msghdr*, int) noexcept override {}
    void send(net::Operation&, int, msghdr*) noexcept override {}
    void read(net::Operation&, int, void*, std::uint32_t) noexcept override {}
    void cancel(net::Operation&) noexcept override {}
    void run(Nanoseconds max_wait) noexcept override {
        waits.push_back(max_wait);
        if (during_run) {
            during_run();
        }
        if (waits_out) {
            clock_.advance(max_wait);
        }
        note_arrival();
    }
    [[nodiscard]] std::uint64_t system_calls() const noexcept override { return waits.size(); }
    [[nodiscard]] std::string_view backend() const noexcept override { return "fake"; }

    std::vector<Nanoseconds> waits; ///< of each run
    std::function<void()> during_run;
    bool waits_out = true; ///< a run lasts as long as it may

private:
    SteppingClock& clock_;
};

/// Writes down what the engine asks for.
class FakeCare final : public PathCare {
public:
    void report_lost(std::uint16_t path, std::string cause) override {
        lost.push_back(fmt::format("{}: {}", path, cause));
    }
    void refresh_state(std::uint16_t path) override { refreshed.push_back(path); }
    void reattach(std::uint16_t path, std::unique_ptr<PathConnection>) override { on_reattach(path); }

    std::vector<std::string> lost;
    std::vector<std::uint16_t> refreshed;
    std::function<void(std::uint16_t)> on_reattach;
};

class FakePath final : public Path {
public:
    explicit FakePath(RequestList& completions) : completions_(completions) {}

    void attach(PathConnection& /*connection*/) override {}
    void submit(Request& request) noexcept override { held.push_back(&request); }
    void flush() noexcept override {
        flushed += held.size() - ready;
        ready = held.size();
    }
    [[nodiscard]] bool live() const noexcept override { return is_live; }
    [[nodiscard]] PathState state() const noexcept override { return path_state; }
    void set_state(PathState new_state) noexcept override { path_state = new_state; }
    [[nodiscard]] std::uint32_t outstanding() const noexcept override {
        return static_cast<std::uint32_t>(held.size());
    }
    [[nodiscard]] std::uint64_t outstanding_bytes() const noexcept override { return 0; }
    void close(const Error& reason) noexcept override {
        close_reason = reason;
        is_live = false;
        ready = held.size();
        while (!held.empty()) {
            complete(ErrorClass::path_down);
        }
    }
    [[nodiscard]] bool closed() const noexcept override { return !is_live; }
    [[nodiscard]] std::string status_text(std::uint32_t status) const override {
        return fmt::format("status {:x}h", status);
    }
    [[nodiscard]] PathTraffic traffic() const noexcept override { return counted; }

    /// Ends the oldest request.
    void complete(ErrorClass error = ErrorClass::none, Nanoseconds at = 0) {
        Request& request = *held.front();
        held.pop_front();
        --ready;
        request.error_class = error;
        request.completed_at = at;
        completions_.push(request);
    }
    /// Ends what was sent.
    void complete_sent() {
        while (ready > 0) {
            complete();
        }
    }

    std::deque<Request*> held;
    std::size_t ready = 0; ///< of those, flushed
    std::size_t flushed = 0;
    bool is_live = true;
    PathState path_state = PathState::optimized;
    PathTraffic counted;
    std::optional<Error> close_reason;

private:
    RequestList& completions_;
};

class IoEngineTest : public testing::Test {
protected:
    static constexpr std::uint32_t kDepth = 64;
    static constexpr Nanoseconds kInterval = kSecond;

    /// With a schedule, `others` more jobs start together with this one.
    void open(std::size_t paths = 1, EngineOptions options = {.iodepth = kDepth, .interval = kInterval},
              const multipath::SteerSchedule* schedule = nullptr, std::size_t others = 0) {
        auto block = live::ControlBlock::create(testing::TempDir());
        ASSERT_TRUE(block) << block.error().text;
        block_.emplace(std::move(*block));
        live::JobDescription description;
        description.thread_number = 1;
        description.name = "job";
        description.iopolicy = "round-robin";
        for (std::size_t i = 0; i < paths; ++i) {
            description.paths.push_back({"p" + std::to_string(i), "127.0.0.1:4420"});
        }
        if (schedule != nullptr) {
            description.steered = true;
            for (const multipath::Setting& setting : schedule->settings) {
                description.settings.push_back({setting.policy, setting.policy, setting.paths});
            }
        }
        auto slot = block_->add_job(description);
        ASSERT_TRUE(slot) << slot.error().text;
        slot_ = *slot;
        for (std::size_t i = 0; i < others; ++i) {
            ASSERT_TRUE(block_->add_job(description));
        }
        if (schedule != nullptr) {
            options.steer = SteerPlan{*schedule, StartClock(*slot_, block_->slots())};
        }
        news_ = std::make_unique<PathNews>(paths);
        engine_ = std::make_unique<IoEngine>(clock_, reactor_, *slot_, *news_, care_, terminate_,
                                             std::move(options));
        care_.on_reattach = [this](std::uint16_t path) { paths_[path]->is_live = true; };
        for (std::size_t i = 0; i < paths; ++i) {
            auto path = std::make_unique<FakePath>(engine_->completions());
            paths_.push_back(path.get());
            engine_->add_path("p" + std::to_string(i), std::move(path));
        }
        engine_->begin();
        buffer_.resize(64 * 1024);
    }

    void queue(std::uint32_t index, Operation operation = Operation::read, std::uint32_t length = 4096,
               std::uint64_t offset = 0) {
        engine_->queue(index, operation, buffer_.data(), offset, length);
    }
    void queue_and_commit(std::uint32_t first, std::uint32_t count) {
        for (std::uint32_t i = first; i < first + count; ++i) {
            queue(i);
            engine_->commit();
        }
    }
    std::vector<std::uint32_t> events(std::uint32_t count) {
        std::vector<std::uint32_t> indices;
        for (std::uint32_t i = 0; i < count; ++i) {
            indices.push_back(engine_->event(i).index);
        }
        return indices;
    }

    SteppingClock clock_;
    FakeReactor reactor_{clock_};
    bool terminate_ = false;
    std::optional<live::ControlBlock> block_;
    live::JobSlot* slot_ = nullptr;
    std::unique_ptr<PathNews> news_;
    FakeCare care_;
    std::unique_ptr<IoEngine> engine_;
    std::vector<FakePath*> paths_;
    std::vector<std::byte> buffer_;
};

} // namespace mpath::job::test
