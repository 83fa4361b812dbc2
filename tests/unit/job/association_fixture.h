// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "job/association.h"
#include "tests/unit/job/scripted_connector.h"
#include "tests/unit/job/virtual_reactor.h"

namespace mpath::job::test {

using Lines = std::vector<std::string>;

inline const Error kNobodyThere{ECONNREFUSED, "127.0.0.1:4420: connection refused"};
inline const Error kBusy{EBUSY, "the target is out of controllers"};
inline const Error kForGood{ENODEV, "the target has no such subsystem", true};
inline constexpr std::uint16_t kPath = 0;

inline Attempt connects(Nanoseconds after = 0) {
    return {after, {0, {}}};
}
inline Attempt refuses(const Error& error = kNobodyThere) {
    return {0, error};
}
inline Attempt hangs(Nanoseconds time) {
    return {time, {ETIMEDOUT, "no answer"}};
}

inline std::string_view life_text(PathLife life) {
    switch (life) {
    case PathLife::live:
        return "live";
    case PathLife::connecting:
        return "connecting";
    case PathLife::failing:
        return "failing";
    case PathLife::gone:
        return "gone";
    }
    return "?";
}

/// A path on a clock that stands still, connected by script.
class AssociationTest : public testing::Test {
protected:
    AssociationTest() {
        connector_.script.facts.limits.size = 1 << 20;
        connector_.script.facts.limits.block_size = 512;
        connector_.script.facts.address = "127.0.0.1:4420";
    }
    ~AssociationTest() override {
        if (association_) {
            stop();
        }
    }

    void start(std::deque<Attempt> attempts) {
        connector_.then(std::move(attempts));
        association_ = std::make_unique<Association>(place_, connector_, kPath);
        association_->start(
            [this](Result<std::unique_ptr<PathConnection>> first) { first_.emplace(std::move(first)); });
        begin_ = clock_.now();
    }
    /// Connected, and lost at this moment: the zero of the seconds that follow.
    void start_and_lose(std::deque<Attempt> then) {
        start({connects()});
        connector_.then(std::move(then));
        reactor_.run_to(begin_ + kSecond);
        connector_.begun.clear();
        begin_ = clock_.now();
        connector_.script.lose("it broke");
    }
    void run_to(Nanoseconds second) { reactor_.run_to(begin_ + second * kSecond); }
    void stop() {
        association_->stop([this] { stopped_ = true; });
        const Nanoseconds patience = clock_.now() + kSecond;
        while (!stopped_ && clock_.now() < patience) {
            reactor_.run(kMillisecond);
        }
        EXPECT_TRUE(stopped_);
        association_.reset();
    }

    /// "10 refused: …": the events, with the second of each.
    [[nodiscard]] Lines events() const {
        Lines lines;
        for (const record::Event& event : events_->events()) {
            lines.push_back(fmt::format("{} {}: {}", (event.monotonic - begin_) / kSecond,
                                        to_string(event.kind), event.text));
        }
        return lines;
    }
    [[nodiscard]] std::vector<std::uint64_t> attempts() const {
        std::vector<std::uint64_t> seconds;
        for (const Nanoseconds at : connector_.begun) {
            seconds.push_back((at - begin_) / kSecond);
        }
        return seconds;
    }
    [[nodiscard]] std::string_view life() const { return life_text(news_.life(kPath)); }

    FakeClock clock_;
    VirtualReactor reactor_{clock_};
    PathNews news_{1};
    std::unique_ptr<live::EventLog> events_ = std::make_unique<live::EventLog>();
    LifeOptions life_;
    std::optional<JobDevice> device_;
    AssociationPlace place_{reactor_, news_, *events_, life_, device_};
    ScriptedConnector connector_{reactor_, {}};
    std::unique_ptr<Association> association_;
    std::optional<Result<std::unique_ptr<PathConnection>>> first_;
    Nanoseconds begin_ = 0;
    bool stopped_ = false;
};

} // namespace mpath::job::test
