// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "target/identity.h"

namespace mpath::target {

/// The blocks behind an NSID. Offsets and lengths are bytes and inside the namespace: the caller has checked.
class Namespace {
public:
    /// Bytes a null namespace's reads are served from, over and over; never all zero.
    static constexpr std::uint32_t kPatternSize = 64 * 1024;

    /// `null`: nothing is stored. Otherwise memory, taken (2 MiB at a time, if the
    /// system has huge pages to give) when it is first written, not before.
    static Result<std::unique_ptr<Namespace>> create(std::uint32_t nsid, std::uint64_t size,
                                                     std::uint32_t block_size, bool null, Identity identity);
    Namespace(const Namespace&) = delete;
    Namespace& operator=(const Namespace&) = delete;
    ~Namespace();

    [[nodiscard]] std::uint32_t nsid() const { return nsid_; }
    [[nodiscard]] std::uint32_t block_shift() const { return block_shift_; }
    [[nodiscard]] std::uint64_t blocks() const { return size_ >> block_shift_; }
    /// A namespace can grow to so many times its first size.
    static constexpr std::uint64_t kGrowth = 4;
    /// Its blocks stay where they are: what is behind a smaller size comes back with a larger one.
    /// Precondition: whole blocks, and not more than kGrowth allows.
    void resize(std::uint64_t size);

    [[nodiscard]] const Identity& identity() const { return identity_; }
    [[nodiscard]] bool null() const { return null_; }

    /// Where a write's bytes go; nullptr: nowhere.
    [[nodiscard]] std::byte* destination(std::uint64_t offset) const {
        return null_ ? nullptr : memory_ + offset;
    }

    /// Calls append(pointer, bytes) for the pieces a read consists of.
    template <typename Append>
    void read(std::uint64_t offset, std::uint32_t length, Append&& append) const {
        if (!null_) {
            append(memory_ + offset, length);
            return;
        }
        while (length > 0) {
            const std::uint32_t piece = length < kPatternSize ? length : kPatternSize;
            append(memory_, piece);
            length -= piece;
        }
    }

    /// Afterwards the range reads as zeroes, and whole pages of it have gone back to the system.
    void zero(std::uint64_t offset, std::uint64_t length);

private:
    Namespace(std::uint32_t nsid, std::uint64_t size, std::uint32_t block_shift, bool null, Identity identity,
              std::byte* memory, std::size_t mapped);

    std::uint32_t nsid_;
    std::uint32_t block_shift_;
    std::uint64_t size_;
    bool null_;
    Identity identity_;
    std::byte* memory_; ///< a null namespace's pattern
    std::size_t mapped_;
};

} // namespace mpath::target
