// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/uri.h"

#include "nvme/nqn.h"

namespace mpath::nvme {

namespace {

constexpr net::UriText::Words kUriWords{"nvme+tcp://", "subnqn", "nsid", "the subsystem's NQN"};
constexpr std::uint32_t kMaxNsid = 0xfffffffe; // FFFFFFFFh means all namespaces

Result<std::string> parse_subnqn(const net::UriText& uri, net::UriText::Part subnqn) {
    auto decoded = uri.decode(subnqn);
    if (!decoded) {
        return decoded;
    }
    if (auto good = check_nqn(*decoded); !good) {
        return uri.refuse(subnqn.offset, "{}", good.error().text);
    }
    return decoded;
}

Result<std::uint32_t> parse_nsid(const net::UriText& uri, net::UriText::Part nsid) {
    const std::size_t slash = nsid.text.find('/');
    if (slash != std::string_view::npos) {
        return uri.refuse(nsid.offset + slash,
                          "nothing follows the NSID; a '/' inside the NQN is written %2F");
    }
    const auto number = net::to_integer<std::uint32_t>(nsid.text);
    if (!number || *number == 0 || *number > kMaxNsid) {
        return uri.refuse(nsid.offset, "NSID '{}' is not a number from 1 to {}", nsid.text, kMaxNsid);
    }
    return *number;
}

} // namespace

std::string Uri::address() const {
    return net::address_text(host, port);
}

std::string Uri::text() const {
    return fmt::format("{}{}:{}/{}/{}", kUriWords.scheme, net::uri_host(host), port, net::uri_name(subnqn),
                       nsid);
}

Result<Uri> parse_uri(std::string_view text) {
    const net::UriText uri(text, kDefaultPort);
    const auto parts = uri.split(kUriWords);
    if (!parts) {
        return tl::unexpected(parts.error());
    }
    const std::size_t at = parts->authority.text.find('@');
    if (at != std::string_view::npos) {
        return uri.refuse(parts->authority.offset + at, "NVMe/TCP addresses have no user name");
    }
    auto address = uri.parse_authority(parts->authority);
    if (!address) {
        return tl::unexpected(address.error());
    }
    auto subnqn = parse_subnqn(uri, parts->name);
    if (!subnqn) {
        return tl::unexpected(subnqn.error());
    }
    const auto nsid = parse_nsid(uri, parts->number);
    if (!nsid) {
        return tl::unexpected(nsid.error());
    }
    return Uri{std::move(address->host), address->port != 0 ? address->port : kDefaultPort,
               std::move(*subnqn), *nsid};
}

} // namespace mpath::nvme
