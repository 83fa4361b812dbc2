// SPDX-License-Identifier: GPL-2.0-only
#include "target/send_queue.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace mpath::target {

namespace {
constexpr std::size_t kMaxPieces = 1024; // what the kernel takes in one call (UIO_MAXIOV)
constexpr std::size_t kCongestedSegments = 32 * 1024;
constexpr std::size_t kCongestedHeaders = 4 << 20;
} // namespace

SendQueue::SendQueue() {
    headers_.reserve(64 * 1024);
    segments_.reserve(4096);
}

void SendQueue::append(const void* bytes, std::size_t length) {
    const std::size_t start = headers_.size();
    const auto* from = static_cast<const std::byte*>(bytes);
    headers_.insert(headers_.end(), from, from + length);
    if (!empty() && segments_.back().external == nullptr) {
        segments_.back().length += length;
    } else {
        segments_.push_back({nullptr, start, length});
    }
}

void SendQueue::append_external(const std::byte* bytes, std::size_t length) {
    segments_.push_back({bytes, 0, length});
}

bool SendQueue::congested() const {
    return segments_.size() >= kCongestedSegments || headers_.size() >= kCongestedHeaders;
}

SendQueue::Outcome SendQueue::flush(int socket, std::size_t most) {
    std::array<iovec, kMaxPieces> pieces;
    while (!empty()) {
        std::size_t count = 0;
        std::size_t total = 0;
        std::size_t skip = sent_;
        for (std::size_t i = first_; i < segments_.size() && count < kMaxPieces && total < most; ++i) {
            const Segment& segment = segments_[i];
            const std::byte* from =
                segment.external != nullptr ? segment.external : headers_.data() + segment.start;
            const std::size_t length = std::min(segment.length - skip, most - total);
            pieces[count++] = {const_cast<std::byte*>(from + skip), length};
            total += length;
            skip = 0;
        }
        msghdr message{};
        message.msg_iov = pieces.data();
        message.msg_iovlen = count;
        const ssize_t sent = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno == EAGAIN || errno == EWOULDBLOCK ? Outcome::blocked : Outcome::failed;
        }
        consume(static_cast<std::size_t>(sent));
        most -= static_cast<std::size_t>(sent);
        if (static_cast<std::size_t>(sent) < total || (most == 0 && !empty())) {
            return Outcome::blocked;
        }
    }
    return Outcome::drained;
}

void SendQueue::consume(std::size_t bytes) {
    while (bytes > 0) {
        const std::size_t left = segments_[first_].length - sent_;
        if (bytes < left) {
            sent_ += bytes;
            return;
        }
        bytes -= left;
        sent_ = 0;
        ++first_;
    }
    if (empty()) {
        segments_.clear();
        headers_.clear();
        first_ = 0;
    }
}

} // namespace mpath::target
