// SPDX-License-Identifier: GPL-2.0-only
#include "target/discovery.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "nvme/wire/discovery.h"
#include "nvme/wire/identify.h"
#include "target/controller.h"
#include "target/page.h"

namespace mpath::target {

namespace {

using nvme::AddressFamily;
using nvme::DiscoveryLogEntry;
using nvme::DiscoverySubtype;
using nvme::Status;
using nvme::StatusCode;
using Bytes = std::vector<std::byte>;

constexpr std::uint16_t kAdminQueueEntries = 32;
/// Port IDs of the second entry of each port lie so much above those of the first.
constexpr std::uint16_t kDuplicatePorts = 1000;

template <std::size_t N>
void put_text(std::array<char, N>& field, std::string_view text) {
    std::copy_n(text.begin(), std::min(text.size(), N - 1), field.begin());
}

DiscoveryLogEntry entry_for(const ListenerOptions& at, DiscoverySubtype subtype, std::string_view nqn) {
    DiscoveryLogEntry entry;
    const bool v6 = at.address.find(':') != std::string::npos;
    entry.trtype = static_cast<std::uint8_t>(nvme::TransportType::tcp);
    entry.adrfam = static_cast<std::uint8_t>(v6 ? AddressFamily::ipv6 : AddressFamily::ipv4);
    entry.subtype = static_cast<std::uint8_t>(subtype);
    entry.treq = nvme::treq::kSecureChannelNotRequired | nvme::treq::kCanDisableSqFlowControl;
    entry.cntlid = nvme::kDynamicController;
    entry.asqsz = kAdminQueueEntries;
    put_text(entry.trsvcid, std::to_string(at.port));
    put_text(entry.subnqn, nqn);
    put_text(entry.traddr, at.address);
    return entry;
}

} // namespace

bool is_discovery(std::string_view subnqn) {
    return subnqn == nvme::kDiscoveryNqn;
}

Bytes Discovery::log(const Listener& listener, bool from_start) {
    if (from_start && moves_left_ > 0) {
        --moves_left_;
        ++generation_;
    }
    std::vector<DiscoveryLogEntry> entries;
    std::uint16_t port = 0;
    for (const Listener* each : listeners_) {
        ++port;
        if (each->discovery_only) {
            continue;
        }
        DiscoveryLogEntry entry = entry_for(each->options, DiscoverySubtype::subsystem, subnqn_);
        entry.portid = port;
        if (options_.tls) {
            entry.treq = nvme::treq::kSecureChannelRequired | nvme::treq::kCanDisableSqFlowControl;
            entry.tsas.front() = static_cast<std::uint8_t>(nvme::SecurityType::tls13);
        }
        entry.eflags = options_.duplicates ? nvme::eflags::kDuplicateReturnedInformation : 0;
        entries.push_back(entry);
        if (options_.duplicates) {
            entry.portid = port + kDuplicatePorts;
            entries.push_back(entry);
        }
    }
    for (const ListenerOptions& other : options_.referrals) {
        entries.push_back(entry_for(other, DiscoverySubtype::referral, nvme::kDiscoveryNqn));
    }
    entries.push_back(entry_for(listener.options, DiscoverySubtype::current, nvme::kDiscoveryNqn));

    nvme::DiscoveryLogHeader header;
    header.generation = generation_;
    header.records = entries.size();
    Bytes bytes;
    append(bytes, header);
    for (const DiscoveryLogEntry& entry : entries) {
        append(bytes, entry);
    }
    return bytes;
}

tl::expected<Bytes, Status> identify_discovery(const Options& options, const Controller& controller,
                                               const nvme::Sqe& sqe) {
    if ((sqe.cdw10 & 0xff) != nvme::cns::kController) {
        return tl::unexpected(Status(StatusCode::invalid_field, true));
    }
    nvme::IdentifyController page;
    put_padded(page.serial, options.serial);
    put_padded(page.model, options.model);
    put_padded(page.firmware, options.firmware);
    page.cntlid = controller.id();
    page.version = kVersion;
    page.ctratt = nvme::ctratt::kHostId128;
    page.controller_type = nvme::kDiscoveryControllerType;
    page.aerl = kMaxAsyncEvents - 1;
    page.kas = kKeepAliveGranularityMs / 100;
    page.maxcmd = kAdminQueueEntries;
    page.sgls = nvme::kSglsSupported | nvme::kSglsOffsetInCapsule | nvme::kSglsTransportDataBlock;
    put_text(page.subnqn, nvme::kDiscoveryNqn);
    Bytes bytes;
    append(bytes, page);
    return bytes;
}

} // namespace mpath::target
