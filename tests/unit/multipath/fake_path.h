// SPDX-License-Identifier: GPL-2.0-only
// Paths whose state a test sets, and a notation for several of them: one letter a path, O optimized,
// N non-optimized, I inaccessible, L persistent loss, C change, x not connected.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "multipath/io_policy.h"
#include "path/path.h"

namespace mpath::multipath::test {

class FakePath final : public Path {
public:
    void attach(PathConnection& /*connection*/) override {}
    void submit(Request& request) noexcept override {
        submitted.push_back(&request);
        ++depth;
        bytes += request.length;
    }
    void flush() noexcept override { ++flushes; }
    [[nodiscard]] bool live() const noexcept override { return is_live; }
    [[nodiscard]] PathState state() const noexcept override { return path_state; }
    void set_state(PathState new_state) noexcept override { path_state = new_state; }
    [[nodiscard]] std::uint32_t outstanding() const noexcept override { return depth; }
    [[nodiscard]] std::uint64_t outstanding_bytes() const noexcept override { return bytes; }
    void close(const Error&) noexcept override { is_live = false; }
    [[nodiscard]] bool closed() const noexcept override { return !is_live; }
    [[nodiscard]] std::string status_text(std::uint32_t status) const override {
        return fmt::format("status {:x}h", status);
    }
    [[nodiscard]] PathTraffic traffic() const noexcept override { return {}; }

    void become(char letter) {
        is_live = letter != 'x';
        path_state = letter == 'N'   ? PathState::non_optimized
                     : letter == 'I' ? PathState::inaccessible
                     : letter == 'L' ? PathState::persistent_loss
                     : letter == 'C' ? PathState::change
                                     : PathState::optimized;
    }

    bool is_live = true;
    PathState path_state = PathState::optimized;
    std::uint32_t depth = 0;
    std::uint64_t bytes = 0;
    int flushes = 0;
    std::vector<Request*> submitted;
};

/// Candidates over fake paths, as the path set would offer them to a policy.
class FakePaths {
public:
    explicit FakePaths(std::string_view letters) {
        for (std::size_t i = 0; i < letters.size(); ++i) {
            paths_.push_back(std::make_unique<FakePath>());
            candidates_.push_back({.path = paths_.back().get(), .index = static_cast<std::uint16_t>(i)});
        }
        become(letters);
    }

    void become(std::string_view letters) {
        for (std::size_t i = 0; i < letters.size(); ++i) {
            paths_[i]->become(letters[i]);
        }
    }
    void set_depths(const std::vector<std::uint32_t>& depths) {
        for (std::size_t i = 0; i < depths.size(); ++i) {
            paths_[i]->depth = depths[i];
        }
    }
    void set_bytes(const std::vector<std::uint64_t>& bytes) {
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            paths_[i]->bytes = bytes[i];
        }
    }
    void set_distances(const std::vector<std::uint32_t>& distances) {
        for (std::size_t i = 0; i < distances.size(); ++i) {
            candidates_[i].distance = distances[i];
        }
    }

    [[nodiscard]] PathView view(StateFilter filter = StateFilter::any) const { return {candidates_, filter}; }

private:
    std::vector<std::unique_ptr<FakePath>> paths_;
    std::vector<Candidate> candidates_;
};

/// What `count` I/Os in a row are given: the first path is A; '-' stands for no path.
inline std::string choices(IoPolicy& policy, const PathView& view, std::size_t count,
                           Operation operation = Operation::read) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t position = policy.select(view, operation);
        text += position == kNoPath ? '-' : static_cast<char>('A' + position);
    }
    return text;
}

/// The paths' states, and what a policy that is told of no change gives the next I/Os then.
struct PolicyStep {
    std::string states;
    std::string choices;
};

inline void expect_choices(IoPolicy& policy, FakePaths& paths, const std::vector<PolicyStep>& steps) {
    for (const PolicyStep& step : steps) {
        paths.become(step.states);
        EXPECT_EQ(choices(policy, paths.view(), step.choices.size()), step.choices) << "in " << step.states;
    }
}

} // namespace mpath::multipath::test
