// SPDX-License-Identifier: GPL-2.0-only
// The second half of Server: scripts, and what they need of it.
#include <sys/epoll.h>

#include <algorithm>
#include <cstdio>

#include "target/server.h"
#include "target/status_report.h"

namespace mpath::target {

void Server::prepare_scripts() {
    const Options& options = subsystem_->options();
    std::vector<Listener*> known;
    for (const auto& listener : listeners_) {
        known.push_back(listener.get());
        context_.listeners.push_back(listener->options.name);
        context_.protocols.push_back(listener->options.protocol);
    }
    context_.groups = subsystem_->group_count();
    context_.block_size = options.block_size;
    context_.most_bytes = options.size * Namespace::kGrowth;
    Premises& premises = *this;
    injector_ = std::make_unique<FaultInjector>(*subsystem_, std::move(known), premises);
    script_ = std::make_unique<ScriptRunner>(*injector_, options.seed);
}

Result<std::string> Server::take_script(std::string_view text, std::string_view name) {
    const auto statements = parse_script(text, name, context_);
    if (!statements) {
        return tl::unexpected(statements.error());
    }
    script_->load(*statements, clock_.now());
    subsystem_->observer = script_->watches_commands() ? script_.get() : nullptr;
    const bool asked = std::any_of(statements->begin(), statements->end(), [](const Statement& statement) {
        return statement.kind == Statement::Kind::status;
    });
    return asked ? status_text(*this) : std::string();
}

Result<std::string> Server::open_control(const std::string& path) {
    auto opened = ControlSocket::open(path);
    if (!opened) {
        return tl::unexpected(opened.error());
    }
    control_ = std::move(*opened);
    auto& entry = *watches_.emplace_back(std::make_unique<Watch>());
    entry.control = true;
    return watch(control_->waits_on(), entry, EPOLLIN).map([this] { return control_->path(); });
}

Result<void> Server::log_faults(const std::string& file) {
    return FaultLog::create(file, clock_).map([this](std::unique_ptr<FaultLog> log) {
        injector_->set_log(std::move(log));
    });
}

std::size_t Server::connections_of(const Listener& listener) const {
    return static_cast<std::size_t>(
        std::count_if(connections_.begin(), connections_.end(), [&](const auto& entry) {
            return &entry->connection->listener() == &listener && !entry->connection->closed();
        }));
}

void Server::each_connection(const std::function<void(ServedConnection&)>& visit) {
    for (const auto& entry : connections_) {
        if (!entry->connection->closed()) {
            visit(*entry->connection);
        }
    }
}

void Server::take_connects(Listener& listener, bool taken) {
    auto done = taken ? listen_again(listener) : stop_listening(listener);
    if (done && taken) {
        const auto entry = std::find_if(watches_.begin(), watches_.end(),
                                        [&](const auto& each) { return each->listener == &listener; });
        done = watch(listener.socket.get(), **entry, EPOLLIN);
    }
    if (!done) {
        fmt::print(stderr, "fio-mpath: {}\n", done.error().text);
    }
}

} // namespace mpath::target
