// SPDX-License-Identifier: GPL-2.0-only
#include "target/options.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <set>
#include <utility>

#include "base/duration.h"
#include "nvme/wire/fabrics.h"
#include "nvme/wire/pdu.h"

namespace mpath::target {

namespace {

Result<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (fault != std::errc{} || end != text.data() + text.size()) {
        return failure(EINVAL, "'{}' is not a port, give a number from 0 (any free one) to 65535", text);
    }
    return port;
}

Result<void> read_address(std::string_view text, ListenerOptions& listener) {
    const bool bracketed = text.starts_with('[');
    const std::size_t colon = bracketed ? text.find("]:") : text.rfind(':');
    if (colon == std::string_view::npos) {
        return failure(EINVAL, "'{}' has no port, write ADDRESS:PORT, or [ADDRESS]:PORT for IPv6", text);
    }
    listener.address = text.substr(bracketed ? 1 : 0, bracketed ? colon - 1 : colon);
    auto port = parse_port(text.substr(colon + (bracketed ? 2 : 1)));
    if (!port) {
        return tl::unexpected(port.error());
    }
    listener.port = *port;
    return {};
}

Result<void> read_attribute(std::string_view text, ListenerOptions& listener) {
    const std::size_t equals = text.find('=');
    const std::string_view key = text.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
    if (key == "name" && !value.empty()) {
        listener.name = value;
        return {};
    }
    if (key == "ana") {
        if (listener.protocol == Protocol::nvme_tcp && parse_ana(value) && !is_ana_word(value)) {
            return failure(EINVAL, "'{}' is a state of ALUA, for iSCSI portals", value);
        }
        return parse_ana(value).map([&](AccessState state) { listener.ana = state; });
    }
    if (key == "delay") {
        return parse_duration(value).map([&](Nanoseconds delay) { listener.delay = delay; });
    }
    if (key == "break" && listener.protocol == Protocol::iscsi) {
        return failure(EINVAL, "break= is for NVMe/TCP");
    }
    if (key == "break") {
        return parse_break(value).map([&](const Break& breach) { listener.breach = breach; });
    }
    if (key == "flip") {
        return parse_flip(value, listener.flips);
    }
    return failure(
        EINVAL, "'{}' is not a listener's attribute, there are name=, ana=, delay=, flip= and break=", text);
}

bool is_power_of_two_between(std::uint64_t value, std::uint64_t low, std::uint64_t high) {
    return std::has_single_bit(value) && value >= low && value <= high;
}

Result<void> check_listeners(Options& options) {
    if (options.listeners.empty()) {
        options.listeners.emplace_back();
    }
    std::set<std::string> names;
    const auto name_all = [&names](std::vector<ListenerOptions>& listeners,
                                   std::string_view prefix) -> Result<void> {
        for (std::size_t i = 0; i < listeners.size(); ++i) {
            auto& listener = listeners[i];
            if (listener.name.empty()) {
                listener.name = fmt::format("{}{}", prefix, i);
            }
            if (!names.insert(listener.name).second) {
                return failure(EINVAL,
                               "two listeners are named '{}', give each its own name=", listener.name);
            }
        }
        return {};
    };
    for (const auto& listener : options.listeners) {
        if (options.reorder && listener.breach.what != Misdeed::none) {
            return failure(EINVAL, "what is done wrong needs answers in their order: take --break without "
                                   "--vary and --reorder");
        }
    }
    auto named = name_all(options.listeners, "p");
    return named ? name_all(options.discovery.listeners, "discovery") : named;
}

Result<void> check_namespaces(const Options& options) {
    if (options.namespaces < 1 || options.namespaces > 1024) {
        return failure(EINVAL, "{} namespaces cannot be served, 1 to 1024 can", options.namespaces);
    }
    if (options.groups > 4096) {
        return failure(EINVAL, "{} ANA groups cannot be served, up to 4096 can", options.groups);
    }
    if (!is_power_of_two_between(options.block_size, 512, 65536)) {
        return failure(EINVAL, "block size {} is not a power of two from 512 to 65536", options.block_size);
    }
    if (options.size == 0 || options.size % options.block_size != 0) {
        return failure(EINVAL, "size {} is not a multiple of the block size {}", options.size,
                       options.block_size);
    }
    if (options.preferred_write > 65536 || options.optimal_write > 65536) {
        return failure(EINVAL, "write sizes of {} and {} blocks cannot be announced, at most 65536 can",
                       options.preferred_write, options.optimal_write);
    }
    if (options.max_write_zeroes != 0 &&
        !is_power_of_two_between(options.max_write_zeroes, std::max(8192U, options.block_size), 1U << 31)) {
        return failure(EINVAL,
                       "Write Zeroes limit {} is not a power of two of at least 8192 bytes and a block",
                       options.max_write_zeroes);
    }
    if (options.protection > 3 || (options.protection != 0 && options.metadata < 8)) {
        return failure(EINVAL,
                       "protection information type {} needs type 1 to 3 and at least 8 metadata bytes",
                       options.protection);
    }
    return {};
}

Result<void> check_iscsi(const IscsiOptions& options) {
    constexpr std::uint32_t kLeast = 512;
    constexpr std::uint32_t kMost = 0xffffff;
    constexpr std::size_t kMostName = 223;
    for (const auto& [name, value] :
         {std::pair("MaxBurstLength", options.max_burst), std::pair("FirstBurstLength", options.first_burst),
          std::pair("MaxRecvDataSegmentLength", options.max_receive)}) {
        if (value < kLeast || value > kMost) {
            return failure(EINVAL, "{} {} is not from {} to {} bytes", name, value, kLeast, kMost);
        }
    }
    if (options.first_burst > options.max_burst) {
        return failure(EINVAL, "FirstBurstLength {} is above MaxBurstLength {}", options.first_burst,
                       options.max_burst);
    }
    if (options.name.empty() || options.name.size() > kMostName) {
        return failure(EINVAL, "the iSCSI target's name has to have 1 to {} characters", kMostName);
    }
    return {};
}

Result<void> check_limits(const Options& options) {
    if (options.mdts != 0 &&
        !is_power_of_two_between(options.mdts, std::max(8192U, options.block_size), 1U << 31)) {
        return failure(EINVAL, "MDTS {} is not a power of two of at least 8192 bytes and a block",
                       options.mdts);
    }
    if (options.in_capsule % 16 != 0 || options.in_capsule > (1U << 20)) {
        return failure(EINVAL, "in-capsule size {} is not a multiple of 16 up to 1 MiB", options.in_capsule);
    }
    if (options.max_h2c_data < nvme::kMinMaxH2cData || options.max_h2c_data % 4 != 0) {
        return failure(EINVAL, "MAXH2CDATA {} is not a multiple of 4 of at least 4096", options.max_h2c_data);
    }
    if (options.r2t_size % 4 != 0 && options.r2t_size != kRandomSize) {
        return failure(EINVAL, "R2T size {} is not a multiple of 4 bytes", options.r2t_size);
    }
    if (options.max_r2t < 1) {
        return failure(EINVAL, "at least one R2T at a time has to be allowed");
    }
    if (options.cpda > nvme::kMaxPduDataAlignment) {
        return failure(EINVAL, "CPDA {} is above {}", options.cpda, nvme::kMaxPduDataAlignment);
    }
    if (options.queue_size < 2 || options.queue_size > 65536) {
        return failure(EINVAL, "queue size {} is not from 2 to 65536", options.queue_size);
    }
    if (options.io_queues < 1 || options.controllers < 1 || options.controllers > 0xff00) {
        return failure(EINVAL, "at least one I/O queue and one association have to be allowed");
    }
    if (options.subnqn.empty() || options.subnqn.size() > nvme::kMaxNqnLength) {
        return failure(EINVAL, "the subsystem's NQN has to have 1 to {} characters", nvme::kMaxNqnLength);
    }
    return {};
}

} // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    constexpr std::string_view kUnits = "kmgt";
    unsigned shift = 0;
    bool known = fault == std::errc{} && unit.size() <= 1;
    if (known && unit.size() == 1) {
        const std::size_t at = kUnits.find(static_cast<char>(unit[0] | 0x20));
        known = at != std::string_view::npos;
        shift = known ? 10 * (static_cast<unsigned>(at) + 1) : 0;
    }
    if (!known || number > (std::numeric_limits<std::uint64_t>::max() >> shift)) {
        return failure(EINVAL, "'{}' is not a size, write a number and k, M, G or T, such as 256M", text);
    }
    return number << shift;
}

