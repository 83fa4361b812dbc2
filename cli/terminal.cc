// SPDX-License-Identifier: GPL-2.0-only
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

namespace mpath::cli {

namespace {

constexpr std::string_view kEnterScreen = "\x1B[?1049h\x1B[?25l"; ///< a page of its own, no cursor
constexpr std::string_view kLeaveScreen = "\x1B[?25h\x1B[?1049l";
constexpr std::string_view kHome = "\x1B[H";
constexpr std::string_view kClearLine = "\x1B[2K";

void write_all(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written < 0 && errno != EINTR) {
            return; // nobody sees it any more
        }
        text.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
    }
}

winsize window() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
        size.ws_row = 24;
        size.ws_col = 80;
    }
    return size;
}

} // namespace

SignalReader::SignalReader() {
    sigset_t taken;
    sigemptyset(&taken);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH}) {
        sigaddset(&taken, number);
    }
    ::pthread_sigmask(SIG_BLOCK, &taken, &before_);
    fd_.reset(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
}

SignalReader::~SignalReader() {
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int SignalReader::take() {
    signalfd_siginfo info{};
    return ::read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)
               ? static_cast<int>(info.ssi_signo)
               : 0;
}

bool Terminal::usable() {
    const char* kind = ::getenv("TERM");
    return ::isatty(STDOUT_FILENO) == 1 && kind != nullptr && *kind != '\0' &&
           std::string_view(kind) != "dumb";
}

Terminal::Terminal() : has_keys_(::isatty(STDIN_FILENO) == 1 && ::tcgetattr(STDIN_FILENO, &before_) == 0) {
    enter();
}

void Terminal::enter() {
    if (has_keys_) {
        termios raw = before_;
        raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    }
    write_all(kEnterScreen);
    entered_ = true;
}

void Terminal::leave() {
    if (!entered_) {
        return;
    }
    entered_ = false;
    write_all(kLeaveScreen);
    if (has_keys_) {
        ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
    }
}

std::size_t Terminal::lines() const {
    return window().ws_row;
}

std::size_t Terminal::columns() const {
    return window().ws_col;
}

void Terminal::paint(const std::vector<std::string>& lines) {
    std::string page(kHome);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        page += i == 0 ? "" : "\r\n";
        page += kClearLine;
        page += lines[i];
    }
    write_all(page);
}

void Terminal::suspend() {
    leave();
    ::raise(SIGSTOP);
    enter();
}

} // namespace mpath::cli
