// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/ana_reader.h"

#include <algorithm>
#include <cstring>

#include "nvme/admin_command.h"

namespace mpath::nvme {
namespace {

constexpr int kAttempts = 8;                     ///< at a log that changes while it is read
constexpr std::size_t kMaxLog = 8 * 1024 * 1024; ///< bytes: 65535 groups and a million namespaces fit
constexpr std::size_t kMinPiece = 4096;          ///< bytes: a log may grow by one descriptor at a time
constexpr std::size_t kMaxPiece = 64 * 1024;     ///< bytes of one command

} // namespace

AnaReader::AnaReader(AdminQueue& admin, const AnaLimits& limits, std::size_t piece, std::size_t expected)
    : admin_(admin), limits_(limits), piece_(std::min(piece, kMaxPiece)),
      first_(std::clamp(expected, sizeof(AnaLogHeader), piece_)) {}

net::Task<Result<void>> AnaReader::get(std::size_t offset, std::size_t length, Event event,
                                       Nanoseconds deadline) {
    const Sqe sqe = get_log_page(log_page::kAna, offset, length, event == Event::keep);
    const std::span<std::byte> target = std::span(buffer_).subspan(offset, length);
    const Result<Completion> done =
        co_await admin_.succeed(sqe, Transfer::to_host, target, deadline, "Get Log Page (ANA)");
    if (!done) {
        co_return tl::unexpected<Error>(done.error());
    }
    co_return Result<void>{};
}

/// A log that fits one command is consistent in itself. A longer one is, when its header has not changed
/// after the last piece; that second look at the header is what clears the event.
net::Task<Result<AnaLog>> AnaReader::read(Nanoseconds deadline) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        Result<AnaLog> log = co_await read_pieces(deadline);
        if (!log || buffer_.size() <= first_) {
            co_return log;
        }
        const Result<void> again = co_await get(0, sizeof(AnaLogHeader), Event::clear, deadline);
        if (!again) {
            co_return tl::unexpected<Error>(again.error());
        }
        AnaLogHeader header;
        std::memcpy(&header, buffer_.data(), sizeof header);
        if (header.change_count == log->change_count) {
            co_return log;
        }
    }
    co_return failure(EAGAIN, "the ANA log changed each of the {} times it was read", kAttempts);
}

net::Task<Result<AnaLog>> AnaReader::read_pieces(Nanoseconds deadline) {
    buffer_.resize(first_);
    Result<void> got = co_await get(0, first_, Event::clear, deadline);
    while (got) {
        Result<AnaLogPart> part = decode_ana_log(buffer_, limits_);
        if (!part) {
            co_return failure_in("the ANA log is refused", part.error());
        }
        if (part->log) {
            co_return std::move(*part->log);
        }
        if (part->needs > kMaxLog) {
            co_return failure(EPROTO, "the ANA log is refused: it says it has {} bytes", part->needs);
        }
        const std::size_t have = buffer_.size();
        const std::size_t length = std::min(std::max(part->needs - have, kMinPiece), piece_);
        buffer_.resize(have + length);
        got = co_await get(have, length, Event::keep, deadline);
    }
    co_return tl::unexpected<Error>(got.error());
}

} // namespace mpath::nvme
