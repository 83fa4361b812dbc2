// SPDX-License-Identifier: GPL-2.0-only
#include "job/probe.h"

#include <map>
#include <string>

#include "net/async.h"

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
    auto reactor = net::make_reactor(clock, 64);
    if (!reactor) {
        return tl::unexpected<Error>(reactor.error());
    }
    std::size_t open = 0;
    for (const nvme::Uri& uri : paths) {
        const auto [entry, fresh] =
            known.try_emplace(key(uri, options), failure(EINPROGRESS, "not asked yet"));
        if (fresh) {
            ++open;
            net::spawn<Facts>(probe_path(**reactor, uri, options),
                              [&open, &place = entry->second](Facts facts) {
                                  place = std::move(facts);
                                  --open;
                              });
        }
    }
    while (open > 0) {
        (*reactor)->run(kSecond);
    }
    std::vector<Facts> facts;
    facts.reserve(paths.size());
    for (const nvme::Uri& uri : paths) {
        facts.push_back(known.at(key(uri, options)));
    }
    return facts;
}

} // namespace mpath::job
