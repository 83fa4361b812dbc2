// SPDX-License-Identifier: GPL-2.0-only
#include "target/namespace.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace mpath::target {

namespace {

constexpr std::uint64_t kPage = 4096;

/// Differs from block to block of 512 bytes, so that a misplaced answer shows in a dump.
void fill_pattern(std::byte* memory, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        memory[i] = static_cast<std::byte>(0xa5 ^ (i & 0xff) ^ ((i >> 9) << 1));
    }
}

} // namespace

Result<std::unique_ptr<Namespace>> Namespace::create(std::uint32_t nsid, std::uint64_t size,
                                                     std::uint32_t block_size, bool null, Identity identity) {
    // Room to grow into is only set aside: commands that are under way keep the addresses they have.
    const std::size_t used = null ? kPatternSize : size;
    const std::size_t mapped = null ? kPatternSize : size * kGrowth;
    void* memory =
        size > std::numeric_limits<std::size_t>::max() / kGrowth
            ? MAP_FAILED
            : ::mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED && ::mprotect(memory, used, PROT_READ | PROT_WRITE) != 0) {
        ::munmap(memory, mapped);
        memory = MAP_FAILED;
    }
    if (memory == MAP_FAILED) {
        return failure(errno, "namespace {} of {} bytes does not fit into memory, take a smaller --size",
                       nsid, size);
    }
    auto* bytes = static_cast<std::byte*>(memory);
    if (null) {
        fill_pattern(bytes, used);
    } else {
        // One page fault for 2 MiB instead of 512: faults would be most of what a first pass measures.
        ::madvise(memory, used, MADV_HUGEPAGE);
    }
    const auto shift = static_cast<std::uint32_t>(std::countr_zero(block_size));
    return std::unique_ptr<Namespace>(new Namespace(nsid, size, shift, null, identity, bytes, mapped));
}

Namespace::Namespace(std::uint32_t nsid, std::uint64_t size, std::uint32_t block_shift, bool null,
                     Identity identity, std::byte* memory, std::size_t mapped)
    : nsid_(nsid), block_shift_(block_shift), size_(size), null_(null), identity_(identity), memory_(memory),
      mapped_(mapped) {}

Namespace::~Namespace() {
    ::munmap(memory_, mapped_);
}

void Namespace::resize(std::uint64_t size) {
    if (!null_ && size > size_) {
        ::mprotect(memory_, size, PROT_READ | PROT_WRITE);
    }
    size_ = size;
}

void Namespace::zero(std::uint64_t offset, std::uint64_t length) {
    if (null_) {
        return;
    }
    const std::uint64_t end = offset + length;
    const std::uint64_t first_page = (offset + kPage - 1) / kPage * kPage;
    const std::uint64_t end_page = end / kPage * kPage;
    if (first_page >= end_page ||
        ::madvise(memory_ + first_page, end_page - first_page, MADV_DONTNEED) != 0) {
        std::memset(memory_ + offset, 0, length);
        return;
    }
    std::memset(memory_ + offset, 0, first_page - offset);
    std::memset(memory_ + end_page, 0, end - end_page);
}

} // namespace mpath::target
