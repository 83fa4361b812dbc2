// SPDX-License-Identifier: GPL-2.0-only
// The controller's end of a queue, as a script: the test says which bytes it sends, and looks at the PDUs it
// got.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "nvme/pdu_check.h"
#include "nvme/wire/command.h"
#include "nvme/wire/pdu.h"
#include "nvme/wire/status.h"
#include "tests/unit/net/socket_pair.h"

namespace mpath::nvme::test {

using Bytes = std::vector<std::byte>;

template <typename T>
Bytes bytes_of(const T& value) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    return {first, first + sizeof value};
}

inline Bytes operator+(Bytes left, const Bytes& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

/// Bytes that tell their place: data that went to the wrong one is seen.
inline Bytes pattern(std::size_t length, unsigned seed = 0) {
    Bytes data(length);
    for (std::size_t i = 0; i < length; ++i) {
        data[i] = static_cast<std::byte>(seed + i * 7 + i / 251);
    }
    return data;
}

inline Bytes slice(const Bytes& data, std::size_t offset, std::size_t length) {
    return {data.begin() + static_cast<std::ptrdiff_t>(offset),
            data.begin() + static_cast<std::ptrdiff_t>(offset + length)};
}

// What a controller sends.

inline C2hData c2h_header(std::uint16_t cid, std::uint32_t offset, std::uint32_t length, std::uint8_t flags,
                          std::uint8_t pdo = sizeof(C2hData)) {
    C2hData pdu;
    pdu.common = {static_cast<std::uint8_t>(PduType::c2h_data), flags, sizeof(C2hData), pdo, pdo + length};
    pdu.cccid = cid;
    pdu.datao = offset;
    pdu.datal = length;
    return pdu;
}

inline Bytes c2h_data(std::uint16_t cid, std::uint32_t offset, const Bytes& data, std::uint8_t flags,
                      std::uint8_t pdo = sizeof(C2hData)) {
    return bytes_of(c2h_header(cid, offset, static_cast<std::uint32_t>(data.size()), flags, pdo)) +
           Bytes(pdo - sizeof(C2hData)) + data;
}

inline CapsuleResp response(std::uint16_t cid, Status status = {}) {
    CapsuleResp pdu;
    pdu.common = {static_cast<std::uint8_t>(PduType::capsule_resp), 0, sizeof(CapsuleResp), 0,
                  std::uint32_t{sizeof(CapsuleResp)}};
    pdu.cqe.cid = cid;
    pdu.cqe.status = status.to_cqe();
    return pdu;
}

inline R2t r2t(std::uint16_t cid, std::uint16_t ttag, std::uint32_t offset, std::uint32_t length) {
    R2t pdu;
    pdu.common = {static_cast<std::uint8_t>(PduType::r2t), 0, sizeof(R2t), 0, std::uint32_t{sizeof(R2t)}};
    pdu.cccid = cid;
    pdu.ttag = ttag;
    pdu.r2to = offset;
    pdu.r2tl = length;
    return pdu;
}

inline constexpr PduOptions kDigestHeader{.header_digest = true};
inline constexpr PduOptions kDigestData{.data_digest = true};
inline constexpr PduOptions kDigestBoth{.header_digest = true, .data_digest = true};

/// `pdu`, built without digests, as it is sent where those of `agreed` are in use. The header's digest moves
/// data on, unless its padding has room.
inline Bytes sealed(const Bytes& pdu, const PduOptions& agreed) {
    auto common = load<CommonHeader>(pdu);
    Bytes header = slice(pdu, 0, common.hlen);
    const bool has_data = common.pdo != 0;
    Bytes padding = has_data ? slice(pdu, common.hlen, common.pdo - std::size_t{common.hlen}) : Bytes{};
    const Bytes data = has_data ? slice(pdu, common.pdo, pdu.size() - common.pdo) : Bytes{};
    if (agreed.header_digest) {
        common.flags |= pdu_flag::kHeaderDigest;
        padding.resize(padding.size() - std::min(padding.size(), kDigestSize));
    }
    const std::size_t start = header.size() + (agreed.header_digest ? kDigestSize : 0) + padding.size();
    const std::size_t tail = has_data && agreed.data_digest ? kDigestSize : 0;
    common.flags |= tail != 0 ? pdu_flag::kDataDigest : 0;
    common.pdo = has_data ? static_cast<std::uint8_t>(start) : 0;
    common.plen = static_cast<std::uint32_t>(start + data.size() + tail);
    std::memcpy(header.data(), &common, sizeof common);
    Bytes digest(kDigestSize);
    if (agreed.header_digest) {
        store_digest(header, digest.data());
        header = header + digest;
    }
    store_digest(data, digest.data());
    return header + padding + data + (tail != 0 ? digest : Bytes{});
}

/// A PDU that a controller got.
struct Pdu {
    Bytes bytes;

    template <typename T>
    [[nodiscard]] T as() const {
        T value;
        std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }
    [[nodiscard]] PduType type() const { return static_cast<PduType>(as<CommonHeader>().type); }
    [[nodiscard]] Bytes payload() const {
        const auto common = as<CommonHeader>();
        const std::size_t tail = (common.flags & pdu_flag::kDataDigest) != 0 ? kDigestSize : 0;
        return common.pdo == 0 ? Bytes{} : slice(bytes, common.pdo, bytes.size() - common.pdo - tail);
    }
    /// The digests that the flags speak of are there, and right.
    [[nodiscard]] bool digests_match() const {
        const auto common = as<CommonHeader>();
        const bool header = (common.flags & pdu_flag::kHeaderDigest) == 0 ||
                            digest_matches(slice(bytes, 0, common.hlen), bytes.data() + common.hlen);
        const bool data = (common.flags & pdu_flag::kDataDigest) == 0 ||
                          digest_matches(payload(), bytes.data() + bytes.size() - kDigestSize);
        return header && data;
    }
};

class ScriptedController {
public:
    explicit ScriptedController(UniqueFd fd) : end_(std::move(fd)) {}

    net::test::FarEnd& end() { return end_; }
    void send(const Bytes& bytes) { end_.send(bytes); }
    template <typename T>
    void send(const T& pdu) {
        end_.send(bytes_of(pdu));
    }
    /// The next whole PDU that has arrived.
    std::optional<Pdu> next() {
        end_.pump();
        Bytes& received = end_.received();
        CommonHeader common;
        if (received.size() < taken_ + sizeof common) {
            return std::nullopt;
        }
        std::memcpy(&common, received.data() + taken_, sizeof common);
        if (received.size() < taken_ + common.plen) {
            return std::nullopt;
        }
        Pdu pdu{slice(received, taken_, common.plen)};
        taken_ += common.plen;
        return pdu;
    }

private:
    net::test::FarEnd end_;
    std::size_t taken_ = 0;
};

} // namespace mpath::nvme::test
