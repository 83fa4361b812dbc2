// SPDX-License-Identifier: GPL-2.0-only
#include "job/discover.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "iscsi/discovery.h"
#include "job/ask_once.h"
#include "net/address.h"
#include "nvme/discovery.h"

namespace mpath::job {
namespace {

/// What one service says of the target that was asked about.
struct Ways {
    std::vector<PathUri> uris;
    std::vector<std::string> notes; ///< why there are not more
};

using Answer = Result<Ways>;

std::vector<std::uint16_t> ports_to_ask(const nvme::Uri& uri) {
    if (uri.port == nvme::kDiscoveryPort) {
        return {uri.port};
    }
    return {nvme::kDiscoveryPort, uri.port};
}

net::Task<Answer> ask(net::Reactor& reactor, nvme::Uri uri, nvme::ControllerOptions options) {
    nvme::BriefOptions brief{options.host, options.socket, options.connect_timeout};
    const auto found = co_await nvme::discover(reactor, uri.host, ports_to_ask(uri), std::move(brief));
    if (!found) {
        co_return tl::unexpected<Error>(found.error());
    }
    Ways ways{{}, found->warnings};
    for (const nvme::DiscoveredPort& port : found->ports) {
        const nvme::DiscoveryEntry& entry = port.entry;
        if (entry.subnqn != uri.subnqn) {
            continue;
        }
        if (const std::string obstacle = entry.obstacle(); !obstacle.empty()) {
            ways.notes.push_back(fmt::format("the port {} that discovery found {}", entry.text(), obstacle));
        } else {
            nvme::Uri way{entry.address, entry.port(), uri.subnqn, uri.nsid};
            ways.uris.emplace_back(std::move(way));
        }
    }
    co_return std::move(ways);
}

net::Task<Answer> ask(net::Reactor& reactor, iscsi::Uri uri, iscsi::SessionOptions options) {
    const auto addresses = net::resolve(uri.host, uri.port);
    if (!addresses) {
        co_return tl::unexpected<Error>(addresses.error());
    }
    const Nanoseconds deadline = reactor.clock().now() + options.connect_timeout;
    const auto found =
        co_await iscsi::discover_targets(reactor, *addresses, std::move(options), uri.target, deadline);
    if (!found) {
        co_return tl::unexpected<Error>(found.error());
    }
    Ways ways;
    for (const iscsi::DiscoveredTarget& target : found->targets) {
        for (const iscsi::Portal& portal : target.portals) {
            if (target.name == uri.target) {
                iscsi::Uri way{uri.user, portal.host, portal.port, uri.target, uri.lun};
                ways.uris.emplace_back(std::move(way));
            }
        }
    }
    co_return std::move(ways);
}

/// One service for all paths to one address.
std::string key(const PathUri& uri, const ConnectOptions& options) {
    const net::SocketOptions& socket = options.nvme.socket;
    const auto& who =
        std::holds_alternative<nvme::Uri>(uri) ? options.nvme.host.nqn : options.iscsi.initiator_name;
    return fmt::format("{} {} {} {} {} {} {}", protocol_of(uri), address_of(uri), target_of(uri), who,
                       options.nvme.host.id_text(), socket.source, socket.interface);
}

/// What makes two paths one: where they go and what to.
using Way = std::tuple<std::string, std::string, std::uint64_t>;

std::uint64_t unit_of(const PathUri& uri) {
    const auto* nvme = std::get_if<nvme::Uri>(&uri);
    return nvme != nullptr ? nvme->nsid : std::get<iscsi::Uri>(uri).lun;
}

/// A name may stand for several addresses, of which a path uses the first that answers.
Result<std::vector<net::SocketAddress>> addresses_of(const PathUri& uri) {
    return std::visit([](const auto& one) { return net::resolve(one.host, one.port); }, uri);
}

class PathCollector {
public:
    explicit PathCollector(std::vector<PathSpec> listed) {
        found_.list = std::move(listed);
        for (const PathSpec& path : found_.list) {
            names_.insert(path.name);
            if (const auto addresses = addresses_of(path.uri)) {
                for (const net::SocketAddress& address : *addresses) {
                    ways_.insert({address.text(), target_of(path.uri), unit_of(path.uri)});
                }
            }
        }
    }

    void take(const Ways& ways) {
        for (const std::string& sentence : ways.notes) {
            note(sentence);
        }
        for (const PathUri& uri : ways.uris) {
            take(uri);
        }
    }

    void note(const std::string& sentence) {
        if (std::find(found_.notes.begin(), found_.notes.end(), sentence) == found_.notes.end()) {
            found_.notes.push_back(sentence);
        }
    }

    DiscoveredPaths result() && { return std::move(found_); }

private:
    void take(const PathUri& uri) {
        const auto addresses = addresses_of(uri); // numeric: does not block
        if (!addresses) {
            note(addresses.error().text);
        } else if (ways_.insert({addresses->front().text(), target_of(uri), unit_of(uri)}).second) {
            found_.list.push_back({free_name(), uri});
        }
    }

    std::string free_name() {
        for (std::size_t number = found_.list.size();; ++number) {
            std::string name = fmt::format("p{}", number);
            if (names_.insert(name).second) {
                return name;
            }
        }
    }

    DiscoveredPaths found_;
    std::set<std::string> names_;
    std::set<Way> ways_;
};

/// What the services of these paths say, in their order; all are asked at once.
Result<std::vector<Answer>> ask_all(const Clock& clock, const std::vector<PathSpec>& paths,
                                    const ConnectOptions& options) {
    static std::map<std::string, Answer> known; // fio sets jobs up one after the other, on one thread
    return ask_once(
        clock, known, paths, [&options](const PathSpec& path) { return key(path.uri, options); },
        [&options](net::Reactor& reactor, const PathSpec& path) {
            const auto* nvme = std::get_if<nvme::Uri>(&path.uri);
            return nvme != nullptr ? ask(reactor, *nvme, options.nvme)
                                   : ask(reactor, std::get<iscsi::Uri>(path.uri), options.iscsi);
        });
}

} // namespace

Result<DiscoveredPaths> discover_paths(const Clock& clock, std::vector<PathSpec> listed,
                                       const ConnectOptions& options) {
    auto answers = ask_all(clock, listed, options);
    if (!answers) {
        return tl::unexpected<Error>(answers.error());
    }
    const bool none = std::none_of(answers->begin(), answers->end(),
                                   [](const Answer& answer) { return answer.has_value(); });
    if (none) {
        return failure_in("discover=1", answers->front().error());
    }
    PathCollector collector(listed);
    for (std::size_t i = 0; i < listed.size(); ++i) {
        const Answer& answer = (*answers)[i];
        if (answer) {
            collector.take(*answer);
        } else {
            collector.note(answer.error().text);
        }
    }
    DiscoveredPaths found = std::move(collector).result();
    if (found.list.size() > kMaxPaths) {
        return failure(EINVAL, "discover=1: {} paths were found, at most {} are possible", found.list.size(),
                       kMaxPaths);
    }
    return found;
}

} // namespace mpath::job
