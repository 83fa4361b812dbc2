// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/namespace_list.h"

#include <array>

#include "nvme/admin_command.h"
#include "nvme/brief_association.h"
#include "nvme/identify.h"

namespace mpath::nvme {
namespace {

using Nsids = std::vector<std::uint32_t>;

/// A list that is full may go on: the next one begins above its last.
net::Task<Result<Nsids>> read_list(AdminQueue& admin, Nanoseconds deadline) {
    constexpr std::size_t kListSize = kIdentifySize / sizeof(Le32);
    Nsids all;
    for (;;) {
        std::array<std::byte, kIdentifySize> page{};
        const Sqe sqe = identify(cns::kActiveNamespaces, all.empty() ? 0 : all.back());
        const Result<Completion> done =
            co_await admin.succeed(sqe, Transfer::to_host, page, deadline, "Identify (active namespaces)");
        if (!done) {
            co_return tl::unexpected<Error>(done.error());
        }
        const Nsids part = decode_namespace_list(page);
        for (const std::uint32_t nsid : part) {
            if (!all.empty() && nsid <= all.back()) {
                co_return failure(EPROTO, "the list of namespaces is not ascending: {} follows {}", nsid,
                                  all.back());
            }
            all.push_back(nsid);
        }
        if (part.size() < kListSize) {
            co_return all;
        }
    }
}

} // namespace

net::Task<Result<Nsids>> list_namespaces(net::Reactor& reactor, std::span<const net::SocketAddress> addresses,
                                         std::string subnqn, BriefOptions options) {
    const Nanoseconds deadline = reactor.clock().now() + options.timeout;
    auto association = co_await BriefAssociation::open(reactor, addresses, std::move(subnqn), CommandSet::nvm,
                                                       options, deadline);
    if (!association) {
        co_return tl::unexpected<Error>(association.error());
    }
    auto nsids = co_await read_list((*association)->admin(), deadline);
    co_await (*association)->end();
    if (!nsids) {
        co_return failure_in((*association)->address(), nsids.error());
    }
    co_return nsids;
}

} // namespace mpath::nvme
