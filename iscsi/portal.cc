// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/portal.h"

#include <algorithm>

#include "iscsi/login_text.h"
#include "iscsi/wire/pdu.h"
#include "net/uri_text.h"

namespace mpath::iscsi {

std::string Portal::address() const {
    return net::address_text(host, port);
}

Result<Portal> parse_portal(std::string_view value) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const auto address = net::parse_host_port(value.substr(0, comma), kDefaultPort);
    const auto tag = parse_number(value.substr(std::min(comma + 1, value.size())), 0xffff);
    const bool has_tag = comma < value.size();
    if (quotable(value) != value || !address || (has_tag && !tag)) {
        return failure(EPROTO, "the target broke the protocol: TargetAddress={} is no address",
                       quotable(value));
    }
    return Portal{address->host, address->port != 0 ? address->port : kDefaultPort, tag};
}

} // namespace mpath::iscsi
