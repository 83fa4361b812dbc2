// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <span>
#include <string_view>
#include <thread>

#include "base/unique_fd.h"
#include "net/address.h"

namespace mpath::net::test {

/// The other end of one TCP connection, as the script says. Blocking socket, own thread; a peer that waits
/// for something that never comes gives up after some seconds.
class Wire {
public:
    explicit Wire(int socket) : socket_(socket) {}

    /// False at the end of the stream.
    bool receive(std::span<std::byte> bytes) const;
    template <typename T>
    T receive() const {
        T value;
        receive(std::as_writable_bytes(std::span(&value, 1)));
        return value;
    }
    void send(std::span<const std::byte> bytes) const;
    void send(std::string_view text) const { send(std::as_bytes(std::span(text))); }
    template <typename T>
    void send_value(const T& value) const {
        send(std::as_bytes(std::span(&value, 1)));
    }
    /// Ends the stream, as closing would.
    void end() const;
    /// Until the other side closes.
    void wait_for_end() const;

private:
    int socket_;
};

/// Listens on a loopback port and runs `script` on the connection that comes; at its end the stream ends.
class ScriptedPeer {
public:
    using Script = std::function<void(Wire&)>;
    explicit ScriptedPeer(Script script);
    ScriptedPeer(const ScriptedPeer&) = delete;
    ScriptedPeer& operator=(const ScriptedPeer&) = delete;
    /// Ends what the script still waits for.
    ~ScriptedPeer();

    [[nodiscard]] const SocketAddress& address() const { return address_; }

private:
    UniqueFd listener_;
    SocketAddress address_;
    std::promise<int> accepted_; ///< -1: nobody came
    std::thread thread_;
};

} // namespace mpath::net::test
