// SPDX-License-Identifier: GPL-2.0-only
#include "target/connection.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/crc32c.h"
#include "base/endian.h"
#include "target/terms.h"

namespace mpath::target {

namespace {

constexpr std::size_t kStaging = 256 * 1024;

/// TLS record: alert, version 3.3, two bytes; fatal, unexpected_message. RFC 8446, sections 5.1 and 6.
constexpr std::array<std::uint8_t, 7> kTlsAlert = {0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x0a};

constexpr std::string_view kGarbage =
    "\xde\xad\xbe\xef this is not an NVMe/TCP protocol data unit \xde\xad\xbe\xef";

template <typename Pdu>
Pdu read_pdu(std::span<const std::byte> bytes) {
    Pdu pdu;
    std::memcpy(&pdu, bytes.data(), sizeof(pdu));
    return pdu;
}

} // namespace

Connection::Connection(UniqueFd socket, Subsystem& subsystem, Listener& listener)
    : ServedConnection(std::move(socket), listener, subsystem.options()), subsystem_(subsystem),
      writer_(send_queue_, subsystem.options(), variation_.get()),
      queue_(subsystem, listener, writer_, variation_.get()),
      staging_(std::make_unique_for_overwrite<std::byte[]>(kStaging)) {
    rules_.max_capsule = std::max(subsystem.options().in_capsule, nvme::kAdminInCapsuleSize);
}

void Connection::on_readable(Nanoseconds now) {
    if (has(ActionKind::stall_reading)) {
        return;
    }
    if (phase_ == Phase::lingering) {
        begin_ = end_ = 0; // nothing the host still sends matters
        receive();
        return;
    }
    if (!receive()) {
        return;
    }
    if (subsystem_.options().demand_tls) {
        refuse_plaintext(now);
        return;
    }
    consume(now);
    answer_round(now);
}

bool Connection::receive() {
    if (begin_ != 0) { // less than one header is left
        std::memmove(staging_.get(), staging_.get() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    std::array<iovec, 2> pieces{};
    std::size_t direct = 0;
    if (in_payload_ && payload_.to != nullptr) { // then nothing is staged
        direct = payload_.length;
        pieces[0] = {payload_.to, direct};
    }
    pieces[1] = {staging_.get() + end_, kStaging - end_};
    msghdr message{};
    message.msg_iov = direct != 0 ? pieces.data() : &pieces[1];
    message.msg_iovlen = direct != 0 ? 2 : 1;
    const ssize_t received = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT);
    if (received <= 0) {
        if (received == 0 || (errno != EAGAIN && errno != EINTR)) {
            phase_ = Phase::closed;
        }
        return false;
    }
    const std::size_t straight = std::min(direct, static_cast<std::size_t>(received));
    if (straight != 0) {
        received_payload({payload_.to, straight});
    }
    end_ += static_cast<std::size_t>(received) - straight;
    return true;
}

void Connection::consume(Nanoseconds now) {
    while (phase_ == Phase::open && !has(ActionKind::stall_reading)) {
        if (in_payload_) {
            take_payload(now);
            if (in_payload_) {
                return;
            }
        }
        const std::size_t taken = take_header({staging_.get() + begin_, end_ - begin_}, now);
        if (taken == 0) {
            return;
        }
        begin_ += taken;
    }
}

/// Accounts for bytes that are where they belong.
void Connection::received_payload(std::span<const std::byte> bytes) {
    if (rules_.data_digest) {
        digest_ = crc32c(bytes, digest_);
    }
    if (payload_.to != nullptr) {
        payload_.to += bytes.size();
    }
    payload_.length -= static_cast<std::uint32_t>(bytes.size());
}

void Connection::take_payload(Nanoseconds now) {
    const std::size_t bytes = std::min<std::size_t>(payload_.length, end_ - begin_);
    if (bytes != 0) {
        const std::byte* from = staging_.get() + begin_;
        if (payload_.to != nullptr) {
            std::memcpy(payload_.to, from, bytes);
        }
        received_payload({from, bytes});
        begin_ += bytes;
    }
    if (payload_.length != 0) {
        return;
    }
    bool intact = true;
    if (rules_.data_digest) {
        if (end_ - begin_ < kDigestSize) {
            return;
        }
        Le32 digest;
        std::memcpy(&digest, staging_.get() + begin_, sizeof(digest));
        begin_ += kDigestSize;
        intact = digest == crc32c_end(digest_);
        listener_.counters.data_digest_errors += intact ? 0 : 1;
    }
    in_payload_ = false;
    queue_.payload_received(intact, now);
}

std::size_t Connection::take_header(std::span<const std::byte> bytes, Nanoseconds now) {
    if (bytes.size() < sizeof(nvme::CommonHeader)) {
        return 0;
    }
    const auto common = read_pdu<nvme::CommonHeader>(bytes);
    const auto frame = frame_of(common, rules_);
    if (!frame) {
        const auto known = std::clamp<std::size_t>(common.hlen, sizeof(common), nvme::kMaxTermReqData);
        refuse(frame.error(), bytes.first(std::min(bytes.size(), known)), now);
        return 0;
    }
    if (bytes.size() < frame->header) {
        return 0;
    }
    const auto header = bytes.first(frame->header);
    if (rules_.header_digest && frame->type != nvme::PduType::h2c_term_req &&
        !header_is_intact(header, common.hlen)) {
        ++listener_.counters.header_digest_errors;
        refuse({nvme::FatalStatus::header_digest_error, 0}, header.first(common.hlen), now);
        return 0;
    }
    const auto payload = handle(*frame, header, now);
    if (!payload) {
        refuse(payload.error(), header.first(std::min<std::size_t>(header.size(), common.hlen)), now);
        return 0;
    }
    payload_ = *payload;
    in_payload_ = payload_.length != 0;
    digest_ = kCrc32cBegin;
    return frame->header;
}

tl::expected<Payload, Fault> Connection::handle(const Frame& frame, std::span<const std::byte> header,
                                                Nanoseconds now) {
    switch (frame.type) {
    case nvme::PduType::capsule_cmd:
        return handle_capsule(frame, header, now);
    case nvme::PduType::h2c_data:
        return queue_.h2c_data(read_pdu<nvme::H2cData>(header), frame.data);
    case nvme::PduType::ic_req:
        return handle_ic_req(header);
    default:
        heard_term_req(read_pdu<nvme::TermReq>(header), now);
        return Payload{};
    }
}

tl::expected<Payload, Fault> Connection::handle_capsule(const Frame& frame, std::span<const std::byte> header,
                                                        Nanoseconds now) {
    const auto sqe = read_pdu<nvme::CapsuleCmd>(header).sqe;
    if (subsystem_.observer != nullptr && queue_.serves_io() && sqe.opcode != nvme::kFabricsOpcode) {
        subsystem_.observer->command_arrives(listener_, queue_.subject_of(sqe), now);
        if (phase_ != Phase::open) {
            return Payload{}; // the connection did not live to see it
        }
    }
    return queue_.capsule(sqe, frame.data, now);
}

/// The host is about to close.
void Connection::heard_term_req(const nvme::TermReq& request, Nanoseconds now) {
    Counters& counters = listener_.counters;
    ++counters.host_term_reqs;
    counters.host_fes = request.fes;
    counters.host_fei = request.fei;
    linger(now);
}

tl::expected<Payload, Fault> Connection::handle_ic_req(std::span<const std::byte> header) {
    const auto request = read_pdu<nvme::IcReq>(header);
    const auto terms = agree(request, subsystem_.options(), variation_.get());
    if (!terms) {
        return tl::unexpected(terms.error());
    }
    rules_.initialized = true;
    rules_.header_digest = terms->header_digest;
    rules_.data_digest = terms->data_digest;
    rules_.cpda = terms->cpda;
    rules_.max_h2c_data = terms->max_h2c_data;
    if (has(ActionKind::mute)) {
        return Payload{};
    }
    writer_.ic_resp(*terms);
    queue_.set_max_r2t(terms->max_r2t);
    if (subsystem_.options().garbage) {
        send_queue_.append(kGarbage.data(), kGarbage.size());
    }
    return Payload{};
}

void Connection::refuse(const Fault& fault, std::span<const std::byte> offending, Nanoseconds now) {
    ++listener_.counters.violations;
    writer_.term_req(fault, offending);
    linger(now);
}

void Connection::refuse_plaintext(Nanoseconds now) {
    send_queue_.append(kTlsAlert.data(), kTlsAlert.size());
    linger(now);
    flush();
}

void Connection::linger(Nanoseconds now) {
    ServedConnection::linger(now);
    in_payload_ = false;
}

void Connection::resume(Nanoseconds now) {
    consume(now);
    answer_round(now);
}

void Connection::on_timer(Nanoseconds now) {
    if (lingers(now)) {
        return;
    }
    queue_.expire(now);
    answer_round(now);
}

Nanoseconds Connection::next_due() const {
    return phase_ == Phase::lingering ? linger_until_ : queue_.next_due();
}

/// Sends what the round has led to.
void Connection::answer_round(Nanoseconds now) {
    if (phase_ == Phase::open) {
        queue_.release(now);
    }
    flush();
}

} // namespace mpath::target
