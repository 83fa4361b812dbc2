// SPDX-License-Identifier: GPL-2.0-only
// fio-mpath target-ctl: tells a running target what to do now.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cli/command.h"
#include "target/fault/control_place.h"
#include "target/fault/script.h"
#include "target/fault/status_words.h"

namespace mpath::cli {

namespace {

constexpr const char* kTargetCtlFooter = R"(
Examples:
  the connections of listener a are reset, now:
    fio-mpath target-ctl on a drop
  a is inaccessible for 2 s, then b; the second statement waits for the first I/O command:
    fio-mpath target-ctl 'for 2s on a ana inaccessible' 'at 2s for 2s on b ana inaccessible'
  what has been served, and what is wrong just now:
    fio-mpath target-ctl status
  nothing is wrong any more, and nothing will be:
    fio-mpath target-ctl forget 'on all heal'

Statements are those of `fio-mpath target --script`; docs/target.md has the language. Those without a time have acted
when target-ctl ends; nothing at all has been done if it complains. Besides:

  status    say what each listener has served, its state, and what waits
  forget    no statement given until now shall act any more
  seed N    begin the random choices anew

Actions, some of them with further words: dnr, crd N, count N (commands):
)";

struct CtlWords {
    std::string control;
    std::string file;
    std::vector<std::string> statements;
};

/// Arguments of several words, and `status` and `forget`, are statements of their own; other words are one.
std::string text_of(const std::vector<std::string>& arguments) {
    std::string text;
    bool in_line = false;
    for (const std::string& argument : arguments) {
        const bool whole = argument.find_first_of(" \n") != std::string::npos || argument == "status" ||
                           argument == "forget";
        text += text.empty() ? "" : (whole || !in_line ? "\n" : " ");
        text += argument;
        in_line = !whole;
    }
    return text + "\n";
}

Result<std::string> read_all(const CtlWords& words) {
    if (!words.statements.empty()) {
        return text_of(words.statements);
    }
    if (words.file.empty() || words.file == "-") {
        return std::string{std::istreambuf_iterator<char>(std::cin), {}};
    }
    std::ifstream file(words.file);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) {
        return failure(errno, "cannot read {}: {}", words.file, std::strerror(errno));
    }
    return text;
}

Result<std::string> socket_of_only_target() {
    const auto folder = target::control_folder();
    if (!folder) {
        return tl::unexpected(folder.error());
    }
    const auto running = target::running_targets(*folder);
    if (running.size() == 1) {
        return running.front();
    }
    if (running.empty()) {
        return failure(ENOENT,
                       "no target of this user runs; start `fio-mpath target`, or name its socket with "
                       "--control");
    }
    std::string names;
    for (const std::string& name : running) {
        names += (names.empty() ? "" : ", ") + name;
    }
    return failure(EINVAL, "several targets run, name one with --control: {}", names);
}

Result<std::string> ask(const std::string& path, const std::string& name, const std::string& text) {
    const auto socket = target::connect_control(path);
    if (!socket) {
        return tl::unexpected(socket.error());
    }
    const std::string said = name + "\n" + text;
    for (std::size_t sent = 0; sent < said.size();) {
        const ssize_t count = ::send(socket->get(), said.data() + sent, said.size() - sent, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) {
            return failure(errno, "{}: cannot send the statements: {}", path, std::strerror(errno));
        }
        sent += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    ::shutdown(socket->get(), SHUT_WR);
    std::string answer;
    std::array<char, 4096> buffer;
    ssize_t count = 0;
    while ((count = ::recv(socket->get(), buffer.data(), buffer.size(), 0)) > 0) {
        answer.append(buffer.data(), static_cast<std::size_t>(count));
    }
    const std::string_view rest = answer;
    if (rest.starts_with("ok\n")) {
        return std::string(rest.substr(3));
    }
    if (rest.starts_with("error ")) {
        return failure(EINVAL, "{}", rest.substr(6, rest.size() - 7));
    }
    return failure(EPROTO, "{}: the target ended before it answered", path);
}

int tell(const CtlWords& words) {
    const auto text = read_all(words);
    const auto path = words.control.empty() ? socket_of_only_target() : Result<std::string>(words.control);
    if (!text || !path) {
        return complain(text ? path.error().text : text.error().text);
    }
    const std::string name = !words.statements.empty() ? "statement" : words.file.empty() ? "-" : words.file;
    const auto answer = ask(*path, name, *text);
    if (!answer) {
        return complain(answer.error().text);
    }
    fmt::print("{}", *answer);
    return 0;
}

} // namespace

Command add_target_ctl(CLI::App& parent) {
    auto words = std::make_shared<CtlWords>();
    CLI::App* app = parent.add_subcommand(
        "target-ctl", "Tells a running target what to do: lose paths, change ANA states, fail commands");
    app->footer(kTargetCtlFooter + target::describe_actions() +
                "\nNames of a STATUS, which may also be 302h or "
                "3/02: " +
                target::status_names() + "\nOf iSCSI, also 28h: " + target::scsi_status_names() +
                "; or sense KEY/ASC/ASCQ, such as sense 3/11/00. Of its logins, also 0301h: " +
                target::login_status_names() + "\n");
    app->add_option("--control", words->control,
                    "the target's socket (default: that of the only target this user runs)");
    app->add_option("-f,--file", words->file, "read the statements from this file, - for standard input");
    app->add_option(
        "statement", words->statements,
        "the words of a statement, or statements in quotes; none: they come from --file or standard "
        "input");
    return {app, [words] { return tell(*words); }};
}

} // namespace mpath::cli
