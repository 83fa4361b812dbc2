// SPDX-License-Identifier: GPL-2.0-only
// Single words in shared memory that one thread writes and anybody may read at any time.
//
// All of them are trivial types whose zero bytes mean "nothing yet", so that they can live in a mapping the
// kernel handed out zeroed and cost no memory before they are touched. A writer's update is a relaxed load
// and a relaxed store: plain moves, no lock prefix. Two words read one after the other belong to two moments.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>

namespace mpath::record {

/// The word itself: relaxed access to 64 bits.
class Word {
public:
    [[nodiscard]] std::uint64_t get() const noexcept {
        return std::atomic_ref<std::uint64_t>(value_).load(std::memory_order_relaxed);
    }
    void set(std::uint64_t value) noexcept {
        std::atomic_ref<std::uint64_t>(value_).store(value, std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t get_acquire() const noexcept {
        return std::atomic_ref<std::uint64_t>(value_).load(std::memory_order_acquire);
    }
    void set_release(std::uint64_t value) noexcept {
        std::atomic_ref<std::uint64_t>(value_).store(value, std::memory_order_release);
    }
    /// Only if it is still 0; whoever comes first.
    void set_once(std::uint64_t value) noexcept {
        std::uint64_t nothing = 0;
        std::atomic_ref<std::uint64_t>(value_).compare_exchange_strong(nothing, value,
                                                                       std::memory_order_acq_rel);
    }

private:
    alignas(8) mutable std::uint64_t value_; // mutable: C++20's atomic_ref takes no const object
};

/// Counts up. The only writer is one thread.
class Counter {
public:
    [[nodiscard]] std::uint64_t get() const noexcept { return word_.get(); }
    void set(std::uint64_t value) noexcept { word_.set(value); }
    void add(std::uint64_t by = 1) noexcept { word_.set(word_.get() + by); }
    /// As add() and get(), but a reader that sees this addition also sees everything written before it. Costs
    /// nothing on x86.
    void publish_one() noexcept { word_.set_release(word_.get() + 1); }
    void set_published(std::uint64_t value) noexcept { word_.set_release(value); }
    [[nodiscard]] std::uint64_t get_published() const noexcept { return word_.get_acquire(); }
    void subtract(std::uint64_t by = 1) noexcept { word_.set(word_.get() - by); }

private:
    Word word_;
};

/// A counter that knows whether anybody counts: absent until begin() or set(), because absent is not zero.
/// add() before begin() is an error of the caller and shows as one too few.
class OptionalCounter {
public:
    [[nodiscard]] std::optional<std::uint64_t> get() const noexcept {
        const std::uint64_t stored = word_.get();
        return stored == 0 ? std::nullopt : std::optional<std::uint64_t>(stored - 1);
    }
    void begin() noexcept { word_.set(1); }
    void set(std::uint64_t value) noexcept { word_.set(value + 1); }
    void add(std::uint64_t by = 1) noexcept { word_.set(word_.get() + by); }

private:
    Word word_;
};

/// A sum of squares. A double, because the square of an hour in nanoseconds needs 84 bits and two words would
/// be read torn; each addition rounds to 53 bits, which after 10^10 of them still leaves a standard deviation
/// better than the histogram's 1 %.
class RealCounter {
public:
    [[nodiscard]] double get() const noexcept { return std::bit_cast<double>(word_.get()); }
    void set(double value) noexcept { word_.set(std::bit_cast<std::uint64_t>(value)); }
    void add(double by) noexcept { set(get() + by); }

private:
    Word word_;
};

/// The highest value seen; 0 before the first.
class HighMark {
public:
    [[nodiscard]] std::uint64_t get() const noexcept { return word_.get(); }
    void set(std::uint64_t value) noexcept { word_.set(value); }
    void see(std::uint64_t value) noexcept {
        if (value > word_.get()) {
            word_.set(value);
        }
    }

private:
    Word word_;
};

/// The lowest value seen; the largest 64-bit integer before the first. Kept inverted, so that zero bytes mean
/// that.
class LowMark {
public:
    [[nodiscard]] std::uint64_t get() const noexcept { return ~inverted_.get(); }
    void see(std::uint64_t value) noexcept { inverted_.see(~value); }

private:
    HighMark inverted_;
};

} // namespace mpath::record
