// SPDX-License-Identifier: GPL-2.0-only
#include "net/stream.h"

#include <algorithm>
#include <cstring>

namespace mpath::net {
namespace {

/// From here on one MSG_WAITALL receive beats several that each wake us for a part.
constexpr std::size_t kWaitAllFrom = 32 * 1024;

Stream& stream_of(Operation& operation) {
    return *static_cast<Stream*>(operation.owner);
}

} // namespace

Stream::Stream(Reactor& reactor, UniqueFd socket, Handler& handler)
    : reactor_(reactor), socket_(std::move(socket)), handler_(handler) {
    send_operation_.owner = this;
    send_operation_.done = sent;
    receive_operation_.owner = this;
    receive_operation_.done = received;
    open_->number = 1;
}

Stream::~Stream() = default;

// ---- sending

void Stream::append(const std::byte* data, std::size_t length) noexcept {
    Batch& batch = *open_;
    if (batch.pieces > 0) {
        iovec& last = batch.iov[batch.pieces - 1];
        if (static_cast<std::byte*>(last.iov_base) + last.iov_len == data) {
            last.iov_len += length;
            batch.bytes += length;
            return;
        }
    }
    batch.iov[batch.pieces++] = {const_cast<std::byte*>(data), length};
    batch.bytes += length;
}

std::byte* Stream::append_header(std::size_t length) noexcept {
    std::byte* header = open_->headers.get() + open_->used;
    open_->used += length;
    append(header, length);
    return header;
}

void Stream::append_payload(const std::byte* data, std::size_t length) noexcept {
    append(data, length);
}

void Stream::flush() noexcept {
    if (open_->pieces == 0 || closing_) {
        return;
    }
    if (sending_ != nullptr) {
        flush_wanted_ = true;
        return;
    }
    flush_wanted_ = false;
    sending_ = open_;
    open_ = sending_ == &batches_[0] ? &batches_[1] : &batches_[0];
    open_->number = sending_->number + 1;
    send_message_.msg_iov = sending_->iov.data();
    send_message_.msg_iovlen = sending_->pieces;
    reactor_.send(send_operation_, socket_.get(), &send_message_);
}

void Stream::sent(Operation& operation, int result) noexcept {
    Stream& stream = stream_of(operation);
    if (stream.closing_) {
        stream.finish_close();
    } else if (result <= 0) {
        stream.close({result < 0 ? -result : EPIPE, "the connection broke while sending"}, Ending::abort);
        stream.finish_close();
    } else {
        stream.on_sent(static_cast<std::size_t>(result));
    }
}

void Stream::on_sent(std::size_t count) noexcept {
    statistics_.bytes_sent += count;
    Batch& batch = *sending_;
    batch.bytes -= count;
    if (batch.bytes > 0) {
        while (count >= send_message_.msg_iov->iov_len) {
            count -= send_message_.msg_iov->iov_len;
            ++send_message_.msg_iov;
            --send_message_.msg_iovlen;
        }
        send_message_.msg_iov->iov_base = static_cast<std::byte*>(send_message_.msg_iov->iov_base) + count;
        send_message_.msg_iov->iov_len -= count;
        reactor_.send(send_operation_, socket_.get(), &send_message_);
        return;
    }
    sent_batch_ = batch.number;
    batch.used = batch.pieces = 0;
    sending_ = nullptr;
    if (flush_wanted_) {
        flush();
    }
    handler_.on_sent();
}

// ---- receiving

void Stream::receive_direct(std::byte* target, std::size_t length, std::size_t behind) noexcept {
    direct_ = target;
    direct_left_ = length;
    direct_behind_ = behind;
}

void Stream::receive() noexcept {
    // Staging starts over whenever it is empty; otherwise the rest (less than one header) moves to the front
    // when the tail got short.
    if (begin_ == end_) {
        begin_ = end_ = 0;
    } else if (kStagingSize - end_ < std::min(window_, kStagingSize / 2)) {
        std::memmove(staging_.get(), staging_.get() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    std::size_t pieces = 0;
    int flags = 0;
    if (direct_left_ > 0) {
        receive_iov_[pieces++] = {direct_, direct_left_};
        flags = direct_left_ >= kWaitAllFrom ? MSG_WAITALL : 0;
    }
    const std::size_t staged = flags == 0 ? std::min(window_, kStagingSize - end_) : direct_behind_;
    if (staged > 0) {
        receive_iov_[pieces++] = {staging_.get() + end_, staged};
    }
    receive_message_.msg_iov = receive_iov_.data();
    receive_message_.msg_iovlen = pieces;
    reactor_.receive(receive_operation_, socket_.get(), &receive_message_, flags);
}

void Stream::received(Operation& operation, int result) noexcept {
    Stream& stream = stream_of(operation);
    if (stream.closing_) {
        stream.finish_close();
    } else if (result > 0) {
        stream.on_received(static_cast<std::size_t>(result));
    } else if (result == -EAGAIN || result == -EINTR) {
        stream.receive();
    } else {
        stream.close(result == 0 ? Error{ECONNRESET, "the peer closed the connection"}
                                 : Error{-result, std::string("the connection broke: ") + strerror(-result)},
                     Ending::abort);
        stream.finish_close();
    }
}

void Stream::on_received(std::size_t count) noexcept {
    statistics_.bytes_received += count;
    if (direct_left_ > 0) {
        const std::size_t direct = std::min(count, direct_left_);
        statistics_.bytes_received_direct += direct;
        direct_ += direct;
        direct_left_ -= direct;
        count -= direct;
        if (direct_left_ == 0) {
            handler_.on_direct_received();
        }
    }
    end_ += count;
    if (!closing_ && begin_ != end_) {
        parse();
    }
    if (closing_) {
        finish_close();
    } else {
        receive();
    }
}

void Stream::parse() noexcept {
    begin_ += handler_.on_data({staging_.get() + begin_, end_ - begin_});
}

// ---- ending

void Stream::close(Error reason, Ending ending) noexcept {
    if (closing_) {
        return;
    }
    closing_ = true;
    ending_ = ending;
    close_reason_ = std::move(reason);
    for (Operation* operation : {&send_operation_, &receive_operation_}) {
        if (operation->pending) {
            reactor_.cancel(*operation);
        }
    }
}

void Stream::finish_close() noexcept {
    if (send_operation_.pending || receive_operation_.pending || !socket_.valid()) {
        return;
    }
    if (ending_ == Ending::abort) {
        const linger now{1, 0};
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }
    socket_.reset();
    handler_.on_closed(close_reason_);
}

} // namespace mpath::net
