// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/discovery_controller.h"

#include <algorithm>

#include "nvme/admin_command.h"

namespace mpath::nvme {
namespace {

constexpr int kLogAttempts = 8;         ///< at a log that changes while it is read
constexpr std::size_t kLogPiece = 4096; ///< bytes of one command; no MDTS is lower

class LogReader {
public:
    LogReader(AdminQueue& admin, Nanoseconds deadline) : admin_(admin), deadline_(deadline) {}

    /// Entries only count when the header is the same after them as before.
    net::Task<Result<std::vector<DiscoveryEntry>>> read() {
        Result<DiscoverySummary> summary = co_await read_header();
        for (int attempt = 0; summary && attempt < kLogAttempts; ++attempt) {
            auto entries = co_await read_entries(summary->entries);
            if (!entries && admin_.closing()) {
                co_return tl::unexpected<Error>(entries.error());
            }
            const Result<DiscoverySummary> after = co_await read_header();
            if (after && *after == *summary) {
                co_return entries;
            }
            summary = after;
        }
        if (!summary) {
            co_return tl::unexpected<Error>(summary.error());
        }
        co_return failure(EAGAIN, "the discovery log changed each of the {} times it was read", kLogAttempts);
    }

private:
    net::Task<Result<DiscoverySummary>> read_header() {
        DiscoveryLogHeader header;
        const Result<void> got = co_await get(0, std::as_writable_bytes(std::span(&header, 1)));
        if (!got) {
            co_return tl::unexpected<Error>(got.error());
        }
        Result<DiscoverySummary> summary = decode_discovery_header(header);
        if (!summary) {
            co_return failure_in("the discovery log is refused", summary.error());
        }
        co_return summary;
    }

    /// Not a byte beyond the log's end: not every target bears that.
    net::Task<Result<std::vector<DiscoveryEntry>>> read_entries(std::uint64_t count) {
        std::vector<std::byte> bytes(count * sizeof(DiscoveryLogEntry));
        for (std::size_t at = 0; at < bytes.size(); at += kLogPiece) {
            const std::size_t length = std::min(kLogPiece, bytes.size() - at);
            const Result<void> got =
                co_await get(sizeof(DiscoveryLogHeader) + at, std::span(bytes).subspan(at, length));
            if (!got) {
                co_return tl::unexpected<Error>(got.error());
            }
        }
        auto entries = decode_discovery_entries(bytes);
        if (!entries) {
            co_return failure_in("the discovery log is refused", entries.error());
        }
        co_return entries;
    }

    net::Task<Result<void>> get(std::size_t offset, std::span<std::byte> bytes) {
        const Sqe sqe = get_log_page(log_page::kDiscovery, offset, bytes.size(), false);
        const Result<Completion> done =
            co_await admin_.succeed(sqe, Transfer::to_host, bytes, deadline_, "Get Log Page (discovery)");
        if (!done) {
            co_return tl::unexpected<Error>(done.error());
        }
        co_return Result<void>{};
    }

    AdminQueue& admin_;
    Nanoseconds deadline_;
};

} // namespace

net::Task<Result<DiscoveryAnswer>> ask_discovery_service(net::Reactor& reactor,
                                                         std::span<const net::SocketAddress> addresses,
                                                         std::string nqn, BriefOptions options) {
    const Nanoseconds deadline = reactor.clock().now() + options.timeout;
    auto association = co_await BriefAssociation::open(reactor, addresses, std::move(nqn),
                                                       CommandSet::admin_only, options, deadline);
    if (!association) {
        co_return tl::unexpected<Error>(association.error());
    }
    LogReader reader((*association)->admin(), deadline);
    auto entries = co_await reader.read();
    co_await (*association)->end();
    DiscoveryAnswer answer;
    answer.address = (*association)->address();
    if (!entries) {
        co_return failure_in(answer.address, entries.error());
    }
    answer.entries = std::move(*entries);
    co_return answer;
}

} // namespace mpath::nvme
