// SPDX-License-Identifier: GPL-2.0-only
#include "net/partial_message.h"

#include <utility>

namespace mpath::net {
namespace {

/// Calls `move` with a message that begins behind the first `moved` bytes of the given one. The piece in
/// which that falls is shortened for the duration of the call.
template <typename Move>
ssize_t with_rest(const msghdr& message, std::size_t moved, Move move) noexcept {
    msghdr rest = message;
    if (moved == 0) {
        return move(rest);
    }
    while (moved >= rest.msg_iov->iov_len) {
        moved -= rest.msg_iov->iov_len;
        ++rest.msg_iov;
        --rest.msg_iovlen;
    }
    iovec& first = *rest.msg_iov;
    const iovec whole =
        std::exchange(first, {static_cast<std::byte*>(first.iov_base) + moved, first.iov_len - moved});
    const ssize_t count = move(rest);
    first = whole;
    return count;
}

} // namespace

std::size_t message_length(const msghdr& message) noexcept {
    std::size_t length = 0;
    for (std::size_t i = 0; i < message.msg_iovlen; ++i) {
        length += message.msg_iov[i].iov_len;
    }
    return length;
}

ssize_t send_rest(int fd, const msghdr& message, std::size_t moved) noexcept {
    return with_rest(message, moved, [fd](const msghdr& rest) {
        constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
        return rest.msg_iovlen == 1 ? ::send(fd, rest.msg_iov->iov_base, rest.msg_iov->iov_len, kFlags)
                                    : ::sendmsg(fd, &rest, kFlags);
    });
}

ssize_t receive_rest(int fd, const msghdr& message, std::size_t moved) noexcept {
    return with_rest(message, moved, [fd](msghdr& rest) {
        return rest.msg_iovlen == 1 ? ::recv(fd, rest.msg_iov->iov_base, rest.msg_iov->iov_len, MSG_DONTWAIT)
                                    : ::recvmsg(fd, &rest, MSG_DONTWAIT);
    });
}

} // namespace mpath::net
