// SPDX-License-Identifier: GPL-2.0-only
// A host in a few lines: it says exactly the bytes a test wants said, over a socket pair, on the test's
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "nvme/wire/fabrics.h"
#include "nvme/wire/pdu.h"
#include "nvme/wire/status.h"
#include "target/connection.h"
#include "target/subsystem.h"

namespace mpath::target {

using Bytes = std::vector<std::byte>;

template <typename T>
Bytes bytes_of(const T& structure) {
    Bytes bytes(sizeof(T));
    std::memcpy(bytes.data(), &structure, sizeof(T));
    return bytes;
}

/// `length` bytes that differ from their neighbours and from other seeds' ones.
Bytes pattern(std::size_t length, unsigned seed = 1);

struct Pdu {
    Bytes bytes;

    [[nodiscard]] nvme::PduType type() const { return static_cast<nvme::PduType>(bytes[0]); }
    [[nodiscard]] std::uint8_t flags() const { return static_cast<std::uint8_t>(bytes[1]); }
    template <typename T>
    [[nodiscard]] T as() const {
        T structure;
        std::memcpy(&structure, bytes.data(), sizeof(T));
        return structure;
    }
    [[nodiscard]] Bytes data() const;
    /// Whether it has a digest of that kind, and the right one.
    [[nodiscard]] bool header_digest_is_right() const;
    [[nodiscard]] bool data_digest_is_right() const;
};

/// What a host asks for in ICReq.
struct Wish {
    std::uint8_t hpda = 0;
    bool header_digest = false;
    bool data_digest = false;
    std::uint32_t max_r2t = 1;
};

/// A subsystem with one listener, and the time, which stands still.
struct Bench {
    explicit Bench(Options options = small());
    static Options small(); ///< one namespace of 4 MiB with blocks of 512 bytes

    std::unique_ptr<Subsystem> subsystem;
    Listener listener;
    Nanoseconds now = kSecond;
};

/// One connection to a bench.
class Peer {
public:
    explicit Peer(Bench& bench);

    void send(std::span<const std::byte> bytes);
    /// The next PDU; nothing if none comes.
    std::optional<Pdu> receive();
    /// Received bytes that are no PDUs.
    Bytes receive_bytes();
    /// Nothing more will come: the target has closed its side.
    bool ended();

    void ic_req(const Wish& wish = {});
    [[nodiscard]] const nvme::IcResp& ic_resp() const { return ic_resp_; }
    /// The PDU with this header and data as ICResp wants it: alignment, digests, lengths.
    [[nodiscard]] Bytes sealed(Bytes header, std::span<const std::byte> data) const;
    void capsule(const nvme::Sqe& sqe, std::span<const std::byte> data = {});
    /// Answers one R2T with pieces of at most `step` bytes; returns after sending.
    void answer_r2t(const nvme::R2t& r2t, std::span<const std::byte> all_data, std::uint32_t step);
    nvme::Cqe completion(); ///< of the next PDU, which has to be a CapsuleResp
    nvme::Cqe connect(std::uint16_t qid, std::uint16_t cntlid, std::uint16_t sqsize = 31,
                      std::uint8_t cattr = 0, std::uint32_t kato_ms = 0);
    nvme::Cqe set_cc(std::uint32_t value);

    Connection& connection() { return *connection_; }

private:
    void pump();

    Bench& bench_;
    UniqueFd socket_;
    std::unique_ptr<Connection> connection_;
    nvme::IcResp ic_resp_;
    Bytes received_;
    bool at_end_ = false;
};

/// An admin queue that has enabled its controller, and an I/O queue beside it.
struct Association {
    explicit Association(Bench& bench, std::uint8_t cattr = 0, const Wish& wish = {});

    Peer admin;
    Peer io;
    std::uint16_t cntlid = 0;
};

inline constexpr std::uint32_t kEnableController =
    nvme::cc::kEnable | nvme::cc::kIosqes64 | nvme::cc::kIocqes16;

nvme::CapsuleCmd capsule_pdu(const nvme::Sqe& sqe, std::size_t data = 0);
nvme::H2cData data_pdu(const nvme::R2t& r2t, std::uint32_t offset, std::uint32_t length);
nvme::ConnectCommand connect_command(std::uint16_t qid, std::uint16_t sqsize);
nvme::ConnectData connect_data(std::uint16_t cntlid);
/// A read, write or write-zeroes of blocks of 512 bytes.
nvme::Sqe blocks_command(std::uint8_t opcode, std::uint16_t cid, std::uint64_t slba, std::uint32_t blocks);
nvme::Sqe admin_command(std::uint8_t opcode, std::uint16_t cid);
nvme::StatusCode status_of(const nvme::Cqe& cqe);

} // namespace mpath::target
