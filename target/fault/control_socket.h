// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mpath::target {

/// A unix socket that takes texts and gives answers: who connects sends a line with the text's name, the
/// text, and closes its side; back comes "ok\n" and an answer, or "error " and a sentence.
class ControlSocket {
public:
    using Handler = std::function<Result<std::string>(std::string_view text, std::string_view name)>;

    /// Empty `path`: one in control_folder(). Only the user can connect.
    static Result<std::unique_ptr<ControlSocket>> open(const std::string& path);
    ControlSocket(const ControlSocket&) = delete;
    ControlSocket& operator=(const ControlSocket&) = delete;
    ~ControlSocket();

    [[nodiscard]] const std::string& path() const { return path_; }
    /// Readable when serve() has something to do.
    [[nodiscard]] int waits_on() const { return epoll_.get(); }
    /// Does what it can without waiting.
    void serve(const Handler& handler);

private:
    struct Client {
        UniqueFd socket;
        std::string text;
    };

    explicit ControlSocket(std::string path) : path_(std::move(path)) {}
    void accept();
    /// False: the client is done with.
    static bool hear(Client& client, const Handler& handler);

    std::string path_;
    std::string link_; ///< in control_folder(), if the socket itself is elsewhere
    UniqueFd epoll_;
    UniqueFd socket_;
    std::list<Client> clients_;
};

} // namespace mpath::target
