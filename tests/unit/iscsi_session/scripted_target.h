// SPDX-License-Identifier: GPL-2.0-only
// The target's end of a session, as a script: the test says which PDUs it sends, and looks at those it got.
// The numbers that a well-behaved target keeps are kept here; a test that wants them wrong says so.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

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

inline Bytes slice(const Bytes& data, std::size_t offset, std::size_t length) {
    return {data.begin() + static_cast<std::ptrdiff_t>(offset),
            data.begin() + static_cast<std::ptrdiff_t>(offset + length)};
}

inline SessionParameters with_digests(SessionParameters parameters = {}) {
    parameters.header_digest = parameters.data_digest = true;
    return parameters;
}

/// Sense data in fixed format as a response carries it, its length before it.
inline Bytes sense_segment(std::uint8_t key, std::uint8_t asc, std::uint8_t ascq) {
    FixedSense sense;
    sense.key = key;
    sense.asc = asc;
    sense.ascq = ascq;
    return bytes_of(Be16(std::uint16_t{sizeof sense})) + bytes_of(sense);
}

/// A PDU that a target got.
struct Pdu {
    Bytes header = Bytes(kBhsSize);
    Bytes data;
    bool digests_match = true; ///< those that were agreed on
    bool padding_is_zero = true;

    template <typename T>
    [[nodiscard]] T as() const {
        T value;
        std::memcpy(&value, header.data(), sizeof value);
        return value;
    }
    [[nodiscard]] Opcode opcode() const { return static_cast<Opcode>(as<Bhs>().opcode & kOpcodeMask); }
    [[nodiscard]] bool immediate() const { return (as<Bhs>().opcode & kImmediate) != 0; }
    [[nodiscard]] bool final() const { return (as<Bhs>().flags & kFinal) != 0; }
    [[nodiscard]] std::uint32_t tag() const { return as<Bhs>().task_tag; }
};

class ScriptedTarget {
public:
    ScriptedTarget(UniqueFd fd, const SessionParameters& agreed, const SessionNumbers& numbers)
        : stat_sn(numbers.exp_stat_sn), exp_cmd_sn(numbers.cmd_sn), max_cmd_sn(numbers.max_cmd_sn),
          end_(std::move(fd)), agreed_(agreed) {}

    net::test::FarEnd& end() { return end_; }
    void send(const Bytes& bytes) { end_.send(bytes); }
    /// In one piece. (Of the operands of + it is not said which comes first, and they count.)
    void send(std::initializer_list<Bytes> pdus) {
        Bytes all;
        for (const Bytes& pdu : pdus) {
            all = std::move(all) + pdu;
        }
        end_.send(all);
    }

    // What a target sends, ready for the wire. Data-In and R2T are numbered by command.

    Bytes data_in(std::uint32_t tag, std::uint32_t offset, const Bytes& data, std::uint8_t flags,
                  std::uint8_t status = 0, std::uint32_t residual = 0) {
        DataIn pdu;
        pdu.flags = flags;
        pdu.status = status;
        pdu.task_tag = tag;
        pdu.target_tag = kNoTag;
        pdu.data_sn = data.empty() ? 0 : data_sn_[tag]++;
        pdu.offset = offset;
        pdu.residual = residual;
        return wire(pdu, data, (flags & data_in_flag::kStatus) != 0);
    }
    /// All of a command's data, with its status.
    Bytes answer_read(std::uint32_t tag, const Bytes& data) {
        return data_in(tag, 0, data, kFinal | data_in_flag::kStatus);
    }
    Bytes response(std::uint32_t tag, std::uint8_t status = 0, const Bytes& segment = {}) {
        ScsiResponse pdu;
        pdu.status = status;
        pdu.task_tag = tag;
        return wire(pdu, segment, true);
    }
    Bytes r2t(std::uint32_t tag, std::uint32_t target_tag, std::uint32_t offset, std::uint32_t length) {
        R2t pdu;
        pdu.task_tag = tag;
        pdu.target_tag = target_tag;
        pdu.r2t_sn = data_sn_[tag]++;
        pdu.offset = offset;
        pdu.desired_length = length;
        return wire(pdu);
    }
    /// That tells of the window and asks nothing.
    Bytes news() { return wire(NopIn{}); }
    /// Any PDU; the numbers are filled in. `takes_number`: it is an answer, which moves StatSN on.
    template <typename T>
    Bytes wire(T pdu, const Bytes& data = {}, bool takes_number = false) {
        static_assert(sizeof(T) == kBhsSize);
        pdu.data_length = static_cast<std::uint32_t>(data.size());
        pdu.stat_sn = takes_number ? stat_sn++ : stat_sn;
        pdu.exp_cmd_sn = exp_cmd_sn;
        pdu.max_cmd_sn = max_cmd_sn;
        return sealed(bytes_of(pdu), data);
    }
    /// Header and data as they are sent with the digests that were agreed on.
    [[nodiscard]] Bytes sealed(Bytes header, Bytes data) const {
        Bytes digest(kDigestSize);
        if (agreed_.header_digest) {
            store_digest(header, digest.data());
            header = header + digest;
        }
        if (data.empty()) {
            return header;
        }
        data.resize(padded(static_cast<std::uint32_t>(data.size())), std::byte{0});
        store_digest(data, digest.data());
        return header + data + (agreed_.data_digest ? digest : Bytes{});
    }

    /// The next whole PDU that has arrived.
    std::optional<Pdu> next() {
        end_.pump();
        const Bytes& received = end_.received();
        const std::size_t head = kBhsSize + (agreed_.header_digest ? kDigestSize : 0);
        if (received.size() < taken_ + head) {
            return std::nullopt;
        }
        Pdu pdu;
        pdu.header = slice(received, taken_, kBhsSize);
        const std::uint32_t length = pdu.as<Bhs>().data_length;
        const std::size_t tail = agreed_.data_digest && length > 0 ? kDigestSize : 0;
        const std::size_t size = head + padded(length) + tail;
        if (received.size() < taken_ + size) {
            return std::nullopt;
        }
        const Bytes all = slice(received, taken_, size);
        taken_ += size;
        pdu.data = slice(all, head, length);
        pdu.padding_is_zero =
            slice(all, head + length, padded(length) - length) == Bytes(padded(length) - length);
        pdu.digests_match =
            (!agreed_.header_digest || digest_matches(pdu.header, all.data() + kBhsSize)) &&
            (tail == 0 || digest_matches(slice(all, head, padded(length)), all.data() + size - kDigestSize));
        return pdu;
    }

    std::uint32_t stat_sn; ///< of the next answer
    std::uint32_t exp_cmd_sn;
    std::uint32_t max_cmd_sn;

private:
    net::test::FarEnd end_;
    SessionParameters agreed_;
    std::size_t taken_ = 0;
    std::map<std::uint32_t, std::uint32_t> data_sn_; ///< next of a command, by its tag
};

} // namespace mpath::iscsi::test
