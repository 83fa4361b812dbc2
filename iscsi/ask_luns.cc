// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/ask_luns.h"

#include "iscsi/block_command.h"
#include "iscsi/command_session.h"
#include "iscsi/login.h"
#include "iscsi/lun_list.h"
#include "iscsi/name.h"
#include "iscsi/uri.h"

namespace mpath::iscsi {
namespace {

constexpr std::size_t kLunListSize = 16 * 1024; ///< bytes: some two thousand

} // namespace

net::Task<Result<std::vector<std::uint64_t>>> report_luns(CommandSession& session, Nanoseconds deadline) {
    std::vector<std::byte> data(kLunListSize);
    ReportLunsCdb command;
    command.allocation = static_cast<std::uint32_t>(data.size());
    const Result<CommandResult> done =
        co_await session.succeed(cdb_of(command), Transfer::to_host, data, deadline, "REPORT LUNS");
    if (!done) {
        co_return tl::unexpected<Error>(done.error());
    }
    data.resize(done->moved);
    co_return parse_lun_list(data);
}

net::Task<Result<std::vector<std::uint64_t>>> list_luns(net::Reactor& reactor,
                                                        std::span<const net::SocketAddress> addresses,
                                                        std::string target, SessionOptions options) {
    const Nanoseconds deadline = reactor.clock().now() + options.connect_timeout;
    LoginRequestOptions request = login_request(options, std::move(target), isid(random_isid_base(), 0));
    Result<LoggedIn> logged_in = co_await log_in(reactor, addresses, std::move(request), deadline);
    if (!logged_in) {
        co_return tl::unexpected<Error>(logged_in.error());
    }
    const std::string address = logged_in->address;
    CommandSession session(reactor, std::move(*logged_in), to_wire(0), {});
    const Result<std::vector<std::uint64_t>> luns = co_await report_luns(session, deadline);
    co_await session.log_out(std::min(deadline, reactor.clock().now() + kSecond));
    co_await session.close();
    if (!luns) {
        co_return failure_in(address, luns.error());
    }
    co_return luns;
}

} // namespace mpath::iscsi
