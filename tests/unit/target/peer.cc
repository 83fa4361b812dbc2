// SPDX-License-Identifier: GPL-2.0-only
#include "peer.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>

#include <gtest/gtest.h>

#include "base/crc32c.h"

namespace mpath::target {

Bytes pattern(std::size_t length, unsigned seed) {
    Bytes bytes(length);
    for (std::size_t i = 0; i < length; ++i) {
        bytes[i] = static_cast<std::byte>(1 + (i * 7 + i / 251 + seed * 31) % 255);
    }
    return bytes;
}

Bytes Pdu::data() const {
    const auto pdo = static_cast<std::ptrdiff_t>(bytes[3]);
    const std::ptrdiff_t trailer = (flags() & nvme::pdu_flag::kDataDigest) != 0 ? 4 : 0;
    return pdo == 0 ? Bytes{} : Bytes(bytes.begin() + pdo, bytes.end() - trailer);
}

bool Pdu::header_digest_is_right() const {
    const auto hlen = static_cast<std::size_t>(bytes[2]);
    if ((flags() & nvme::pdu_flag::kHeaderDigest) == 0 || bytes.size() < hlen + 4) {
        return false;
    }
    Le32 digest;
    std::memcpy(&digest, bytes.data() + hlen, sizeof(digest));
    return digest == crc32c(std::span(bytes).first(hlen));
}

bool Pdu::data_digest_is_right() const {
    if ((flags() & nvme::pdu_flag::kDataDigest) == 0) {
        return false;
    }
    Le32 digest;
    std::memcpy(&digest, bytes.data() + bytes.size() - sizeof(digest), sizeof(digest));
    return digest == crc32c(data());
}

Options Bench::small() {
    Options options;
    options.size = 4 << 20;
    options.block_size = 512;
    options.device_id = "bench";
    return options;
}

Bench::Bench(Options options) {
    options.listeners.resize(1);
    listener.options = options.listeners[0];
    auto fine = checked(options);
    EXPECT_TRUE(fine) << (fine ? "" : fine.error().text);
    auto created = Subsystem::create(*fine);
    EXPECT_TRUE(created);
    subsystem = std::move(*created);
}

Peer::Peer(Bench& bench) : bench_(bench) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    socket_.reset(ends[0]);
    connection_ = std::make_unique<Connection>(UniqueFd(ends[1]), *bench.subsystem, bench.listener);
}

void Peer::pump() {
    if (!connection_->closed()) {
        connection_->on_writable();
        connection_->on_readable(bench_.now);
        if (connection_->next_due() <= bench_.now) {
            connection_->on_timer(bench_.now);
        }
    }
    std::array<std::byte, 65536> buffer;
    for (;;) {
        const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (count <= 0) {
            at_end_ = at_end_ || count == 0 || errno == ECONNRESET;
            return;
        }
        received_.insert(received_.end(), buffer.begin(), buffer.begin() + count);
    }
}

void Peer::send(std::span<const std::byte> bytes) {
    while (!bytes.empty() && !connection_->closed()) {
        const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(count));
        }
        pump();
    }
}

std::optional<Pdu> Peer::receive() {
    // Long answers come in as many rounds as the socket's buffer makes of them.
    for (int idle = 0; idle < 3;) {
        if (received_.size() >= sizeof(nvme::CommonHeader)) {
            nvme::CommonHeader header;
            std::memcpy(&header, received_.data(), sizeof(header));
            const auto length = static_cast<std::ptrdiff_t>(header.plen.get());
            if (std::ssize(received_) >= length) {
                Pdu pdu{Bytes(received_.begin(), received_.begin() + length)};
                received_.erase(received_.begin(), received_.begin() + length);
                return pdu;
            }
        }
        const std::size_t before = received_.size();
        pump();
        idle = received_.size() == before ? idle + 1 : 0;
    }
    return std::nullopt;
}

