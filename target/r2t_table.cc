// SPDX-License-Identifier: GPL-2.0-only
#include "target/r2t_table.h"

namespace mpath::target {

std::uint16_t R2tTable::open(std::uint16_t slot, std::uint16_t cid, std::uint32_t offset,
                             std::uint32_t length) {
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint16_t>(entries_.size()));
        entries_.emplace_back();
    }
    const std::uint16_t index = free_.back();
    free_.pop_back();
    entries_[index] = {.slot = slot,
                       .cid = cid,
                       .at = offset,
                       .end = offset + length,
                       .data_sn = 0,
                       .open = true,
                       .abandoned = false};
    return index ^ mask_;
}

OpenR2t* R2tTable::find(std::uint16_t tag) {
    const std::uint16_t index = tag ^ mask_;
    return index < entries_.size() && entries_[index].open ? &entries_[index] : nullptr;
}

void R2tTable::close(std::uint16_t tag) {
    const std::uint16_t index = tag ^ mask_;
    entries_[index].open = false;
    free_.push_back(index);
}

void R2tTable::abandon(std::uint16_t slot) {
    for (OpenR2t& entry : entries_) {
        if (entry.open && entry.slot == slot) {
            entry.abandoned = true;
        }
    }
}

} // namespace mpath::target
