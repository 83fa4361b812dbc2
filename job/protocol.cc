// SPDX-License-Identifier: GPL-2.0-only
#include "job/protocol.h"

#include "iscsi/io_path.h"
#include "job/controller_link.h"
#include "job/session_link.h"
#include "nvme/io_path.h"

namespace mpath::job {
namespace {

std::string socket_key(const net::SocketOptions& socket) {
    return fmt::format("{} {} {}", socket.source, socket.interface, socket.tos.value_or(0));
}

} // namespace

std::unique_ptr<PathConnector> make_connector(net::Reactor& reactor, const PathUri& uri,
                                              const ConnectOptions& options) {
    if (const auto* nvme = std::get_if<nvme::Uri>(&uri)) {
        return std::make_unique<ControllerConnector>(reactor, *nvme, options.nvme);
    }
    const auto& iscsi = std::get<iscsi::Uri>(uri);
    iscsi::SessionOptions sessions = options.iscsi;
    if (sessions.chap && !iscsi.user.empty()) {
        sessions.chap->user = iscsi.user;
    }
    return std::make_unique<SessionConnector>(reactor, iscsi, std::move(sessions));
}

std::unique_ptr<Path> make_path(const PathUri& uri, std::uint16_t index, const DeviceLimits& limits,
                                WriteOptions writes, net::Reactor& reactor, RequestList& completions,
                                PathListener& listener) {
    if (const auto* nvme = std::get_if<nvme::Uri>(&uri)) {
        return std::make_unique<nvme::IoPath>(index, nvme->nsid, limits, writes, reactor, completions,
                                              listener);
    }
    return std::make_unique<iscsi::IoPath>(index, std::get<iscsi::Uri>(uri).lun, limits, writes, reactor,
                                           completions, listener);
}

std::string look_key(const PathUri& uri, const ConnectOptions& options) {
    if (std::holds_alternative<nvme::Uri>(uri)) {
        const nvme::ControllerOptions& nvme = options.nvme;
        return fmt::format("{} {} {} {} {} {} {} {} {} {} {}", uri_text(uri), nvme.host.nqn,
                           nvme.host.id_text(), nvme.io_queues, nvme.queue_size, nvme.keep_alive_ms,
                           nvme.pdu.header_digest, nvme.pdu.data_digest, nvme.pdu.hpda, nvme.pdu.max_r2t,
                           socket_key(nvme.socket));
    }
    const iscsi::SessionOptions& iscsi = options.iscsi;
    return fmt::format("{} {} {} {} {} {} {} {} {}", uri_text(uri), iscsi.initiator_name,
                       iscsi.chap ? iscsi.chap->user : "", iscsi.io_queues, iscsi.queue_size,
                       iscsi.keep_alive_ms, iscsi.header_digest, iscsi.data_digest, socket_key(iscsi.socket));
}

} // namespace mpath::job
