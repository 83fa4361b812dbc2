// SPDX-License-Identifier: GPL-2.0-only
#include "target/server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <utility>

#include "target/connection.h"
#include "target/iscsi/connection.h"

namespace mpath::target {

namespace {

constexpr int kEventsAtOnce = 256;
constexpr Nanoseconds kKeepAliveCheck = 20 * kMillisecond;

/// An NQN in a path of ours: what would end it there is percent-encoded.
std::string encode(std::string_view nqn) {
    std::string text;
    for (const char letter : nqn) {
        if (letter == ',' || letter == '/' || letter == '%' || letter <= ' ') {
            text += fmt::format("%{:02X}", static_cast<unsigned>(letter));
        } else {
            text += letter;
        }
    }
    return text;
}

} // namespace

Result<std::unique_ptr<Server>> Server::create(const Options& options, const Clock& clock) {
    auto fine = checked(options);
    if (!fine) {
        return tl::unexpected(fine.error());
    }
    std::unique_ptr<Server> server(new Server(*fine, clock));
    server->epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
    server->wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!server->epoll_.valid() || !server->wake_.valid()) {
        return failure(errno, "cannot make an epoll instance: {}", std::strerror(errno));
    }
    auto subsystem = Subsystem::create(*fine);
    if (!subsystem) {
        return tl::unexpected(subsystem.error());
    }
    server->subsystem_ = std::move(*subsystem);
    server->node_ = std::make_unique<scsi::Node>(*server->subsystem_);
    auto& wake = *server->watches_.emplace_back(std::make_unique<Watch>());
    auto watched = server->watch(server->wake_.get(), wake, EPOLLIN);
    const std::size_t ports = fine->listeners.size();
    for (std::size_t i = 0; i < ports + fine->discovery.listeners.size(); ++i) {
        const auto& wanted = i < ports ? fine->listeners[i] : fine->discovery.listeners[i - ports];
        auto opened = open_listener(wanted, fine->allow_remote);
        if (!opened) {
            return tl::unexpected(opened.error());
        }
        opened->discovery_only = i >= ports;
        auto& listener = *server->listeners_.emplace_back(std::make_unique<Listener>(std::move(*opened)));
        if (listener.options.protocol == Protocol::iscsi) {
            server->node_->add_portal(listener);
        } else {
            server->subsystem_->discovery().add_listener(listener);
        }
        auto& entry = *server->watches_.emplace_back(std::make_unique<Watch>());
        entry.listener = &listener;
        if (watched) {
            watched = server->watch(listener.socket.get(), entry, EPOLLIN);
        }
    }
    if (!watched) {
        return tl::unexpected(watched.error());
    }
    server->prepare_scripts();
    return server;
}

Server::~Server() = default;

Result<void> Server::watch(int fd, Watch& watch, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.ptr = &watch;
    watch.events = events;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
        return failure(errno, "cannot wait for file descriptor {}: {}", fd, std::strerror(errno));
    }
    return {};
}

void Server::stop() {
    stopping_.store(true, std::memory_order_relaxed);
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof(one));
}

Result<void> Server::stop_when_closed(int fd) {
    auto& entry = *watches_.emplace_back(std::make_unique<Watch>());
    entry.lifeline = fd;
    return watch(fd, entry, EPOLLIN);
}

void Server::run() {
    ::prctl(PR_SET_TIMERSLACK, 1UL); // listeners' delays are to be what was asked for
    std::array<epoll_event, kEventsAtOnce> events;
    Nanoseconds until = tend(clock_.now());
    while (!stopping_.load(std::memory_order_relaxed)) {
        const int count = wait(until, clock_.now(), events.data(), kEventsAtOnce);
        const Nanoseconds now = clock_.now();
        for (int i = 0; i < count; ++i) {
            handle(*static_cast<Watch*>(events[i].data.ptr), events[i].events, now);
        }
        until = tend(now);
    }
}

int Server::wait(Nanoseconds until, Nanoseconds now, void* events, int room) const {
    timespec timeout{};
    if (!poll_ && until > now) {
        timeout.tv_sec = static_cast<std::time_t>((until - now) / kSecond);
        timeout.tv_nsec = static_cast<long>((until - now) % kSecond);
    }
    const bool endless = !poll_ && until == Queue::kNever;
    return ::epoll_pwait2(epoll_.get(), static_cast<epoll_event*>(events), room, endless ? nullptr : &timeout,
                          nullptr);
}

