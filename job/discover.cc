// SPDX-License-Identifier: GPL-2.0-only
#include "job/discover.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "job/ask_once.h"
#include "net/address.h"
#include "nvme/discovery.h"

namespace mpath::job {
namespace {

using Answer = Result<nvme::Discovery>;

std::vector<std::uint16_t> ports_to_ask(const nvme::Uri& uri) {
    if (uri.port == nvme::kDiscoveryPort) {
        return {uri.port};
    }
    return {nvme::kDiscoveryPort, uri.port};
}

/// One service for all paths to one address.
std::string key(const nvme::Uri& uri, const nvme::BriefOptions& options) {
    return fmt::format("{} {} {} {} {}", uri.address(), options.host.nqn, options.host.id_text(),
                       options.socket.source, options.socket.interface);
}

/// What the services of these paths say, in their order; all are asked at once.
Result<std::vector<Answer>> ask(const Clock& clock, const std::vector<PathSpec>& paths,
                                const nvme::BriefOptions& options) {
    static std::map<std::string, Answer> known; // fio sets jobs up one after the other, on one thread
    return ask_once(
        clock, known, paths,
        [&options](const PathSpec& path) { return key(std::get<nvme::Uri>(path.uri), options); },
        [&options](net::Reactor& reactor, const PathSpec& path) {
            const nvme::Uri& uri = std::get<nvme::Uri>(path.uri);
            return nvme::discover(reactor, uri.host, ports_to_ask(uri), options);
        });
}

/// What makes two paths one: where they go and what to.
using Way = std::tuple<std::string, std::string, std::uint32_t>;

class PathCollector {
public:
    explicit PathCollector(std::vector<PathSpec> listed) {
        found_.list = std::move(listed);
        for (const PathSpec& path : found_.list) {
            names_.insert(path.name);
            // A name may stand for several addresses, of which the path uses the first that answers.
            const nvme::Uri& uri = std::get<nvme::Uri>(path.uri);
            if (const auto addresses = net::resolve(uri.host, uri.port)) {
                for (const net::SocketAddress& address : *addresses) {
                    ways_.insert({address.text(), uri.subnqn, uri.nsid});
                }
            }
        }
    }

    void take(const nvme::Uri& uri, const nvme::Discovery& found) {
        notes(found.warnings);
        for (const nvme::DiscoveredPort& port : found.ports) {
            if (port.entry.subnqn == uri.subnqn) {
                take(uri, port.entry);
            }
        }
    }

    void notes(const std::vector<std::string>& sentences) {
        for (const std::string& sentence : sentences) {
            note(sentence);
        }
    }

    void note(const std::string& sentence) {
        if (std::find(found_.notes.begin(), found_.notes.end(), sentence) == found_.notes.end()) {
            found_.notes.push_back(sentence);
        }
    }

    DiscoveredPaths result() && { return std::move(found_); }

private:
    void take(const nvme::Uri& asked, const nvme::DiscoveryEntry& entry) {
        if (const std::string obstacle = entry.obstacle(); !obstacle.empty()) {
            note(fmt::format("the port {} that discovery found {}", entry.text(), obstacle));
            return;
        }
        nvme::Uri uri{entry.address, entry.port(), asked.subnqn, asked.nsid};
        const auto addresses = net::resolve(uri.host, uri.port); // numeric: does not block
        if (!addresses) {
            note(addresses.error().text);
        } else if (ways_.insert({addresses->front().text(), uri.subnqn, uri.nsid}).second) {
            found_.list.push_back({free_name(), std::move(uri)});
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

} // namespace

Result<DiscoveredPaths> discover_paths(const Clock& clock, std::vector<PathSpec> listed,
                                       const nvme::BriefOptions& options) {
    auto answers = ask(clock, listed, options);
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
            collector.take(std::get<nvme::Uri>(listed[i].uri), *answer);
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
