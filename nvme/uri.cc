// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/uri.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <optional>

#include "nvme/nqn.h"

namespace mpath::nvme {

namespace {

constexpr std::string_view kScheme = "nvme+tcp://";
constexpr std::uint32_t kMaxNsid = 0xfffffffe; // FFFFFFFFh means all namespaces

/// A piece of the URI and where it stands, so that errors can point at it.
struct Part {
    std::string_view text;
    std::size_t offset = 0;

    [[nodiscard]] Part from(std::size_t begin, std::size_t count = std::string_view::npos) const {
        return {text.substr(begin, count), offset + begin};
    }
};

class UriParser {
public:
    explicit UriParser(std::string_view text) : text_(text) {}

    Result<Uri> parse();
    /// The text is an address and nothing else.
    Result<HostPort> parse_host();

private:
    template <typename... Args>
    tl::unexpected<Error> refuse(std::size_t offset, fmt::format_string<Args...> format,
                                 Args&&... args) const {
        return failure(EINVAL, "'{}', character {}: {}", text_, offset + 1,
                       fmt::format(format, std::forward<Args>(args)...));
    }

    Result<void> parse_authority(Part authority);
    Result<void> parse_bracketed_host(Part inner);
    [[nodiscard]] Result<std::string> parse_zone(Part zone) const;
    Result<void> parse_port(Part port);
    Result<void> parse_subnqn(Part subnqn);
    Result<void> parse_nsid(Part nsid);
    [[nodiscard]] Result<std::string> decode(Part part) const;

