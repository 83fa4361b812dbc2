// SPDX-License-Identifier: GPL-2.0-only
#include "live/process.h"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

namespace mpath::live {

namespace {

constexpr std::string_view kPrefix = "fio-mpath.";

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

} // namespace

std::optional<std::uint64_t> start_of(std::uint64_t pid) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    const std::string stat{std::istreambuf_iterator<char>(file), {}};
    // The command in field 2 may hold spaces and brackets; the last bracket ends it. Field 3 follows.
    const std::size_t bracket = stat.rfind(')');
    if (bracket == std::string::npos) {
        return std::nullopt;
    }
    std::istringstream fields(stat.substr(bracket + 1));
    std::string field;
    for (int index = 3; index <= 22 && fields >> field; ++index) {
        if (index == 3 && (field == "Z" || field == "X")) {
            return std::nullopt;
        }
    }
    return fields ? number(field) : std::nullopt;
}

Result<ProcessId> this_process() {
    struct stat pid_namespace {};
    if (::stat("/proc/self/ns/pid", &pid_namespace) != 0) {
        return failure(errno, "/proc/self/ns/pid can't be read ({}): fio-mpath needs /proc mounted",
                       reason_of(errno));
    }
    const auto pid = static_cast<std::uint64_t>(::getpid());
    const auto start = start_of(pid);
    if (!start) {
        return failure(EIO, "/proc/{}/stat does not say when this process started", pid);
    }
    return ProcessId{pid_namespace.st_ino, pid, *start};
}

std::string block_name(const ProcessId& owner) {
    return fmt::format("{}{}.{}.{}", kPrefix, owner.pid_namespace, owner.pid, owner.start);
}

std::optional<ProcessId> owner_from_name(const std::string& name) {
    if (!name.starts_with(kPrefix)) {
        return std::nullopt;
    }
    const std::string_view rest = std::string_view(name).substr(kPrefix.size());
    const std::size_t first = rest.find('.');
    const std::size_t second = rest.find('.', first == std::string_view::npos ? first : first + 1);
    if (second == std::string_view::npos) {
        return std::nullopt;
    }
    const auto pid_namespace = number(rest.substr(0, first));
    const auto pid = number(rest.substr(first + 1, second - first - 1));
    const auto start = number(rest.substr(second + 1));
    if (!pid_namespace || !pid || !start) {
        return std::nullopt;
    }
    return ProcessId{*pid_namespace, *pid, *start};
}

void remove_stale_blocks(const std::string& directory, const ProcessId& self) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
        const auto owner = owner_from_name(entry.path().filename().string());
        if (!owner || owner->pid_namespace != self.pid_namespace || start_of(owner->pid) == owner->start) {
            continue;
        }
        struct stat status {};
        if (::lstat(entry.path().c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
            status.st_uid == ::geteuid()) {
            ::unlink(entry.path().c_str());
        }
    }
}

} // namespace mpath::live
