// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/discovery_controller.h"

#include <algorithm>

#include "nvme/admin_command.h"
#include "nvme/admin_queue.h"
#include "nvme/controller_enable.h"
#include "nvme/queue_connect.h"

namespace mpath::nvme {
namespace {

constexpr std::uint16_t kAdminQueueSize = 32;
constexpr int kAttempts = 8;              ///< at a log that changes while it is read
constexpr std::size_t kMaxPiece = 4096;   ///< bytes of one command; no MDTS is lower
constexpr Nanoseconds kGoodbye = kSecond; ///< for shutting down, of which nothing depends

class LogReader {
public:
    LogReader(AdminQueue& admin, Nanoseconds deadline) : admin_(admin), deadline_(deadline) {}

    /// Entries only count when the header is the same after them as before.
    net::Task<Result<std::vector<DiscoveryEntry>>> read() {
        Result<DiscoverySummary> summary = co_await read_header();
        for (int attempt = 0; summary && attempt < kAttempts; ++attempt) {
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
        co_return failure(EAGAIN, "the discovery log changed each of the {} times it was read", kAttempts);
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
        for (std::size_t at = 0; at < bytes.size(); at += kMaxPiece) {
            const std::size_t length = std::min(kMaxPiece, bytes.size() - at);
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

net::Task<Result<std::vector<DiscoveryEntry>>> read_log(AdminQueue& admin, Nanoseconds deadline) {
    const Result<EnabledController> enabled =
        co_await enable_controller(admin, CommandSet::admin_only, deadline);
    if (!enabled) {
        co_return tl::unexpected<Error>(enabled.error());
    }
    LogReader reader(admin, deadline);
    auto entries = co_await reader.read();
    if (!admin.closing()) {
        const Nanoseconds until = admin.reactor().clock().now() + kGoodbye;
        co_await shut_down_controller(admin, enabled->configuration, until);
    }
    co_return entries;
}

} // namespace

net::Task<Result<DiscoveryAnswer>> ask_discovery_service(net::Reactor& reactor,
                                                         std::span<const net::SocketAddress> addresses,
                                                         std::string nqn, DiscoveryOptions options) {
    const Nanoseconds deadline = reactor.clock().now() + options.timeout;
    ConnectRequest request;
    request.subsystem_nqn = std::move(nqn);
    request.host = options.host;
    request.queue_size = kAdminQueueSize;
    request.socket = options.socket;
    request.pdu = options.pdu;
    Result<ConnectedQueue> queue = co_await connect_queue(reactor, addresses, request, deadline);
    if (!queue) {
        co_return tl::unexpected<Error>(queue.error()); // names the address itself
    }
    DiscoveryAnswer answer;
    answer.address = queue->address;
    AdminQueue admin(reactor, std::move(*queue), [](const Error&) {});
    auto entries = co_await read_log(admin, deadline);
    co_await admin.close();
    if (!entries) {
        co_return failure_in(answer.address, entries.error());
    }
    answer.entries = std::move(*entries);
    co_return answer;
}

} // namespace mpath::nvme