Bytes Peer::receive_bytes() {
    pump();
    return std::exchange(received_, {});
}

bool Peer::ended() {
    pump();
    return at_end_ || connection_->closed();
}

void Peer::ic_req(const Wish& wish) {
    nvme::IcReq request;
    request.common.hlen = sizeof(request);
    request.common.plen = sizeof(request);
    request.hpda = wish.hpda;
    request.dgst = static_cast<std::uint8_t>((wish.header_digest ? 1 : 0) | (wish.data_digest ? 2 : 0));
    request.maxr2t = wish.max_r2t - 1;
    send(bytes_of(request));
    const auto answer = receive();
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->type(), nvme::PduType::ic_resp);
    ic_resp_ = answer->as<nvme::IcResp>();
}

Bytes Peer::sealed(Bytes header, std::span<const std::byte> data) const {
    const std::size_t alignment = (ic_resp_.cpda + 1U) * 4;
    const bool header_digest = (ic_resp_.dgst & 1) != 0;
    const bool data_digest = (ic_resp_.dgst & 2) != 0 && !data.empty();
    const std::size_t start = header.size() + (header_digest ? 4 : 0);
    const std::size_t pdo = data.empty() ? 0 : (start + alignment - 1) / alignment * alignment;
    nvme::CommonHeader common;
    std::memcpy(&common, header.data(), sizeof(common));
    common.flags |= static_cast<std::uint8_t>((header_digest ? nvme::pdu_flag::kHeaderDigest : 0) |
                                              (data_digest ? nvme::pdu_flag::kDataDigest : 0));
    common.pdo = static_cast<std::uint8_t>(pdo);
    common.plen = static_cast<std::uint32_t>(std::max(start, pdo) + data.size() + (data_digest ? 4 : 0));
    std::memcpy(header.data(), &common, sizeof(common));
    const Le32 of_header(crc32c(header));
    const Le32 of_data(crc32c(data));
    if (header_digest) {
        const Bytes digest = bytes_of(of_header);
        header.insert(header.end(), digest.begin(), digest.end());
    }
    header.resize(std::max(start, pdo), std::byte{0x5a});
    header.insert(header.end(), data.begin(), data.end());
    if (data_digest) {
        const Bytes digest = bytes_of(of_data);
        header.insert(header.end(), digest.begin(), digest.end());
    }
    return header;
}

void Peer::capsule(const nvme::Sqe& sqe, std::span<const std::byte> data) {
    send(sealed(bytes_of(capsule_pdu(sqe, data.size())), data));
}

void Peer::answer_r2t(const nvme::R2t& r2t, std::span<const std::byte> all_data, std::uint32_t step) {
    const std::uint32_t end = r2t.r2to + r2t.r2tl;
    for (std::uint32_t at = r2t.r2to; at < end;) {
        const std::uint32_t length = std::min(step, end - at);
        send(sealed(bytes_of(data_pdu(r2t, at, length)), all_data.subspan(at, length)));
        at += length;
    }
}

nvme::Cqe Peer::completion() {
    const auto pdu = receive();
    EXPECT_TRUE(pdu) << "no completion came";
    if (!pdu) {
        return {};
    }
    EXPECT_EQ(pdu->type(), nvme::PduType::capsule_resp);
    return pdu->as<nvme::CapsuleResp>().cqe;
}

nvme::Cqe Peer::connect(std::uint16_t qid, std::uint16_t cntlid, std::uint16_t sqsize, std::uint8_t cattr,
                        std::uint32_t kato_ms) {
    auto command = connect_command(qid, sqsize);
    command.cattr = cattr;
    command.kato = kato_ms;
    capsule(std::bit_cast<nvme::Sqe>(command), bytes_of(connect_data(cntlid)));
    return completion();
}

nvme::Cqe Peer::set_cc(std::uint32_t value) {
    nvme::PropertySetCommand command;
    command.offset = nvme::property::kCc;
    command.value = value;
    capsule(std::bit_cast<nvme::Sqe>(command));
    return completion();
}

