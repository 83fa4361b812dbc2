// SPDX-License-Identifier: GPL-2.0-only
#include "target/iscsi/connection.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include "base/crc32c.h"
#include "base/endian.h"

namespace mpath::target::scsi {

namespace {

constexpr std::size_t kStaging = 256 * 1024;
constexpr std::uint32_t kMostLoginData = 8192;

} // namespace

Connection::Connection(UniqueFd socket, Node& node, Listener& listener)
    : ServedConnection(std::move(socket), listener, node.options()), node_(node),
      writer_(send_queue_, node.options(), variation_.get()), login_(node, listener),
      staging_(std::make_unique_for_overwrite<std::byte[]>(kStaging)) {}

Connection::~Connection() {
    if (session_ != nullptr) {
        session_->end();
    }
}

Subject Connection::subject() const {
    return {.controller = session_ == nullptr ? std::uint16_t{0} : session_->tsih()};
}

Subject Connection::subject_of(const iscsi::Bhs& header) const {
    if (tasks_ != nullptr) {
        return tasks_->subject_of(header);
    }
    Subject about = subject();
    about.request = &header;
    return about;
}

void Connection::on_readable(Nanoseconds now) {
    if (has(ActionKind::stall_reading)) {
        return;
    }
    if (phase_ == Phase::lingering) {
        begin_ = end_ = 0; // nothing the initiator still sends matters
        receive();
        return;
    }
    if (receive()) {
        consume(now);
        answer_round(now);
    }
}

bool Connection::receive() {
    if (begin_ != 0) { // less than one header is left
        std::memmove(staging_.get(), staging_.get() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    std::array<iovec, 2> pieces{};
    const bool direct = in_data_ && payload_.to != nullptr && payload_.kept != 0; // then nothing is staged
    if (direct) {
        pieces[0] = {payload_.to, payload_.kept};
    }
    pieces[1] = {staging_.get() + end_, kStaging - end_};
    msghdr message{};
    message.msg_iov = direct ? pieces.data() : &pieces[1];
    message.msg_iovlen = direct ? 2 : 1;
    const ssize_t received = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT);
    if (received <= 0) {
        if (received == 0 || (errno != EAGAIN && errno != EINTR)) {
            phase_ = Phase::closed;
        }
        return false;
    }
    const std::size_t straight =
        direct ? std::min(std::size_t{payload_.kept}, static_cast<std::size_t>(received)) : 0;
    if (straight != 0) {
        received_data({payload_.to, straight});
    }
    end_ += static_cast<std::size_t>(received) - straight;
    return true;
}

void Connection::consume(Nanoseconds now) {
    while (open() && !closed() && !has(ActionKind::stall_reading)) {
        if (in_data_) {
            take_data(now);
            if (in_data_) {
                return;
            }
            continue;
        }
        const std::size_t taken = take_header({staging_.get() + begin_, end_ - begin_}, now);
        if (taken == 0) {
            return;
        }
        begin_ += taken;
    }
}

/// Accounts for bytes of a payload that are where they belong.
void Connection::received_data(std::span<const std::byte> bytes) {
    if (writer_.terms().data_digest) {
        digest_ = crc32c(bytes, digest_);
    }
    if (payload_.to != nullptr) {
        payload_.to += bytes.size();
    }
    payload_.kept -= static_cast<std::uint32_t>(bytes.size());
}

void Connection::take_data(Nanoseconds now) {
    const std::size_t wanted = std::min<std::size_t>(payload_.kept, end_ - begin_);
    if (wanted != 0) {
        const std::byte* from = staging_.get() + begin_;
        if (payload_.to != nullptr) {
            std::memcpy(payload_.to, from, wanted);
        }
        received_data({from, wanted});
        begin_ += wanted;
    }
    if (payload_.kept != 0) {
        return;
    }
    const std::size_t skipped = std::min<std::size_t>(to_skip_, end_ - begin_);
    if (writer_.terms().data_digest) {
        digest_ = crc32c({staging_.get() + begin_, skipped}, digest_);
    }
    begin_ += skipped;
    to_skip_ -= static_cast<std::uint32_t>(skipped);
    if (to_skip_ != 0) {
        return;
    }
    bool intact = true;
    if (writer_.terms().data_digest) {
        Le32 digest;
        if (end_ - begin_ < sizeof(digest)) {
            return;
        }
        std::memcpy(&digest, staging_.get() + begin_, sizeof(digest));
        begin_ += sizeof(digest);
        intact = digest == crc32c_end(digest_);
        listener_.counters.data_digest_errors += intact ? 0 : 1;
    }
    in_data_ = false;
    end_of_pdu(intact, now);
}

/// Bytes of the header taken from the front of `bytes`; 0: there is not enough yet, or no more wanted.
std::size_t Connection::take_header(std::span<const std::byte> bytes, Nanoseconds now) {
    if (bytes.size() < sizeof(header_)) {
        return 0;
    }
    std::memcpy(&header_, bytes.data(), sizeof(header_));
    const std::size_t length = sizeof(header_) + std::size_t{4} * header_.ahs_length;
    const std::size_t whole = length + (writer_.terms().header_digest ? sizeof(Le32) : 0);
    if (bytes.size() < whole) {
        return 0;
    }
    if (writer_.terms().header_digest) {
        Le32 digest;
        std::memcpy(&digest, bytes.data() + length, sizeof(digest));
        if (digest !=
            crc32c(bytes.first(length))) { // where the next one begins is as unknown as what this is
            ++listener_.counters.header_digest_errors;
            ++listener_.counters.violations;
            linger(now);
            return 0;
        }
    }
    const std::uint32_t most = !logged_in_ ? kMostLoginData : writer_.terms().max_receive;
    then_ = Then::nothing;
    tl::expected<Payload, Fault> payload = header_.data_length > most ? tl::unexpected(Fault{}) : handle(now);
    if (!payload) {
        refuse(payload.error(), now);
        if (!open()) {
            return 0;
        }
        payload = Payload{};
        then_ = Then::nothing;
    }
    if (!open() || closed()) {
        return 0;
    }
    payload_ = *payload;
    to_skip_ = iscsi::padded(header_.data_length) - payload_.kept;
    in_data_ = header_.data_length != 0;
    digest_ = kCrc32cBegin;
    if (!in_data_ && then_ != Then::task) {
        end_of_pdu(true, now);
    }
    return whole;
}

void Connection::end_of_pdu(bool intact, Nanoseconds now) {
    const Then then = std::exchange(then_, Then::nothing);
    if (!intact) {
        refuse({iscsi::reject_reason::kDataDigestError, false}, now);
        if (then == Then::task) {
            tasks_->payload_received(false, now);
        }
        return;
    }
    switch (then) {
    case Then::task:
        tasks_->payload_received(true, now);
        break;
    case Then::login:
        answer_login(now);
        break;
    case Then::nop:
        answer_nop();
        break;
    case Then::text:
        if (const auto fine = answer_text(); !fine) {
            refuse(fine.error(), now);
        }
        break;
    default:
        break;
    }
}

void Connection::resume(Nanoseconds now) {
    consume(now);
    answer_round(now);
}

void Connection::linger(Nanoseconds now) {
    ServedConnection::linger(now);
    in_data_ = false;
}

void Connection::on_timer(Nanoseconds now) {
    if (lingers(now)) {
        return;
    }
    if (now >= leave_by_) {
        drop();
        return;
    }
    if (tasks_ != nullptr) {
        tasks_->expire(now);
    }
    answer_round(now);
}

Nanoseconds Connection::next_due() const {
    if (phase_ == Phase::lingering) {
        return linger_until_;
    }
    return std::min(leave_by_, tasks_ == nullptr ? kNever : tasks_->next_due());
}

/// Sends what the round has led to.
void Connection::answer_round(Nanoseconds now) {
    if (full_feature() && tasks_ != nullptr) {
        tasks_->release(now);
    }
    flush();
}

} // namespace mpath::target::scsi