void Server::handle(Watch& watch, std::uint32_t events, Nanoseconds now) {
    if (watch.listener != nullptr) {
        accept(*watch.listener);
        return;
    }
    if (watch.lifeline >= 0) {
        std::array<char, 256> ignored;
        if (::read(watch.lifeline, ignored.data(), ignored.size()) <= 0) {
            stop();
        }
        return;
    }
    if (watch.control) {
        control_->serve(
            [this](std::string_view text, std::string_view name) { return take_script(text, name); });
        return;
    }
    if (watch.connection == nullptr || watch.connection->closed()) {
        return; // stop() was called, or a script has closed it
    }
    if ((events & EPOLLOUT) != 0) {
        watch.connection->on_writable();
    }
    if ((events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0 && !watch.connection->closed()) {
        watch.connection->on_readable(now);
    }
}

void Server::accept(Listener& listener) {
    UniqueFd socket(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.valid()) {
        return;
    }
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    ++listener.counters.connections;
    auto entry = std::make_unique<Watch>();
    if (listener.options.protocol == Protocol::iscsi) {
        entry->connection = std::make_unique<scsi::Connection>(std::move(socket), *node_, listener);
    } else {
        entry->connection = std::make_unique<Connection>(std::move(socket), *subsystem_, listener);
    }
    if (watch(entry->connection->socket(), *entry, EPOLLIN)) {
        connections_.push_back(std::move(entry));
    }
}

void Server::update_interest(Watch& entry) {
    const ServedConnection& connection = *entry.connection;
    const std::uint32_t wanted =
        (connection.wants_read() ? EPOLLIN : 0U) | (connection.wants_write() ? EPOLLOUT : 0U);
    // Epoll tells of a connection's end unasked, again and again: one that stalls is not to hear of that.
    const bool watched = !connection.stalls();
    if (connection.closed() || (wanted == entry.events && watched == entry.watched)) {
        return;
    }
    epoll_event event{};
    event.events = wanted;
    event.data.ptr = &entry;
    const int operation = !watched ? EPOLL_CTL_DEL : entry.watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    entry.events = wanted;
    entry.watched = watched;
    ::epoll_ctl(epoll_.get(), operation, connection.socket(), &event);
}

Nanoseconds Server::tend(Nanoseconds now) {
    if (now >= next_keep_alive_check_) {
        subsystem_->expire(now);
        next_keep_alive_check_ = now + kKeepAliveCheck;
    }
    script_->run(now);
    subsystem_->observer = script_->watches_commands() ? script_.get() : nullptr;
    Nanoseconds next = Queue::kNever;
    bool any_closed = false;
    for (const auto& entry : connections_) {
        ServedConnection& connection = *entry->connection;
        if (!connection.closed() && connection.next_due() <= now) {
            connection.on_timer(now);
        }
        any_closed = any_closed || connection.closed();
        update_interest(*entry);
        next = std::min(next, connection.next_due());
    }
    // Closing an admin connection ends its association, which closes the I/O connections of it.
    while (any_closed) {
        any_closed =
            std::erase_if(connections_, [](const auto& entry) { return entry->connection->closed(); }) != 0;
    }
    subsystem_->late_writes().run(now);
    next = std::min(connections_.empty() ? Queue::kNever : next,
                    std::min(script_->next_due(), subsystem_->late_writes().next_due()));
    return connections_.empty() ? next : std::min(next, next_keep_alive_check_);
}

std::string paths_of(const Server& server, std::uint32_t nsid, Protocol protocol) {
    const Options& options = server.subsystem().options();
    const bool iscsi = protocol == Protocol::iscsi;
    std::string text;
    for (const auto& listener : server.listeners()) {
        if (listener->discovery_only || listener->options.protocol != protocol) {
            continue;
        }
        text += fmt::format("{}{}={}://{}/{}/{}", text.empty() ? "" : ",", listener->options.name,
                            iscsi ? "iscsi" : "nvme+tcp", listener->address,
                            encode(iscsi ? options.iscsi.name : options.subnqn), iscsi ? nsid - 1 : nsid);
    }
    return text;
}

} // namespace mpath::target
