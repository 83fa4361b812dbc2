// SPDX-License-Identifier: GPL-2.0-only
// The target's end of a session, as a script: the test says which PDUs it sends, and looks at those it got.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "iscsi/session_parameters.h"
#include "iscsi/wire/pdu.h"
#include "iscsi/wire/scsi.h"
#include "tests/unit/net/socket_pair.h"

namespace mpath::iscsi::test {

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

/// One behind the other. In braces, because their numbers are given in the order in which they are made.
inline Bytes stream_of(std::initializer_list<Bytes> pdus) {
    Bytes stream;
    for (const Bytes& pdu : pdus) {
        stream.insert(stream.end(), pdu.begin(), pdu.end());
    }
    return stream;
}

inline Bytes slice(const Bytes& data, std::size_t offset, std::size_t length) {
    return {data.begin() + static_cast<std::ptrdiff_t>(offset),
            data.begin() + static_cast<std::ptrdiff_t>(offset + length)};
}

/// The segment of a response with sense data: its length first.
inline Bytes with_length(const Bytes& sense) {
    return bytes_of(Be16(static_cast<std::uint16_t>(sense.size()))) + sense;
}

inline Bytes fixed_sense(std::uint8_t key, std::uint8_t asc, std::uint8_t ascq) {
    FixedSense sense;
    sense.key = key;
    sense.asc = asc;
    sense.ascq = ascq;
    return bytes_of(sense);
}

/// All serial numbers wrap around within a test.
inline constexpr SessionNumbers kNumbers{
    .cmd_sn = 0xfffffffe, .exp_stat_sn = 0xfffffffd, .max_cmd_sn = 0xfffffffe + 4095};

/// A PDU that a target got.
struct Pdu {
    Bytes bytes; ///< without digests
    bool digests_match = true;

    template <typename T>
    [[nodiscard]] T as() const {
        T value;
        std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }
    [[nodiscard]] Opcode opcode() const { return static_cast<Opcode>(as<Bhs>().opcode & kOpcodeMask); }
    [[nodiscard]] Bytes data() const { return slice(bytes, kBhsSize, as<Bhs>().data_length); }
};

class ScriptedTarget {
public:
    ScriptedTarget(UniqueFd fd, const SessionParameters& parameters, const SessionNumbers& start)
        : stat_sn(start.exp_stat_sn), exp_cmd_sn(start.cmd_sn), max_cmd_sn(start.max_cmd_sn),
          parameters_(parameters), end_(std::move(fd)) {}

    net::test::FarEnd& end() { return end_; }
    void send(const Bytes& bytes) { end_.send(bytes); }

    // What a target sends, ready for the wire.

    /// Header and data, padded, with the digests that were agreed on. `padding`: what it consists of.
    template <typename T>
    Bytes sealed(T pdu, const Bytes& data = {}, std::byte padding = {}) const {
        pdu.data_length = static_cast<std::uint32_t>(data.size());
        Bytes header = bytes_of(pdu);
        Bytes segment = data;
        segment.resize(padded(static_cast<std::uint32_t>(data.size())), padding);
        Bytes digest(kDigestSize);
        store_digest(segment, digest.data());
        segment = parameters_.data_digest && !data.empty() ? segment + digest : segment;
        store_digest(header, digest.data());
        return (parameters_.header_digest ? header + digest : header) + segment;
    }
    /// With the numbers of the session. `takes`: it takes a StatSN.
    template <typename T>
    T numbered(T pdu, bool takes = true) {
        pdu.stat_sn = stat_sn;
        stat_sn += takes ? 1 : 0;
        pdu.exp_cmd_sn = exp_cmd_sn;
        pdu.max_cmd_sn = max_cmd_sn;
        return pdu;
    }

    Bytes data_in(std::uint32_t tag, std::uint32_t data_sn, std::uint32_t offset, const Bytes& data,
                  unsigned flags = 0, std::uint8_t status = 0, std::uint32_t residual = 0) {
        DataIn pdu;
        pdu.flags = static_cast<std::uint8_t>(flags);
        pdu.status = status;
        pdu.task_tag = tag;
        pdu.target_tag = kNoTag;
        pdu.data_sn = data_sn;
        pdu.offset = offset;
        pdu.residual = residual;
        return sealed(numbered(pdu, (flags & data_in_flag::kStatus) != 0), data);
    }
    /// All of a small read, with success.
    Bytes whole_read(std::uint32_t tag, const Bytes& data) {
        return data_in(tag, 0, 0, data, kFinal | data_in_flag::kStatus);
    }
    Bytes response(std::uint32_t tag, std::uint8_t status = 0, const Bytes& sense = {}, unsigned flags = 0,
                   std::uint32_t residual = 0) {
        ScsiResponse pdu;
        pdu.flags = static_cast<std::uint8_t>(kFinal | flags);
        pdu.status = status;
        pdu.task_tag = tag;
        pdu.residual = residual;
        return sealed(numbered(pdu), sense.empty() ? Bytes{} : with_length(sense));
    }
    Bytes r2t(std::uint32_t tag, std::uint32_t r2t_sn, std::uint32_t target_tag, std::uint32_t offset,
              std::uint32_t length) {
        R2t pdu;
        pdu.task_tag = tag;
        pdu.target_tag = target_tag;
        pdu.r2t_sn = r2t_sn;
        pdu.offset = offset;
        pdu.desired_length = length;
        return sealed(numbered(pdu, false));
    }
    /// That wants no answer: it only tells the numbers.
    Bytes nop_in() { return sealed(numbered(NopIn{}, false)); }
    Bytes async(std::uint8_t event, const Bytes& data = {}) {
        AsyncMessage pdu;
        pdu.event = event;
        pdu.parameter1 = 1;
        pdu.parameter2 = 2;
        pdu.parameter3 = 3;
        return sealed(numbered(pdu), data);
    }
    Bytes reject(std::uint8_t reason, const Bytes& header) {
        Reject pdu;
        pdu.reason = reason;
        return sealed(numbered(pdu), header);
    }

    /// The next whole PDU that has arrived.
    std::optional<Pdu> next() {
        end_.pump();
        const Bytes& received = end_.received();
        const std::size_t head = kBhsSize + (parameters_.header_digest ? kDigestSize : 0);
        if (received.size() < taken_ + head) {
            return std::nullopt;
        }
        Pdu pdu{slice(received, taken_, kBhsSize)};
        const std::size_t segment = padded(pdu.as<Bhs>().data_length);
        const std::size_t tail = parameters_.data_digest && segment > 0 ? kDigestSize : 0;
        if (received.size() < taken_ + head + segment + tail) {
            return std::nullopt;
        }
        const Bytes data = slice(received, taken_ + head, segment);
        pdu.digests_match =
            (!parameters_.header_digest || digest_matches(pdu.bytes, received.data() + taken_ + kBhsSize)) &&
            (tail == 0 || digest_matches(data, received.data() + taken_ + head + segment));
        pdu.bytes = pdu.bytes + data;
        taken_ += head + segment + tail;
        return pdu;
    }

    std::uint32_t stat_sn; ///< of the next answer
    std::uint32_t exp_cmd_sn;
    std::uint32_t max_cmd_sn;

private:
    SessionParameters parameters_;
    net::test::FarEnd end_;
    std::size_t taken_ = 0;
};

} // namespace mpath::iscsi::test
