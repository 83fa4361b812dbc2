// SPDX-License-Identifier: GPL-2.0-only
#include "target/fault/control_socket.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "target/fault/control_place.h"

namespace mpath::target {

namespace {

constexpr std::size_t kLongestText = 1 << 20;
constexpr std::size_t kMostClients = 16;

Result<UniqueFd> listen_at(const std::string& path) {
    if (auto other = connect_control(path); other) {
        return failure(EADDRINUSE, "{}: another target listens there", path);
    } else if (other.error().code == ENAMETOOLONG) {
        return tl::unexpected(other.error());
    }
    struct stat found {};
    if (::lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode)) {
        ::unlink(path.c_str()); // of a target that is gone
    }
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), address.sun_path);
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    // The socket's mode becomes the file's: there is no moment at which others can connect.
    if (!socket.valid() || ::fchmod(socket.get(), 0600) != 0 ||
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        ::listen(socket.get(), kMostClients) != 0) {
        return failure(errno, "cannot take statements at {}: {}", path, std::strerror(errno));
    }
    return socket;
}

bool watch_for_input(int epoll, int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

} // namespace

Result<std::unique_ptr<ControlSocket>> ControlSocket::open(const std::string& path) {
    const auto folder = control_folder();
    if (path.empty() && !folder) {
        return tl::unexpected(folder.error());
    }
    if (folder) {
        forget_killed_targets(*folder);
    }
    const std::string usual = folder ? fmt::format("{}/target.{}", *folder, ::getpid()) : "";
    std::error_code fault;
    const std::string at = path.empty() ? usual : std::filesystem::absolute(path, fault).string();
    auto socket = listen_at(at);
    if (!socket) {
        return tl::unexpected(socket.error());
    }
    std::unique_ptr<ControlSocket> control(new ControlSocket(at));
    control->socket_ = std::move(*socket);
    control->epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
    if (!control->epoll_.valid() || !watch_for_input(control->epoll_.get(), control->socket_.get())) {
        return failure(errno, "cannot wait for statements at {}: {}", at, std::strerror(errno));
    }
    if (!path.empty() && !usual.empty() && ::symlink(at.c_str(), usual.c_str()) == 0) {
        control->link_ = usual;
    }
    return control;
}

ControlSocket::~ControlSocket() {
    if (socket_.valid()) {
        ::unlink(path_.c_str());
    }
    if (!link_.empty()) {
        ::unlink(link_.c_str());
    }
}

void ControlSocket::accept() {
    while (clients_.size() < kMostClients) {
        UniqueFd socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!socket.valid()) {
            return;
        }
        if (watch_for_input(epoll_.get(), socket.get())) {
            clients_.push_back({std::move(socket), {}});
        }
    }
}

void ControlSocket::serve(const Handler& handler) {
    std::erase_if(clients_, [&](Client& client) { return !hear(client, handler); });
    accept();
    std::erase_if(clients_, [&](Client& client) { return !hear(client, handler); });
}

bool ControlSocket::hear(Client& client, const Handler& handler) {
    std::array<char, 4096> buffer;
    ssize_t count = 0;
    while ((count = ::recv(client.socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0) {
        client.text.append(buffer.data(), static_cast<std::size_t>(count));
        if (client.text.size() > kLongestText) {
            return false;
        }
    }
    if (count < 0) {
        return errno == EAGAIN || errno == EINTR;
    }
    const std::string_view text = client.text;
    const std::size_t line = std::min(text.find('\n'), text.size());
    const auto answer = handler(text.substr(std::min(line + 1, text.size())), text.substr(0, line));
    const std::string said = answer ? "ok\n" + *answer : fmt::format("error {}\n", answer.error().text);
    ::send(client.socket.get(), said.data(), said.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return false;
}

} // namespace mpath::target
