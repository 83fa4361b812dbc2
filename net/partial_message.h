// SPDX-License-Identifier: GPL-2.0-only
// Moving a message in parts through a socket, without ever blocking.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>

namespace mpath::net {

/// Bytes of all its pieces.
std::size_t message_length(const msghdr& message) noexcept;

/// As send() and recv(), for what lies behind the first `moved` bytes of `message`, which is the same as
/// before when they return. Precondition: `moved` is less than its length, or 0.
ssize_t send_rest(int fd, const msghdr& message, std::size_t moved) noexcept;
ssize_t receive_rest(int fd, const msghdr& message, std::size_t moved) noexcept;

} // namespace mpath::net
