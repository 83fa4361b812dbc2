// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <vector>

namespace mpath::target {

/// An R2T that the host has not answered in full.
struct OpenR2t {
    std::uint16_t slot = 0; ///< of its command
    std::uint16_t cid = 0;
    std::uint32_t at = 0;      ///< offset of the next byte to come
    std::uint32_t end = 0;     ///< and of the first one that was not asked for
    std::uint32_t data_sn = 0; ///< iSCSI: of the next PDU of its data
    bool open = false;
    bool abandoned = false; ///< its command is over; what the host still sends is thrown away
};

/// The R2Ts of a connection, found by their tags. Each R2T has a tag of its own, so those of one command may
/// be answered in any order.
class R2tTable {
public:
    /// Returns the tag.
    std::uint16_t open(std::uint16_t slot, std::uint16_t cid, std::uint32_t offset, std::uint32_t length);
    /// nullptr: no R2T with this tag is open.
    [[nodiscard]] OpenR2t* find(std::uint16_t tag);
    void close(std::uint16_t tag);
    /// The command in this slot is over though not all of its data has come.
    void abandon(std::uint16_t slot);

    /// Tags are numbers from 0, combined with this by exclusive or. May change only while no R2T is open.
    void set_mask(std::uint16_t mask) { mask_ = mask; }

private:
    std::vector<OpenR2t> entries_;
    std::vector<std::uint16_t> free_;
    std::uint16_t mask_ = 0;
};

} // namespace mpath::target
