// SPDX-License-Identifier: GPL-2.0-only
// What the URIs of all protocols have in common: SCHEME://HOST[:PORT]/NAME/NUMBER, with percent-encoding.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/result.h"

namespace mpath::net {

/// "HOST[:PORT]".
struct HostPort {
    std::string host;       ///< name or address; an IPv6 address without its brackets
    std::uint16_t port = 0; ///< 0: not given

    bool operator==(const HostPort&) const = default;
};

/// "host:port", with brackets around an IPv6 address, its zone as it is.
[[nodiscard]] std::string address_text(std::string_view host, std::uint16_t port);

/// EINVAL with what is wrong and at which character of the text, counted from 1. Percent-encoding is undone.
/// An IPv6 address may be without brackets if no port follows; its zone follows '%25' (RFC 6874) or, as
/// people write it, '%'. `usual_port` is for the sentence.
[[nodiscard]] Result<HostPort> parse_host_port(std::string_view text, std::uint16_t usual_port);

/// A host as it stands in a URI.
[[nodiscard]] std::string uri_host(std::string_view host);
/// A name as it stands in a URI: what would end it there is percent-encoded.
[[nodiscard]] std::string uri_name(std::string_view name);

/// The number that all of `digits` is.
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

/// A URI while it is parsed; outlived by its text.
class UriText {
public:
    /// A piece of it and where it stands, so that errors can point at it.
    struct Part {
        std::string_view text;
        std::size_t offset = 0;

        [[nodiscard]] Part from(std::size_t begin, std::size_t count = std::string_view::npos) const {
            return {text.substr(begin, count), offset + begin};
        }
    };
    struct Parts {
        Part authority;
        Part name;
        Part number;
    };
    /// What a protocol calls the parts, for sentences.
    struct Words {
        std::string_view scheme;      ///< "nvme+tcp://"
        std::string_view name;        ///< "subnqn"
        std::string_view number;      ///< "nsid"
        std::string_view name_before; ///< "the subsystem's NQN"
    };

    UriText(std::string_view text, std::uint16_t usual_port) : text_(text), usual_port_(usual_port) {}

    template <typename... Args>
    tl::unexpected<Error> refuse(std::size_t offset, fmt::format_string<Args...> format,
                                 Args&&... args) const {
        return failure(EINVAL, "'{}', character {}: {}", text_, offset + 1,
                       fmt::format(format, std::forward<Args>(args)...));
    }

    [[nodiscard]] Part whole() const { return {text_, 0}; }
    [[nodiscard]] Result<Parts> split(const Words& words) const;
    /// HOST[:PORT].
    [[nodiscard]] Result<HostPort> parse_authority(Part authority) const;
    [[nodiscard]] Result<std::string> decode(Part part) const;

private:
    [[nodiscard]] Result<std::string> parse_bracketed_host(Part inner) const;
    [[nodiscard]] Result<std::string> parse_zone(Part zone) const;

    std::string_view text_;
    std::uint16_t usual_port_;
};

/// Whether `text` begins with `scheme`, whatever its case.
[[nodiscard]] bool has_scheme(std::string_view text, std::string_view scheme);

} // namespace mpath::net
