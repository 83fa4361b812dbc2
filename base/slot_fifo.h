// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

namespace mpath {

/// First-in first-out list of places in an array, whose elements link it with a member `next`; allocates
/// nothing. An element is on one list at a time. `slots`: that array, the same each time.
class SlotFifo {
public:
    static constexpr std::uint16_t kEnd = 0xffff; ///< no place

    [[nodiscard]] bool empty() const noexcept { return head_ == kEnd; }
    /// Precondition: not empty.
    [[nodiscard]] std::uint16_t front() const noexcept { return head_; }
    void clear() noexcept { head_ = kEnd; }

    template <typename Slots>
    void push(Slots& slots, std::uint16_t index) noexcept {
        slots[index].next = kEnd;
        (head_ == kEnd ? head_ : slots[tail_].next) = index;
        tail_ = index;
    }

    /// Precondition: not empty.
    template <typename Slots>
    void pop(const Slots& slots) noexcept {
        head_ = slots[head_].next;
    }

    /// Nothing where it is not on the list.
    template <typename Slots>
    void remove(Slots& slots, std::uint16_t index) noexcept {
        std::uint16_t* link = &head_;
        std::uint16_t previous = kEnd;
        while (*link != kEnd && *link != index) {
            previous = *link;
            link = &slots[*link].next;
        }
        if (*link == index) {
            *link = slots[index].next;
            if (tail_ == index) {
                tail_ = previous;
            }
        }
    }

private:
    std::uint16_t head_ = kEnd;
    std::uint16_t tail_ = kEnd;
};

} // namespace mpath
