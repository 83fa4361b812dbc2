// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <termios.h>

#include "base/unique_fd.h"

namespace mpath::cli {

/// Takes SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP and SIGWINCH of this process as something to read, so that
/// whatever ends it goes past the destructors. One at a time, before any thread is made.
class SignalReader {
public:
    SignalReader();
    SignalReader(const SignalReader&) = delete;
    SignalReader& operator=(const SignalReader&) = delete;
    ~SignalReader();

    [[nodiscard]] int fd() const { return fd_.get(); }
    /// The next signal; 0 when there is none.
    int take();

private:
    sigset_t before_{};
    UniqueFd fd_;
};

/// The terminal of standard output as a screen that is painted, and its keys, one by one and unseen. As it
/// was afterwards, however that comes about, but for SIGKILL.
class Terminal {
public:
    /// Whether standard output is one that can be painted.
    static bool usable();

    Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    ~Terminal() { leave(); }

    /// Whether standard input is a terminal as well.
    [[nodiscard]] bool has_keys() const { return has_keys_; }
    [[nodiscard]] std::size_t lines() const;
    [[nodiscard]] std::size_t columns() const;
    void paint(const std::vector<std::string>& lines);
    /// Stops this process as SIGTSTP does, with the terminal as it was; returns when it goes on.
    void suspend();

private:
    void enter();
    void leave();

    termios before_{}; // before has_keys_, which fills it
    bool has_keys_;
    bool entered_ = false;
};

} // namespace mpath::cli
