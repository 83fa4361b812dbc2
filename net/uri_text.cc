// SPDX-License-Identifier: GPL-2.0-only
#include "net/uri_text.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>

namespace mpath::net {
namespace {

int hex_value(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// RFC 3986 "unreserved", and ':' which every NQN and iSCSI name has and the path of a URI may contain.
bool may_stand_as_it_is(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-._~:").find(c) != std::string_view::npos;
}

bool is_ipv6(std::string_view host) {
    return host.find(':') != std::string_view::npos;
}

} // namespace

bool has_scheme(std::string_view text, std::string_view scheme) {
    return text.size() >= scheme.size() &&
           std::equal(scheme.begin(), scheme.end(), text.begin(), [](char expected, char c) {
               return expected == static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
           });
}

std::string address_text(std::string_view host, std::uint16_t port) {
    return is_ipv6(host) ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string uri_name(std::string_view name) {
    std::string encoded;
    for (const char c : name) {
        if (may_stand_as_it_is(c)) {
            encoded += c;
        } else {
            encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return encoded;
}

std::string uri_host(std::string_view host) {
    return is_ipv6(host) ? fmt::format("[{}]", uri_name(host)) : uri_name(host);
}

Result<HostPort> parse_host_port(std::string_view text, std::uint16_t usual_port) {
    const std::string address(text.substr(0, text.find('%')));
    in6_addr binary{};
    const std::string bracketed = fmt::format("[{}]", text);
    const UriText uri(inet_pton(AF_INET6, address.c_str(), &binary) == 1 ? bracketed : text, usual_port);
    const UriText::Part whole = uri.whole();
    const std::size_t odd = whole.text.find_first_of("/?# \t");
    if (odd != std::string_view::npos) {
        return uri.refuse(odd, "'{}' has no place in HOST[:PORT]", whole.text[odd]);
    }
    return uri.parse_authority(whole);
}

Result<UriText::Parts> UriText::split(const Words& words) const {
    if (!has_scheme(text_, words.scheme)) {
        return refuse(0, "a path begins with '{}'", words.scheme);
    }
    const Part rest = whole().from(words.scheme.size());
    const std::size_t odd = rest.text.find_first_of("?# \t");
    if (odd != std::string_view::npos) {
        return refuse(rest.offset + odd,
                      "'{}' has no place in a path; write it as %{:02X} if it belongs to a name",
                      rest.text[odd], static_cast<unsigned char>(rest.text[odd]));
    }
    const std::size_t first_slash = rest.text.find('/');
    if (first_slash == std::string_view::npos) {
        return refuse(text_.size(), "'/{}/{}' is missing behind the address", words.name, words.number);
    }
    const Part path = rest.from(first_slash + 1);
    const std::size_t second_slash = path.text.find('/');
    if (second_slash == std::string_view::npos) {
        return refuse(text_.size(), "'/{}' is missing behind {}", words.number, words.name_before);
    }
    return Parts{rest.from(0, first_slash), path.from(0, second_slash), path.from(second_slash + 1)};
}

Result<HostPort> UriText::parse_authority(Part authority) const {
    HostPort parsed;
    std::size_t host_end = 0;
    Result<std::string> host;
    if (authority.text.starts_with('[')) {
        const std::size_t bracket = authority.text.find(']');
        if (bracket == std::string_view::npos) {
            return refuse(authority.offset, "']' is missing behind the IPv6 address");
        }
        host = parse_bracketed_host(authority.from(1, bracket - 1));
        host_end = bracket + 1;
    } else {
        host_end = std::min(authority.text.find(':'), authority.text.size());
        if (host_end == 0) {
            return refuse(authority.offset, "the host is missing");
        }
        if (authority.text.find(':', host_end + 1) != std::string_view::npos) {
            return refuse(authority.offset, "an IPv6 address stands in brackets, as in [::1]:{}",
                          usual_port_);
        }
        host = decode(authority.from(0, host_end));
    }
    if (!host) {
        return tl::unexpected(std::move(host.error()));
    }
    parsed.host = std::move(*host);
    if (host_end == authority.text.size()) {
        return parsed;
    }
    if (authority.text[host_end] != ':') {
        return refuse(authority.offset + host_end, "only ':port' may follow the address");
    }
    const Part port = authority.from(host_end + 1);
    const auto number = to_integer<std::uint16_t>(port.text);
    if (!number || *number == 0) {
        return refuse(port.offset, "port '{}' is not a number from 1 to 65535", port.text);
    }
    parsed.port = *number;
    return parsed;
}

Result<std::string> UriText::parse_bracketed_host(Part inner) const {
    const std::size_t percent = inner.text.find('%');
    std::string address(inner.text.substr(0, percent));
    in6_addr binary{};
    if (inet_pton(AF_INET6, address.c_str(), &binary) != 1) {
        return refuse(inner.offset, "'{}' is no IPv6 address", address);
    }
    if (percent == std::string_view::npos) {
        return address;
    }
    Result<std::string> zone = parse_zone(inner.from(percent + 1));
    if (zone) {
        zone = address + '%' + *zone;
    }
    return zone;
}

/// What follows '%': "25eth0" as RFC 6874 has it, or "eth0". A bare "25" is the interface of that index.
Result<std::string> UriText::parse_zone(Part zone) const {
    if (zone.text.empty()) {
        return refuse(zone.offset, "the zone is missing behind '%', as in [fe80::1%25eth0]");
    }
    constexpr std::string_view kEncodedPercent = "25";
    if (zone.text.starts_with(kEncodedPercent) && zone.text.size() > kEncodedPercent.size()) {
        return decode(zone.from(kEncodedPercent.size()));
    }
    return std::string(zone.text);
}

Result<std::string> UriText::decode(Part part) const {
    std::string decoded;
    for (std::size_t i = 0; i < part.text.size(); ++i) {
        if (part.text[i] != '%') {
            decoded += part.text[i];
            continue;
        }
        const int high = i + 1 < part.text.size() ? hex_value(part.text[i + 1]) : -1;
        const int low = i + 2 < part.text.size() ? hex_value(part.text[i + 2]) : -1;
        if (high < 0 || low < 0) {
            return refuse(part.offset + i,
                          "'%' must be followed by two hexadecimal digits; '%' itself is written %25");
        }
        if (high == 0 && low == 0) {
            return refuse(part.offset + i, "a zero byte can't be part of a name");
        }
        decoded += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return decoded;
}

} // namespace mpath::net
