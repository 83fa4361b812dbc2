// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/discovery_log.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "nvme/nqn.h"

namespace mpath::nvme {
namespace {

bool is_printable(char c) {
    return c >= 0x20 && c < 0x7f;
}

/// The text of a fixed field, up to its padding of NULs or blanks. Targets pad with either.
template <std::size_t N>
Result<std::string> field_text(const std::array<char, N>& field, const char* name) {
    const std::string_view whole(field.data(), N);
    std::string_view text = whole.substr(0, whole.find('\0'));
    text = text.substr(0, text.find_last_not_of(' ') + 1);
    if (text.size() == N) {
        return failure(EPROTO, "{} fills its {} bytes without an end", name, N);
    }
    const auto odd = std::find_if_not(text.begin(), text.end(), is_printable);
    if (odd != text.end()) {
        return failure(EPROTO, "{} contains byte {:02x}h at position {}", name,
                       static_cast<unsigned char>(*odd), odd - text.begin() + 1);
    }
    return std::string(text);
}

/// A subsystem must have a name. A referral without one means the well-known name.
Result<std::string> entry_nqn(const DiscoveryLogEntry& entry) {
    const std::string_view whole(entry.subnqn.data(), entry.subnqn.size());
    const std::size_t end = whole.find('\0');
    if (end == std::string_view::npos) {
        return failure(EPROTO, "SUBNQN fills its {} bytes without an end", whole.size());
    }
    const std::string_view nqn = whole.substr(0, end);
    if (nqn.empty() && entry.subtype != static_cast<std::uint8_t>(DiscoverySubtype::subsystem)) {
        return std::string();
    }
    if (auto good = check_nqn(nqn); !good) {
        return failure(EPROTO, "SUB{}", good.error().text); // its sentence begins with NQN
    }
    return std::string(nqn);
}

Result<DiscoveryEntry> decode_entry(const DiscoveryLogEntry& raw) {
    auto subnqn = entry_nqn(raw);
    if (!subnqn) {
        return tl::unexpected<Error>(std::move(subnqn.error()));
    }
    auto address = field_text(raw.traddr, "TRADDR");
    if (!address) {
        return tl::unexpected<Error>(std::move(address.error()));
    }
    auto service = field_text(raw.trsvcid, "TRSVCID");
    if (!service) {
        return tl::unexpected<Error>(std::move(service.error()));
    }
    DiscoveryEntry entry;
    entry.transport = raw.trtype;
    entry.family = raw.adrfam;
    entry.subtype = raw.subtype;
    entry.port_id = raw.portid;
    entry.flags = raw.eflags;
    entry.secure_channel = raw.treq & treq::kSecureChannelMask;
    if (raw.trtype == static_cast<std::uint8_t>(TransportType::tcp)) {
        entry.security = static_cast<SecurityType>(raw.tsas.front());
    }
    entry.subnqn = std::move(*subnqn);
    entry.address = std::move(*address);
    entry.service = std::move(*service);
    return entry;
}

/// Whether `address` is a numeric one of the family, other than the wildcard; a zone may follow IPv6.
bool is_address(const std::string& address, AddressFamily family) {
    if (family == AddressFamily::ipv4) {
        in_addr binary{};
        return ::inet_pton(AF_INET, address.c_str(), &binary) == 1 && binary.s_addr != INADDR_ANY;
    }
    in6_addr binary{};
    return ::inet_pton(AF_INET6, address.substr(0, address.find('%')).c_str(), &binary) == 1 &&
           !IN6_IS_ADDR_UNSPECIFIED(&binary);
}

} // namespace

std::uint16_t DiscoveryEntry::port() const {
    std::uint16_t number = 0;
    const char* end = service.data() + service.size();
    const auto [stop, problem] = std::from_chars(service.data(), end, number);
    return problem == std::errc() && stop == end ? number : std::uint16_t{0};
}

std::string DiscoveryEntry::text() const {
    const bool brackets = family == static_cast<std::uint8_t>(AddressFamily::ipv6);
    return brackets ? fmt::format("[{}]:{}", address, service) : fmt::format("{}:{}", address, service);
}

std::string DiscoveryEntry::obstacle() const {
    if (transport != static_cast<std::uint8_t>(TransportType::tcp)) {
        return fmt::format("is reached by {}, this initiator speaks TCP only", transport_name(transport));
    }
    const auto known = static_cast<AddressFamily>(family);
    if (known != AddressFamily::ipv4 && known != AddressFamily::ipv6) {
        return fmt::format("has an address of family {}, this initiator knows IPv4 and IPv6",
                           family_name(family));
    }
    if (!is_address(address, known)) {
        return fmt::format("has the address '{}', which is no {} address to connect to", address,
                           family_name(family));
    }
    if (port() == 0) {
        return fmt::format("has the port '{}', which is no number from 1 to 65535", service);
    }
    if (requires_tls()) {
        return "requires TLS, which this initiator does not speak: offer the subsystem on a port without it";
    }
    return {};
}

std::string transport_name(std::uint8_t type) {
    switch (static_cast<TransportType>(type)) {
    case TransportType::rdma:
        return "RDMA";
    case TransportType::fibre_channel:
        return "Fibre Channel";
    case TransportType::tcp:
        return "TCP";
    case TransportType::loop:
        return "loop";
    }
    return fmt::format("transport {}", type);
}

std::string family_name(std::uint8_t family) {
    switch (static_cast<AddressFamily>(family)) {
    case AddressFamily::ipv4:
        return "IPv4";
    case AddressFamily::ipv6:
        return "IPv6";
    case AddressFamily::infiniband:
        return "InfiniBand";
    case AddressFamily::fibre_channel:
        return "Fibre Channel";
    case AddressFamily::loop:
        return "loop";
    }
    return std::to_string(family);
}

Result<DiscoverySummary> decode_discovery_header(const DiscoveryLogHeader& header) {
    if (header.format != 0) {
        return failure(EPROTO, "its entries have format {} (RECFMT), this initiator knows format 0",
                       header.format.get());
    }
    if (header.records > kMaxDiscoveryEntries) {
        return failure(EPROTO, "it says it has {} entries (NUMREC), at most {} are read",
                       header.records.get(), kMaxDiscoveryEntries);
    }
    return DiscoverySummary{header.generation, header.records};
}

Result<std::vector<DiscoveryEntry>> decode_discovery_entries(std::span<const std::byte> bytes) {
    if (bytes.size() % sizeof(DiscoveryLogEntry) != 0) {
        return failure(EPROTO, "{} bytes are no whole number of entries", bytes.size());
    }
    std::vector<DiscoveryEntry> entries;
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(DiscoveryLogEntry)) {
        DiscoveryLogEntry raw;
        std::memcpy(&raw, bytes.data() + at, sizeof raw);
        auto entry = decode_entry(raw);
        if (!entry) {
            return failure_in(fmt::format("entry {}", entries.size() + 1), entry.error());
        }
        entries.push_back(std::move(*entry));
    }
    return entries;
}

} // namespace mpath::nvme
