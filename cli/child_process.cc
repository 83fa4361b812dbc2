// SPDX-License-Identifier: GPL-2.0-only
#include "cli/child_process.h"

#include <spawn.h>
#include <sys/wait.h>

#include <csignal>

namespace mpath::cli {
namespace {

/// Blocks the signals that wait_for() takes, and gives back the mask as it was.
class WaitedSignals {
public:
    WaitedSignals() {
        ::sigemptyset(&signals_);
        for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
            ::sigaddset(&signals_, number);
        }
        ::sigprocmask(SIG_BLOCK, &signals_, &before_);
    }
    WaitedSignals(const WaitedSignals&) = delete;
    WaitedSignals& operator=(const WaitedSignals&) = delete;
    ~WaitedSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

    [[nodiscard]] const sigset_t& before() const { return before_; }

    [[nodiscard]] int wait_for(pid_t child) const {
        for (;;) {
            siginfo_t info{};
            const int number = ::sigwaitinfo(&signals_, &info);
            int status = 0;
            if (number == SIGCHLD) {
                if (::waitpid(child, &status, WNOHANG) == child) {
                    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
                }
            } else if (number > 0 && info.si_code != SI_KERNEL) {
                // What the terminal sends goes to the whole process group, the child included.
                ::kill(child, number);
            }
        }
    }

private:
    sigset_t signals_{};
    sigset_t before_{};
};

} // namespace

Result<int> run_in_foreground(const std::vector<std::string>& words) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const std::string& word : words) {
        arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);

    const WaitedSignals signals;
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigmask(&attributes, &signals.before());
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t child = -1;
    const int fault =
        ::posix_spawnp(&child, arguments.front(), nullptr, &attributes, arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    if (fault != 0) {
        return failure(fault, "{} can't be run: {}; install fio, or name it with --fio", words.front(),
                       reason_of(fault));
    }
    return signals.wait_for(child);
}

} // namespace mpath::cli
