// SPDX-License-Identifier: GPL-2.0-only
#include "job/protocol.h"

#include "job/controller_link.h"
#include "nvme/io_path.h"

namespace mpath::job {
namespace {

std::string socket_key(const net::SocketOptions& socket) {
    return fmt::format("{} {} {}", socket.source, socket.interface, socket.tos.value_or(0));
}

} // namespace

std::unique_ptr<PathConnector> make_connector(net::Reactor& reactor, const PathUri& uri,
                                              const ConnectOptions& options) {
    return std::make_unique<ControllerConnector>(reactor, std::get<nvme::Uri>(uri), options.nvme);
}

std::unique_ptr<Path> make_path(const PathUri& uri, std::uint16_t index, const DeviceLimits& limits,
                                WriteOptions writes, net::Reactor& reactor, RequestList& completions,
                                PathListener& listener) {
    return std::make_unique<nvme::IoPath>(index, std::get<nvme::Uri>(uri).nsid, limits, writes, reactor,
                                          completions, listener);
}

std::string look_key(const PathUri& uri, const ConnectOptions& options) {
    const nvme::ControllerOptions& nvme = options.nvme;
    return fmt::format("{} {} {} {} {} {} {} {} {} {} {}", uri_text(uri), nvme.host.nqn, nvme.host.id_text(),
                       nvme.io_queues, nvme.queue_size, nvme.keep_alive_ms, nvme.pdu.header_digest,
                       nvme.pdu.data_digest, nvme.pdu.hpda, nvme.pdu.max_r2t, socket_key(nvme.socket));
}

} // namespace mpath::job
