// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/portal.h"

#include <algorithm>

#include "iscsi/login_text.h"
#include "iscsi/wire/pdu.h"
#include "net/uri_text.h"

namespace mpath::iscsi {

namespace {

constexpr std::size_t kMaxHostLength = 255; ///< of a name in DNS

/// Its percent-encoding is undone, so there can be anything in it.
bool is_plain_host(std::string_view host) {
    return host.size() <= kMaxHostLength &&
           std::all_of(host.begin(), host.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

} // namespace

std::string Portal::address() const {
    return net::address_text(host, port);
}

Result<Portal> parse_portal(std::string_view value) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const auto address = net::parse_host_port(value.substr(0, comma), kDefaultPort);
    const bool has_tag = comma < value.size();
    const auto tag = parse_number(value.substr(has_tag ? comma + 1 : comma), 0xffff);
    if (!address || (has_tag && !tag) || !is_plain_host(address->host)) {
        return failure(EPROTO, "the target broke the protocol: TargetAddress={} is no address",
                       quotable(value));
    }
    return Portal{address->host, address->port != 0 ? address->port : kDefaultPort, tag};
}

} // namespace mpath::iscsi