    std::string_view text_;
    Uri uri_;
};

template <typename Integer>
std::optional<Integer> to_integer(std::string_view digits) {
    Integer value = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, problem] = std::from_chars(digits.data(), end, value);
    if (problem != std::errc() || stop != end) {
        return std::nullopt;
    }
    return value;
}

int hex_value(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool has_scheme(std::string_view text) {
    return text.size() >= kScheme.size() &&
           std::equal(kScheme.begin(), kScheme.end(), text.begin(), [](char expected, char c) {
               return expected == static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
           });
}

/// RFC 3986 "unreserved", and ':' which every NQN has and the path of a URI may contain.
bool may_stand_as_it_is(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-._~:").find(c) != std::string_view::npos;
}

std::string encode(std::string_view text) {
    std::string encoded;
    for (const char c : text) {
        if (may_stand_as_it_is(c)) {
            encoded += c;
        } else {
            encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return encoded;
}

bool is_ipv6(std::string_view host) {
    return host.find(':') != std::string_view::npos;
}

Result<Uri> UriParser::parse() {
    if (!has_scheme(text_)) {
        return refuse(0, "a path begins with '{}'", kScheme);
    }
    const Part rest{text_.substr(kScheme.size()), kScheme.size()};
    const std::size_t odd = rest.text.find_first_of("?# \t");
    if (odd != std::string_view::npos) {
        return refuse(rest.offset + odd,
                      "'{}' has no place in a path; write it as %{:02X} if it belongs to a name",
                      rest.text[odd], static_cast<unsigned char>(rest.text[odd]));
    }
    const std::size_t first_slash = rest.text.find('/');
    if (first_slash == std::string_view::npos) {
        return refuse(text_.size(), "'/subnqn/nsid' is missing behind the address");
    }
    const Part path = rest.from(first_slash + 1);
    const std::size_t second_slash = path.text.find('/');
    if (second_slash == std::string_view::npos) {
        return refuse(text_.size(), "'/nsid' is missing behind the subsystem's NQN");
    }
    if (auto done = parse_authority(rest.from(0, first_slash)); !done) {
        return tl::unexpected(done.error());
    }
    if (auto done = parse_subnqn(path.from(0, second_slash)); !done) {
        return tl::unexpected(done.error());
    }
    if (auto done = parse_nsid(path.from(second_slash + 1)); !done) {
        return tl::unexpected(done.error());
    }
    return uri_;
}

Result<HostPort> UriParser::parse_host() {
    const std::size_t odd = text_.find_first_of("/?# \t");
    if (odd != std::string_view::npos) {
        return refuse(odd, "'{}' has no place in HOST[:PORT]", text_[odd]);
    }
    uri_.port = 0; // which no text can say
    if (auto done = parse_authority({text_, 0}); !done) {
        return tl::unexpected(done.error());
    }
    return HostPort{uri_.host, uri_.port};
}

Result<void> UriParser::parse_authority(Part authority) {
    const std::size_t at = authority.text.find('@');
    if (at != std::string_view::npos) {
        return refuse(authority.offset + at, "NVMe/TCP addresses have no user name");
    }
    std::size_t host_end = 0;
    if (authority.text.starts_with('[')) {
        const std::size_t bracket = authority.text.find(']');
        if (bracket == std::string_view::npos) {
            return refuse(authority.offset, "']' is missing behind the IPv6 address");
        }
        if (auto done = parse_bracketed_host(authority.from(1, bracket - 1)); !done) {
            return done;
        }
        host_end = bracket + 1;
    } else {
        host_end = std::min(authority.text.find(':'), authority.text.size());
        if (host_end == 0) {
            return refuse(authority.offset, "the host is missing");
        }
        if (authority.text.find(':', host_end + 1) != std::string_view::npos) {
            return refuse(authority.offset, "an IPv6 address stands in brackets, as in [::1]:4420");
        }
        auto host = decode(authority.from(0, host_end));
        if (!host) {
            return tl::unexpected(host.error());
        }
        uri_.host = std::move(*host);
    }
    if (host_end == authority.text.size()) {
        return {};
    }
    if (authority.text[host_end] != ':') {
        return refuse(authority.offset + host_end, "only ':port' may follow the address");
    }
    return parse_port(authority.from(host_end + 1));
}

Result<void> UriParser::parse_bracketed_host(Part inner) {
    const std::size_t percent = inner.text.find('%');
    const std::string address(inner.text.substr(0, percent));
    in6_addr binary{};
    if (inet_pton(AF_INET6, address.c_str(), &binary) != 1) {
        return refuse(inner.offset, "'{}' is no IPv6 address", address);
    }
    uri_.host = address;
    if (percent != std::string_view::npos) {
        auto zone = parse_zone(inner.from(percent + 1));
        if (!zone) {
            return tl::unexpected(zone.error());
        }
        uri_.host += '%' + *zone;
    }
    return {};
}

/// What follows '%': "25eth0" as RFC 6874 has it, or "eth0". A bare "25" is the interface of that index.
Result<std::string> UriParser::parse_zone(Part zone) const {
    if (zone.text.empty()) {
        return refuse(zone.offset, "the zone is missing behind '%', as in [fe80::1%25eth0]");
    }
    constexpr std::string_view kEncodedPercent = "25";
    if (zone.text.starts_with(kEncodedPercent) && zone.text.size() > kEncodedPercent.size()) {
        return decode(zone.from(kEncodedPercent.size()));
    }
    return std::string(zone.text);
}

Result<void> UriParser::parse_port(Part port) {
    const auto number = to_integer<std::uint16_t>(port.text);
    if (!number || *number == 0) {
        return refuse(port.offset, "port '{}' is not a number from 1 to 65535", port.text);
    }
    uri_.port = *number;
    return {};
}

Result<void> UriParser::parse_subnqn(Part subnqn) {
    auto decoded = decode(subnqn);
    if (!decoded) {
        return tl::unexpected(decoded.error());
    }
    if (auto good = check_nqn(*decoded); !good) {
        return refuse(subnqn.offset, "{}", good.error().text);
    }
    uri_.subnqn = std::move(*decoded);
    return {};
}

Result<void> UriParser::parse_nsid(Part nsid) {
    const std::size_t slash = nsid.text.find('/');
    if (slash != std::string_view::npos) {
        return refuse(nsid.offset + slash, "nothing follows the NSID; a '/' inside the NQN is written %2F");
    }
    const auto number = to_integer<std::uint32_t>(nsid.text);
    if (!number || *number == 0 || *number > kMaxNsid) {
        return refuse(nsid.offset, "NSID '{}' is not a number from 1 to {}", nsid.text, kMaxNsid);
    }
    uri_.nsid = *number;
    return {};
}

Result<std::string> UriParser::decode(Part part) const {
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
                          "'%' must be followed by two hexadecimal digits; '%' itself is written "
                          "%25");
        }
        if (high == 0 && low == 0) {
            return refuse(part.offset + i, "a zero byte can't be part of a name");
        }
        decoded += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return decoded;
}

} // namespace

std::string address_text(std::string_view host, std::uint16_t port) {
    return is_ipv6(host) ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string Uri::address() const {
    return address_text(host, port);
}

std::string Uri::text() const {
    const std::string where = is_ipv6(host) ? fmt::format("[{}]", encode(host)) : encode(host);
    return fmt::format("{}{}:{}/{}/{}", kScheme, where, port, encode(subnqn), nsid);
}

Result<Uri> parse_uri(std::string_view text) {
    return UriParser(text).parse();
}

Result<HostPort> parse_host_port(std::string_view text) {
    const std::string address(text.substr(0, text.find('%')));
    in6_addr binary{};
    if (inet_pton(AF_INET6, address.c_str(), &binary) == 1) {
        return UriParser(fmt::format("[{}]", text)).parse_host();
    }
    return UriParser(text).parse_host();
}

} // namespace mpath::nvme
