// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "multipath/path_set.h"

namespace mpath::multipath::test {

/// Writes down what a path set tells of I/O in trouble, a word each: "failed:0" (on path 0), "again:1" (sent
/// to path 1), "held:700" (for so long), "exposed:0", "refused:0" (the state of path 0 is another one).
class HeardRetries final : public RetryListener {
public:
    void on_attempt_failed(Request& request) noexcept override { add("failed", request.path); }
    void on_sent_again(Request& request) noexcept override { add("again", request.path); }
    void on_hold_end(Request& request, Nanoseconds now) noexcept override {
        add("held", now - request.trouble.held_since);
    }
    void on_exposed(std::uint16_t path) noexcept override { add("exposed", path); }
    void on_state_refused(std::uint16_t path) noexcept override { add("refused", path); }

    /// And forgets it.
    std::string take() {
        std::string text = fmt::format("{}", fmt::join(words_, " "));
        words_.clear();
        return text;
    }

private:
    void add(std::string_view word, std::uint64_t number) {
        words_.push_back(fmt::format("{}:{}", word, number));
    }

    std::vector<std::string> words_;
};

} // namespace mpath::multipath::test
