// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/discovery.h"

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>

#include "nvme/uri.h"

namespace mpath::nvme {
namespace {

/// What is left for a port that does not answer at all while another one can still be tried.
constexpr Nanoseconds kFirstPortPatience = 3 * kSecond;

/// "eth0" of "fe80::1%eth0"; empty: none.
std::string zone_of(const std::string& host) {
    const std::size_t percent = host.find('%');
    return percent == std::string::npos ? std::string() : host.substr(percent + 1);
}

using PortKey = std::tuple<std::uint8_t, std::uint8_t, std::string, std::string, std::string>;

PortKey key_of(const DiscoveryEntry& entry) {
    return {entry.transport, entry.family, entry.address, entry.service, entry.subnqn};
}

/// A service still to be asked.
struct Referral {
    DiscoveryEntry entry;
    unsigned depth;
    std::string told_by;
};

class Crawl {
public:
    Crawl(net::Reactor& reactor, BriefOptions options) : reactor_(reactor), options_(std::move(options)) {}

    net::Task<Result<Discovery>> run(std::string host, std::vector<std::uint16_t> ports) {
        const Result<DiscoveryAnswer> first = co_await ask_first(host, ports);
        if (!first) {
            co_return tl::unexpected<Error>(first.error());
        }
        take(*first, zone_of(host), 0);
        while (!referrals_.empty()) {
            const Referral referral = std::move(referrals_.front());
            referrals_.pop_front();
            if (visited_.contains(referral.entry.text())) {
                continue;
            }
            const std::string why = co_await follow(referral);
            if (!why.empty()) {
                found_.warnings.push_back(fmt::format("the referral to {} that {} gives is not followed: {}",
                                                      referral.entry.text(), referral.told_by, why));
            }
        }
        co_return std::move(found_);
    }

private:
    net::Task<Result<DiscoveryAnswer>> ask_first(std::string host, std::vector<std::uint16_t> ports) {
        Error error{EINVAL, {}};
        for (std::size_t i = 0; i < ports.size(); ++i) {
            auto addresses = net::resolve(host, ports[i]);
            if (!addresses) {
                co_return tl::unexpected<Error>(addresses.error()); // for every port alike
            }
            BriefOptions options = options_;
            if (i + 1 < ports.size()) {
                options.timeout = std::min(options.timeout, kFirstPortPatience);
            }
            auto answer =
                co_await ask_discovery_service(reactor_, *addresses, std::string(kDiscoveryNqn), options);
            if (answer) {
                co_return answer;
            }
            error = {answer.error().code,
                     fmt::format("{}{}{}", error.text, error.text.empty() ? "" : "; ", answer.error().text)};
        }
        co_return failure(error.code, "no discovery service answers: {}", error.text);
    }

    /// Why it can't be followed; empty when it was.
    net::Task<std::string> follow(Referral referral) {
        const DiscoveryEntry& entry = referral.entry;
        visited_.insert(entry.text());
        if (const std::string obstacle = entry.obstacle(); !obstacle.empty()) {
            co_return "it " + obstacle;
        }
        if (referral.depth > kMaxReferralDepth) {
            co_return fmt::format("it is more than {} referrals away", kMaxReferralDepth);
        }
        if (found_.services.size() >= kMaxDiscoveryServices) {
            co_return fmt::format("{} discovery services have been asked already", kMaxDiscoveryServices);
        }
        auto addresses = net::resolve(entry.address, entry.port()); // numeric: does not block
        if (!addresses) {
            co_return addresses.error().text;
        }
        std::string nqn = entry.subnqn.empty() ? std::string(kDiscoveryNqn) : entry.subnqn;
        const auto answer = co_await ask_discovery_service(reactor_, *addresses, std::move(nqn), options_);
        if (!answer) {
            co_return answer.error().text;
        }
        take(*answer, zone_of(entry.address), referral.depth);
        co_return std::string();
    }

    void take(const DiscoveryAnswer& answer, const std::string& zone, unsigned depth) {
        found_.services.push_back(answer.address);
        visited_.insert(answer.address);
        for (DiscoveryEntry entry : answer.entries) {
            entry.address = net::canonical_address(entry.address, zone);
            if (entry.is(DiscoverySubtype::referral)) {
                referrals_.push_back({std::move(entry), depth + 1, answer.address});
            } else if (entry.is(DiscoverySubtype::subsystem) && known_.insert(key_of(entry)).second) {
                found_.ports.push_back({std::move(entry), answer.address});
            }
        }
    }

    net::Reactor& reactor_;
    BriefOptions options_;
    Discovery found_;
    std::deque<Referral> referrals_;
    std::set<std::string> visited_; ///< "address:port" of services, whether they answered or not
    std::set<PortKey> known_;
};

} // namespace

net::Task<Result<Discovery>> discover(net::Reactor& reactor, std::string host,
                                      std::vector<std::uint16_t> ports, BriefOptions options) {
    Crawl crawl(reactor, std::move(options));
    co_return co_await crawl.run(std::move(host), std::move(ports));
}

} // namespace mpath::nvme
