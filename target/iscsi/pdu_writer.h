// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "iscsi/wire/pdu.h"
#include "target/iscsi/negotiation.h"
#include "target/iscsi/outcome.h"
#include "target/namespace.h"
#include "target/options.h"
#include "target/send_queue.h"
#include "target/variation.h"

namespace mpath::target::scsi {

/// Where the numbering of a connection stands; every PDU says so.
struct Numbers {
    std::uint32_t stat_sn = 1; ///< of the next PDU that takes one
    std::uint32_t exp_cmd_sn = 0;
    std::uint32_t max_cmd_sn = 0;
};

/// What one SCSI command is answered with: a read's data, if any, then its status.
struct Reply {
    std::uint32_t tag = 0;
    Outcome outcome{};
    std::uint32_t expected = 0;       ///< bytes the initiator expects to be moved
    std::uint64_t available = 0;      ///< bytes the command would move
    std::uint32_t length = 0;         ///< bytes of Data-In
    const Namespace* space = nullptr; ///< where they come from, if not from `built`
    std::uint64_t offset = 0;         ///< in it
    const std::byte* built = nullptr;
    bool status_with_data = false; ///< the last Data-In has the status; there is no response
    std::uint32_t data_pdus = 0;   ///< so far, R2Ts as well: DataSN of a read's next one
    std::uint32_t done = 0;        ///< bytes of data written
    std::uint32_t in_burst = 0;    ///< of these, in the sequence that has begun
};

/// Builds the target's PDUs into a SendQueue.
class PduWriter {
public:
    /// `variation`: nullptr, or outlives the writer.
    PduWriter(SendQueue& queue, const Options& options, Variation* variation)
        : queue_(queue), variation_(variation), c2h_size_(options.c2h_size) {}

    Numbers numbers;

    /// What was agreed on holds from now on.
    void begin_full_feature(const Terms& terms);
    [[nodiscard]] const Terms& terms() const { return terms_; }

    enum class StatSn : std::uint8_t { takes, tells }; ///< a number of its own, or the next one
    /// One PDU with its numbers. `pdu`: but for these and its data's length.
    template <typename Pdu>
    void put(const Pdu& pdu, StatSn stat_sn, std::span<const std::byte> data = {}) {
        static_assert(sizeof(Pdu) == iscsi::kBhsSize);
        auto header = std::bit_cast<iscsi::Bhs>(pdu);
        stamp(header, stat_sn);
        put_copied(header, data);
    }
    /// The next PDU of a reply. True: it was the last.
    bool put_next(Reply& reply);

    /// Bytes of the next Data-In, of `left` ones.
    std::uint32_t data_step(std::uint32_t left);
    /// Data-In PDUs have at most so many bytes; 0: as agreed on.
    void limit_data(std::uint32_t bytes) { data_limit_ = bytes; }
    /// Flips a bit of the N-th PDU's header, and of the N-th Data-In's data, from now on.
    void arm(const Flips& flips);
    void flip_next(bool header, bool data);

private:
    void stamp(iscsi::Bhs& header, StatSn stat_sn);
    void put_header(iscsi::Bhs& header, std::uint32_t data_length);
    void put_copied(iscsi::Bhs& header, std::span<const std::byte> data);
    void put_bytes(const std::byte* bytes, std::uint32_t count);
    void end_data(std::uint32_t length);
    void data_in(Reply& reply, std::uint32_t length);
    void response(const Reply& reply);

    SendQueue& queue_;
    Variation* variation_;
    std::uint32_t c2h_size_;
    std::uint32_t data_limit_ = 0;
    Terms terms_;
    Flips flips_;
    bool plain_ = true; ///< neither digests nor bits to flip
    bool flip_data_ = false;
    std::uint32_t digest_ = 0;
};

} // namespace mpath::target::scsi
