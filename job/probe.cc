// SPDX-License-Identifier: GPL-2.0-only
#include "job/probe.h"

#include <map>
#include <string>

#include "job/ask_once.h"

namespace mpath::job {
namespace {

net::Task<FoundFacts> look_at(std::unique_ptr<PathConnector> connector) {
    net::Cancellation never;
    co_return co_await connector->look(never);
}

} // namespace

Result<std::vector<FoundFacts>> probe(const Clock& clock, const std::vector<PathUri>& paths,
                                      const ConnectOptions& options) {
    static std::map<std::string, FoundFacts> known; // fio sets jobs up one after the other, on one thread
    return ask_once(
        clock, known, paths, [&options](const PathUri& uri) { return look_key(uri, options); },
        [&options](net::Reactor& reactor, const PathUri& uri) {
            return look_at(make_connector(reactor, uri, options));
        });
}

} // namespace mpath::job
