// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/uri.h"

#include "iscsi/name.h"
#include "net/uri_text.h"

namespace mpath::iscsi {

namespace {

constexpr net::UriText::Words kUriWords{"iscsi://", "target-name", "lun", "the target's name"};
constexpr std::uint64_t kPeripheralLuns = 256;
constexpr std::uint8_t kFlatSpace = 0x40; // address method 01b

/// The error for "user%secret@", which must not be quoted anywhere.
Result<void> check_for_password(std::string_view text) {
    const std::size_t at = text.find('@');
    const std::size_t percent = text.find('%');
    if (at != std::string_view::npos && percent < at) {
        return failure(EINVAL,
                       "{}…, character {}: a password has no place in a path, nor '%' in the user's name: "
                       "chap_secret_file= names a file with the secret",
                       kUriWords.scheme, percent + 1);
    }
    return {};
}

Result<std::string> parse_target(const net::UriText& uri, net::UriText::Part target) {
    auto decoded = uri.decode(target);
    if (!decoded) {
        return decoded;
    }
    if (auto good = check_name(*decoded); !good) {
        return uri.refuse(target.offset, "{}", good.error().text);
    }
    return decoded;
}

Result<std::uint64_t> parse_lun(const net::UriText& uri, net::UriText::Part lun) {
    const std::size_t slash = lun.text.find('/');
    if (slash != std::string_view::npos) {
        return uri.refuse(lun.offset + slash, "nothing follows the LUN");
    }
    const auto number = net::to_integer<std::uint64_t>(lun.text);
    if (!number || *number > kMaxLun) {
        return uri.refuse(lun.offset, "LUN '{}' is not a number from 0 to {}", lun.text, kMaxLun);
    }
    return *number;
}

} // namespace

std::string Uri::address() const {
    return net::address_text(host, port);
}

std::string Uri::text() const {
    return fmt::format("{}{}{}{}:{}/{}/{}", kUriWords.scheme, user, user.empty() ? "" : "@",
                       net::uri_host(host), port, net::uri_name(target), lun);
}

Result<Uri> parse_uri(std::string_view text) {
    const net::UriText uri(text, kDefaultPort);
    if (net::has_scheme(text, kUriWords.scheme)) {
        if (auto good = check_for_password(text); !good) {
            return tl::unexpected(good.error());
        }
    }
    const auto parts = uri.split(kUriWords);
    if (!parts) {
        return tl::unexpected(parts.error());
    }
    Uri parsed;
    net::UriText::Part authority = parts->authority;
    const std::size_t at = authority.text.find('@');
    if (at != std::string_view::npos) {
        if (at == 0) {
            return uri.refuse(authority.offset, "the user's name is missing before '@'");
        }
        parsed.user = authority.text.substr(0, at);
        authority = authority.from(at + 1);
    }
    auto address = uri.parse_authority(authority);
    if (!address) {
        return tl::unexpected(address.error());
    }
    parsed.host = std::move(address->host);
    parsed.port = address->port != 0 ? address->port : kDefaultPort;
    auto target = parse_target(uri, parts->name);
    if (!target) {
        return tl::unexpected(target.error());
    }
    parsed.target = std::move(*target);
    const auto lun = parse_lun(uri, parts->number);
    if (!lun) {
        return tl::unexpected(lun.error());
    }
    parsed.lun = *lun;
    return parsed;
}

Lun to_wire(std::uint64_t number) {
    Lun lun{};
    lun[0] = number < kPeripheralLuns ? 0 : static_cast<std::uint8_t>(kFlatSpace | number >> 8);
    lun[1] = static_cast<std::uint8_t>(number);
    return lun;
}

} // namespace mpath::iscsi
