// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>

#include "nvme/wire/command.h"
#include "nvme/wire/pdu.h"
#include "target/frame.h"
#include "target/namespace.h"
#include "target/send_queue.h"

namespace mpath::target {

/// Puts the controller's PDUs into a send queue.
class PduWriter {
public:
    /// `c2h_size`: bytes of one C2HData PDU, 0 = no limit.
    PduWriter(SendQueue& queue, std::uint32_t c2h_size) : queue_(queue), c2h_size_(c2h_size) {}

    /// Alignment of C2H data from now on: dwords, 0's based; as the host asked in ICReq.
    void set_hpda(std::uint8_t hpda);

    void ic_resp(std::uint8_t cpda, std::uint32_t max_h2c_data);
    void capsule_resp(const nvme::Cqe& cqe);
    void r2t(std::uint16_t cid, std::uint16_t tag, std::uint32_t offset, std::uint32_t length);
    /// `offending`: the header that broke the rules, as far as it was received.
    void term_req(const Fault& fault, std::span<const std::byte> offending);

    /// A read's data, sent from where it lies. `success`: no CapsuleResp follows.
    void read_data(std::uint16_t cid, const Namespace& from, std::uint64_t offset, std::uint32_t length,
                   bool success);
    /// Data made for this answer; copied.
    void built_data(std::uint16_t cid, std::span<const std::byte> data);

private:
    void c2h_header(std::uint16_t cid, std::uint32_t offset, std::uint32_t length, std::uint8_t flags);

    SendQueue& queue_;
    std::uint32_t c2h_size_;
    std::uint8_t data_offset_ = sizeof(nvme::C2hData);
};

} // namespace mpath::target