Result<std::uint32_t> parse_step(std::string_view text) {
    if (text == "random") {
        return kRandomSize;
    }
    const auto size = parse_size(text);
    if (!size || *size >= kRandomSize) {
        return failure(EINVAL, "'{}' is neither a size below 4G nor 'random'", text);
    }
    return static_cast<std::uint32_t>(*size);
}

Result<void> parse_flip(std::string_view text, Flips& flips) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view what = text.substr(0, colon);
    const std::string_view digits = text.substr(std::min(colon + 1, text.size()));
    std::uint32_t number = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool counted = fault == std::errc{} && end == digits.data() + digits.size() && number != 0;
    if (!counted || (what != "header" && what != "data")) {
        return failure(EINVAL, "'{}' is no bit to flip, write header:N or data:N for the N-th PDU from 1",
                       text);
    }
    (what == "header" ? flips.header : flips.data) = number;
    return {};
}

Result<ListenerOptions> parse_listener(std::string_view text, Protocol protocol) {
    ListenerOptions listener;
    listener.protocol = protocol;
    std::size_t comma = text.find(',');
    auto read = read_address(text.substr(0, comma), listener);
    while (read && comma != std::string_view::npos) {
        text.remove_prefix(comma + 1);
        comma = text.find(',');
        read = read_attribute(text.substr(0, comma), listener);
    }
    if (!read) {
        return tl::unexpected(read.error());
    }
    return listener;
}

Result<Options> checked(Options options) {
    if (options.vary) {
        options.r2t_size = options.c2h_size = options.segment = kRandomSize;
        options.max_r2t = std::numeric_limits<std::uint32_t>::max();
        options.reorder = true;
    }
    auto fine = check_listeners(options);
    if (fine) {
        fine = check_namespaces(options);
    }
    if (fine) {
        fine = check_limits(options);
    }
    if (fine) {
        fine = check_iscsi(options.iscsi);
    }
    if (!fine) {
        return tl::unexpected(fine.error());
    }
    return options;
}

} // namespace mpath::target
