// SPDX-License-Identifier: GPL-2.0-only
#include "target/fault/control_place.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace mpath::target {

namespace {

std::vector<std::string> sockets_in(const std::string& folder) {
    std::vector<std::string> sockets;
    std::error_code fault;
    for (const auto& entry : std::filesystem::directory_iterator(folder, fault)) {
        if (entry.path().filename().string().starts_with("target.")) {
            sockets.push_back(entry.path().string());
        }
    }
    return sockets;
}

/// Whether a target takes connections there. If none ever will, the socket is taken away.
bool answers(const std::string& path) {
    const auto reached = connect_control(path);
    if (!reached && (reached.error().code == ECONNREFUSED || reached.error().code == ENOENT)) {
        ::unlink(path.c_str());
    }
    return reached.has_value();
}

} // namespace

Result<std::string> control_folder() {
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    const std::string folder = runtime != nullptr && *runtime == '/'
                                   ? fmt::format("{}/fio-mpath", runtime)
                                   : fmt::format("/tmp/fio-mpath-{}", ::geteuid());
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
        return failure(errno, "cannot make {}: {}", folder, std::strerror(errno));
    }
    struct stat found {};
    if (::lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != ::geteuid() ||
        (found.st_mode & 077) != 0) {
        return failure(EPERM, "{} is not a folder of this user alone", folder);
    }
    return folder;
}

Result<UniqueFd> connect_control(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) {
        return failure(ENAMETOOLONG, "{}: a socket's path has at most {} characters", path,
                       sizeof(address.sun_path) - 1);
    }
    std::copy(path.begin(), path.end(), address.sun_path);
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket.valid() ||
        ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
        return failure(errno, "{}: no target answers there: {}", path, std::strerror(errno));
    }
    return socket;
}

std::vector<std::string> running_targets(const std::string& folder) {
    std::vector<std::string> sockets = sockets_in(folder);
    std::erase_if(sockets, [](const std::string& path) { return !answers(path); });
    std::sort(sockets.begin(), sockets.end());
    return sockets;
}

void forget_killed_targets(const std::string& folder) {
    for (const std::string& path : sockets_in(folder)) {
        const int pid = std::atoi(path.c_str() + path.rfind('.') + 1);
        if (pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH) {
            answers(path);
        }
    }
}

} // namespace mpath::target
