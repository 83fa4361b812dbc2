// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>

#include "nvme/wire/command.h"
#include "nvme/wire/pdu.h"
#include "target/frame.h"
#include "target/namespace.h"
#include "target/options.h"
#include "target/send_queue.h"
#include "target/terms.h"
#include "target/variation.h"

namespace mpath::target {

/// A part of a read's data.
struct ReadPiece {
    std::uint16_t cid = 0;
    std::uint32_t data_offset = 0; ///< within the command's data
    std::uint32_t length = 0;      ///< bytes
    std::uint8_t flags = 0;        ///< nvme::pdu_flag, without the digests' ones
};

/// Puts the controller's PDUs into a send queue, with the digests and the alignment agreed on.
class PduWriter {
public:
    /// `variation`: nullptr, or outlives the writer.
    PduWriter(SendQueue& queue, const Options& options, Variation* variation)
        : queue_(queue), c2h_size_(options.c2h_size), pads_(options.vary), variation_(variation) {}

    /// Holds to these terms in all PDUs but this first one.
    void ic_resp(const Terms& terms);
    void capsule_resp(const nvme::Cqe& cqe);
    void r2t(std::uint16_t cid, std::uint16_t tag, std::uint32_t offset, std::uint32_t length);
    /// `offending`: the header that broke the rules, as far as it was received.
    void term_req(const Fault& fault, std::span<const std::byte> offending);

    /// Bytes of the next C2HData PDU when `left` of the command's are.
    [[nodiscard]] std::uint32_t c2h_step(std::uint32_t left);
    /// One C2HData PDU with what lies at `offset` in a namespace. Unless the PDU has a data digest, the bytes
    /// are sent from where they lie.
    void read_piece(const ReadPiece& piece, const Namespace& from, std::uint64_t offset);
    /// All of a read's data. `success`: no CapsuleResp follows.
    void read_data(std::uint16_t cid, const Namespace& from, std::uint64_t offset, std::uint32_t length,
                   bool success);
    /// Data made for this answer; copied.
    void built_data(std::uint16_t cid, std::span<const std::byte> data);

    /// A PDU that may be wrong: digests are added and data begins at PDO, but HLEN, PDO and PLEN are the
    /// caller's, who has to count digests in.
    void raw(std::span<std::byte> header, std::span<const std::byte> data);
    [[nodiscard]] std::uint32_t header_digest_size() const { return header_digest_ ? kDigestSize : 0; }
    [[nodiscard]] std::uint32_t data_digest_size() const { return data_digest_ ? kDigestSize : 0; }
    /// Where C2HData has its data, unless more padding is put before it.
    [[nodiscard]] std::uint8_t data_offset() const { return data_offset_; }

    /// From now on PDUs are counted, and those that `flips` names have one bit wrong.
    void arm(const Flips& flips);
    /// The next PDU has a bit of its header wrong; the next C2HData one of its data.
    void flip_next(bool header, bool data);
    /// C2HData PDUs have at most so many bytes of data; 0 = as the options say.
    void limit_data(std::uint32_t bytes) { data_limit_ = bytes; }

private:
    template <typename Pdu>
    void put(Pdu& pdu);
    void put_decorated(std::span<std::byte> header, std::uint32_t digests);
    void c2h_header(const ReadPiece& piece);
    void data(const std::byte* bytes, std::uint32_t count);
    void data_end();

    SendQueue& queue_;
    std::uint32_t c2h_size_;
    std::uint32_t data_limit_ = 0;
    bool pads_; ///< more than the alignment needs
    Variation* variation_;
    std::uint8_t data_offset_ = sizeof(nvme::C2hData);
    std::uint32_t alignment_ = 4;
    bool header_digest_ = false;
    bool data_digest_ = false;
    bool plain_ = true; ///< no digests, no padding, nothing to flip: the fast way
    Flips flips_;       ///< PDUs yet to come before the wrong one
    bool flip_data_ = false;
    std::uint32_t digest_ = 0; ///< of the data so far
};

} // namespace mpath::target