Association::Association(Bench& bench, std::uint8_t cattr, const Wish& wish) : admin(bench), io(bench) {
    admin.ic_req();
    cntlid = static_cast<std::uint16_t>(admin.connect(0, nvme::kDynamicController).dw0.get());
    admin.set_cc(kEnableController);
    io.ic_req(wish);
    EXPECT_EQ(status_of(io.connect(1, cntlid, 31, cattr)), nvme::StatusCode::success);
}

nvme::CapsuleCmd capsule_pdu(const nvme::Sqe& sqe, std::size_t data) {
    nvme::CapsuleCmd pdu;
    pdu.common.type = static_cast<std::uint8_t>(nvme::PduType::capsule_cmd);
    pdu.common.hlen = sizeof(pdu);
    pdu.common.plen = sizeof(pdu);
    pdu.sqe = sqe;
    if (data != 0) {
        pdu.sqe.sgl.identifier = nvme::kSglInCapsule;
        pdu.sqe.sgl.length = static_cast<std::uint32_t>(data);
    }
    return pdu;
}

nvme::H2cData data_pdu(const nvme::R2t& r2t, std::uint32_t offset, std::uint32_t length) {
    nvme::H2cData pdu;
    pdu.common.type = static_cast<std::uint8_t>(nvme::PduType::h2c_data);
    pdu.common.flags = offset + length == r2t.r2to + r2t.r2tl ? nvme::pdu_flag::kLastPdu : 0;
    pdu.common.hlen = sizeof(pdu);
    pdu.cccid = r2t.cccid;
    pdu.ttag = r2t.ttag;
    pdu.datao = offset;
    pdu.datal = length;
    return pdu;
}

nvme::ConnectCommand connect_command(std::uint16_t qid, std::uint16_t sqsize) {
    nvme::ConnectCommand command;
    command.qid = qid;
    command.sqsize = sqsize;
    command.sgl.length = sizeof(nvme::ConnectData);
    command.sgl.identifier = nvme::kSglInCapsule;
    return command;
}

nvme::ConnectData connect_data(std::uint16_t cntlid) {
    nvme::ConnectData data;
    data.hostid.fill(0x42);
    data.cntlid = cntlid;
    const std::string subnqn = Options().subnqn;
    const std::string hostnqn = "nqn.2014-08.org.nvmexpress:uuid:0a0b0c0d-0000-4000-8000-000000000001";
    std::copy(subnqn.begin(), subnqn.end(), data.subnqn.begin());
    std::copy(hostnqn.begin(), hostnqn.end(), data.hostnqn.begin());
    return data;
}

nvme::Sqe blocks_command(std::uint8_t opcode, std::uint16_t cid, std::uint64_t slba, std::uint32_t blocks) {
    nvme::RwCommand command;
    command.opcode = opcode;
    command.flags = nvme::kSqeFlagsSgl;
    command.cid = cid;
    command.nsid = 1;
    command.slba = slba;
    command.nlb = static_cast<std::uint16_t>(blocks - 1);
    command.sgl.identifier = nvme::kSglTransportDataBlock;
    command.sgl.length = opcode == nvme::io_opcode::kWriteZeroes ? 0 : blocks * 512;
    return std::bit_cast<nvme::Sqe>(command);
}

nvme::Sqe admin_command(std::uint8_t opcode, std::uint16_t cid) {
    nvme::Sqe sqe;
    sqe.opcode = opcode;
    sqe.flags = nvme::kSqeFlagsSgl;
    sqe.cid = cid;
    sqe.sgl.identifier = nvme::kSglTransportDataBlock;
    return sqe;
}

nvme::StatusCode status_of(const nvme::Cqe& cqe) {
    return nvme::Status::from_cqe(cqe.status).code();
}

} // namespace mpath::target
