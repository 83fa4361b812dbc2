// SPDX-License-Identifier: GPL-2.0-only
#include "job/probe.h"

#include <map>
#include <string>

#include "job/ask_once.h"

namespace mpath::job {
namespace {

using Facts = Result<nvme::ControllerFacts>;

net::Task<Facts> probe_path(net::Reactor& reactor, nvme::Uri uri, nvme::ControllerOptions options) {
    auto controller = co_await nvme::Controller::connect(reactor, uri, options);
    if (!controller) {
        co_return tl::unexpected<Error>(controller.error());
    }
    nvme::ControllerFacts facts = (*controller)->facts();
    co_await (*controller)->shutdown(reactor.clock().now() + nvme::kShutdownPatience);
    co_return facts;
}

std::string key(const nvme::Uri& uri, const nvme::ControllerOptions& options) {
    return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {}", uri.text(), options.host.nqn,
                       options.host.id_text(), options.io_queues, options.queue_size, options.keep_alive_ms,
                       options.pdu.header_digest, options.pdu.data_digest, options.pdu.hpda,
                       options.pdu.max_r2t, options.socket.source, options.socket.interface,
                       options.socket.tos.value_or(0));
}

} // namespace

Result<std::vector<Facts>> probe(const Clock& clock, const std::vector<nvme::Uri>& paths,
                                 const nvme::ControllerOptions& options) {
    static std::map<std::string, Facts> known; // fio sets jobs up one after the other, on one thread
    return ask_once(
        clock, known, paths, [&options](const nvme::Uri& uri) { return key(uri, options); },
        [&options](net::Reactor& reactor, const nvme::Uri& uri) {
            return probe_path(reactor, uri, options);
        });
}

} // namespace mpath::job
