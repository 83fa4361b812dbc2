// SPDX-License-Identifier: GPL-2.0-only
#include "cli/top_session.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "multipath/io_policy.h"

namespace mpath::cli {

namespace {

constexpr std::size_t kEventsKept = 50;
/// How often it is looked whether jobs have followed, while some have not.
constexpr Nanoseconds kFollowInterval = 20 * kMillisecond;
constexpr Nanoseconds kPatience = 10 * kSecond;

} // namespace

bool TopSession::run() {
    next_look_ = clock_.now();
    while (!quit_) {
        const Nanoseconds now = clock_.now();
        if (now >= next_look_) {
            look();
            if (!watch_.has_runs()) {
                return true;
            }
            next_look_ = std::max(next_look_ + interval_, now);
        }
        follow_orders();
        paint();
        wait_for_something();
        take_signals();
        take_keys();
    }
    return false;
}

void TopSession::look() {
    view_ = watch_.look(clock_.now(), clock_.utc());
    for (const TopJob& job : view_.jobs) {
        for (const record::Event& event : job.events) {
            events_.push_back(event_line(job, event));
        }
    }
    events_.erase(events_.begin(),
                  events_.end() - static_cast<std::ptrdiff_t>(std::min(events_.size(), kEventsKept)));
    if (chosen_ && !chosen()) {
        message_ = "the chosen job is gone";
        chosen_.reset();
        choose(1);
    }
}

std::optional<std::size_t> TopSession::chosen() const {
    const auto found = std::find_if(view_.jobs.begin(), view_.jobs.end(), [this](const TopJob& job) {
        return chosen_ == std::pair(job.run, job.number);
    });
    return found == view_.jobs.end() ? std::nullopt
                                     : std::optional(static_cast<std::size_t>(found - view_.jobs.begin()));
}

void TopSession::paint() {
    TopScreen screen;
    screen.lines = terminal_.lines();
    screen.columns = terminal_.columns();
    screen.chosen = chosen();
    screen.interval = interval_;
    screen.events = events_;
    screen.message = keys_.prompt().empty() ? message_ : keys_.prompt();
    screen.keys = terminal_.has_keys();
    terminal_.paint(render_top(view_, screen));
}

void TopSession::wait_for_something() {
    const Nanoseconds now = clock_.now();
    const Nanoseconds until = asked_.empty() ? next_look_ : std::min(next_look_, now + kFollowInterval);
    const Nanoseconds wait = until > now ? until - now : 0;
    std::array<pollfd, 2> sources{pollfd{signals_.fd(), POLLIN, 0},
                                  pollfd{terminal_.has_keys() && keys_left_ ? STDIN_FILENO : -1, POLLIN, 0}};
    ::poll(sources.data(), sources.size(), static_cast<int>((wait + kMillisecond - 1) / kMillisecond));
    if ((sources[1].revents & (POLLHUP | POLLERR)) != 0) {
        quit_ = true; // the terminal is gone
    }
}

void TopSession::take_signals() {
    for (int number = signals_.take(); number != 0; number = signals_.take()) {
        if (number == SIGTSTP) {
            terminal_.suspend();
        } else if (number != SIGWINCH) {
            quit_ = true;
        }
    }
}

void TopSession::take_keys() {
    pollfd keys{terminal_.has_keys() && keys_left_ ? STDIN_FILENO : -1, POLLIN, 0};
    while (!quit_ && ::poll(&keys, 1, 0) == 1) {
        char byte = 0;
        if (::read(STDIN_FILENO, &byte, 1) != 1) {
            keys_left_ = false;
            return;
        }
        if (const auto action = keys_.press(byte)) {
            act(*action);
        }
    }
}

void TopSession::choose(int step) {
    const auto count = static_cast<int>(view_.jobs.size());
    // Place 0 is all of them.
    const auto place = chosen() ? static_cast<int>(*chosen()) + 1 : 0;
    const int next = (place + step + count + 1) % (count + 1);
    chosen_.reset();
    if (next > 0) {
        const TopJob& job = view_.jobs[static_cast<std::size_t>(next) - 1];
        chosen_ = {job.run, job.number};
    }
}

std::string TopSession::path_name(std::size_t path) const {
    const std::size_t place = chosen().value_or(0);
    const bool known = place < view_.jobs.size() && path < view_.jobs[place].paths.size();
    return known ? view_.jobs[place].paths[path].name : std::to_string(path);
}

void TopSession::act(const TopAction& action) {
    using What = TopAction::What;
    switch (action.what) {
    case What::quit:
        quit_ = true;
        break;
    case What::next_job:
        choose(1);
        break;
    case What::previous_job:
        choose(-1);
        break;
    case What::redraw:
        break;
    case What::policy:
        order({Order::What::policy, std::string(multipath::io_policy_names()[action.policy]), {}, false});
        break;
    case What::preferred:
        order({Order::What::policy, "preferred:" + path_name(action.path), {}, false});
        break;
    case What::enable:
        order({Order::What::enable, "", {path_name(action.path)}, false});
        break;
    case What::disable:
        order({Order::What::disable, "", {path_name(action.path)}, false});
        break;
    case What::schedule:
        order({Order::What::schedule, "", {}, false});
        break;
    }
}

void TopSession::order(Order order) {
    order.jobs_named = chosen_.has_value();
    std::vector<Error> errors;
    asked_ = watch_.ask(chosen(), order, clock_, errors);
    asked_at_ = clock_.now();
    message_ = errors.empty() ? "asked" : errors.front().text;
}

void TopSession::follow_orders() {
    if (asked_.empty()) {
        return;
    }
    bool settled = true;
    for (Steering& steering : asked_) {
        settled = steering.look(clock_) && settled;
    }
    const Nanoseconds waited = clock_.now() - asked_at_;
    if (!settled && waited < kPatience) {
        return;
    }
    // One line has room; the job that fared worst is told, or how long the last of them took.
    const Steering::Job* told = nullptr;
    std::size_t count = 0;
    for (const Steering& steering : asked_) {
        for (const Steering::Job& job : steering.jobs()) {
            ++count;
            const bool worse = told == nullptr || (told->fate == Fate::followed &&
                                                   (job.fate != Fate::followed || job.took > told->took));
            told = worse ? &job : told;
        }
    }
    if (told != nullptr) {
        message_ = outcome_line(*told, waited);
        if (count > 1) {
            message_ += told->fate == Fate::followed ? fmt::format(" (the last of {} jobs)", count)
                                                     : fmt::format(" ({} jobs were asked)", count);
        }
    }
    asked_.clear();
}

} // namespace mpath::cli
