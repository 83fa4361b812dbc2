// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cli/steering.h"
#include "cli/terminal.h"
#include "cli/top_keys.h"
#include "cli/top_screen.h"
#include "cli/top_watch.h"

namespace mpath::cli {

/// fio-mpath top on a terminal.
class TopSession {
public:
    /// The references outlive it.
    TopSession(TopWatch& watch, Nanoseconds interval, const Clock& clock)
        : watch_(watch), clock_(clock), interval_(interval) {}

    /// Until somebody quits, or (true) no fio is left.
    bool run();

private:
    void look();
    void paint();
    void wait_for_something();
    void take_keys();
    void take_signals();
    void act(const TopAction& action);
    void choose(int step);
    void order(Order order);
    void follow_orders();
    [[nodiscard]] std::string path_name(std::size_t path) const;
    [[nodiscard]] std::optional<std::size_t> chosen() const;

    TopWatch& watch_;
    const Clock& clock_;
    Nanoseconds interval_;
    SignalReader signals_;
    Terminal terminal_;
    TopKeys keys_;
    TopView view_;
    std::vector<std::string> events_;
    std::optional<std::pair<std::uint64_t, std::uint32_t>> chosen_; ///< run and number of a job; empty: all
    std::vector<Steering> asked_;
    Nanoseconds asked_at_ = 0;
    std::string message_;
    Nanoseconds next_look_ = 0;
    bool keys_left_ = true;
    bool quit_ = false;
};

} // namespace mpath::cli
