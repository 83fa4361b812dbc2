// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace mpath::target {

/// Bytes on their way to a socket: headers are copied in, payload is sent from where it lies. Everything
/// appended between two flushes leaves in one system call, as long as the kernel takes it.
class SendQueue {
public:
    enum class Outcome : std::uint8_t { drained, blocked, failed };

    SendQueue();

    /// Copies the bytes.
    void append(const void* bytes, std::size_t length);
    /// Keeps the pointer: the bytes must stay until they are sent.
    void append_external(const std::byte* bytes, std::size_t length);

    [[nodiscard]] bool empty() const { return first_ == segments_.size(); }
    /// So much unsent that the peer should not be listened to until it reads.
    [[nodiscard]] bool congested() const;

    /// Sends `most` bytes at most; if more are left, the outcome is `blocked` whatever the socket says.
    Outcome flush(int socket, std::size_t most = std::numeric_limits<std::size_t>::max());

private:
    struct Segment {
        const std::byte* external; ///< nullptr: `length` bytes of headers_ from `start`
        std::size_t start;
        std::size_t length;
    };

    void consume(std::size_t bytes);

    std::vector<std::byte> headers_;
    std::vector<Segment> segments_;
    std::size_t first_ = 0; ///< first segment not wholly sent
    std::size_t sent_ = 0;  ///< bytes of it that are
};

} // namespace mpath::target
