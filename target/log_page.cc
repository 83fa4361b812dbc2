// SPDX-License-Identifier: GPL-2.0-only
#include "target/log_page.h"

#include <algorithm>
#include <cstring>

#include "nvme/wire/log_page.h"
#include "target/page.h"

namespace mpath::target {

namespace {

using nvme::Status;
using nvme::StatusCode;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kMaxLogTransfer = 1U << 20;

/// `lie`: nullptr, or what is to be wrong with it.
Bytes ana_log(const Subsystem& subsystem, Listener& listener, bool groups_only, const AnaLie* lie) {
    if (lie != nullptr && *lie == AnaLie::count_moves) {
        listener.ana.count_change();
    }
    Bytes bytes;
    nvme::AnaLogHeader header;
    header.change_count = listener.ana.change_count();
    header.groups = static_cast<std::uint16_t>(subsystem.group_count());
    append(bytes, header);
    for (std::uint32_t number = 1; number <= subsystem.group_count(); ++number) {
        nvme::AnaGroupDescriptor group;
        Bytes nsids;
        for (std::uint32_t nsid = number; nsid <= subsystem.namespace_count() && !groups_only;
             nsid += subsystem.group_count()) {
            if (subsystem.find_namespace(nsid, listener) != nullptr) {
                append(nsids, Le32(nsid));
            }
        }
        group.group = number;
        group.nsids = static_cast<std::uint32_t>(nsids.size() / sizeof(Le32));
        group.change_count = listener.ana.change_count_of(number);
        group.state = static_cast<std::uint8_t>(listener.ana_state(number));
        append(bytes, group);
        bytes.insert(bytes.end(), nsids.begin(), nsids.end());
    }
    if (lie != nullptr) {
        tell(*lie, bytes, subsystem.group_count());
    }
    return bytes;
}

const AnaLie* lie_of(Controller& controller, const nvme::Sqe& sqe) {
    Faults& faults = controller.listener().faults;
    const Action* action =
        faults.empty()
            ? nullptr
            : faults.take(ActionKind::lie_ana, {.controller = controller.id(), .queue = 0, .command = &sqe});
    return action == nullptr ? nullptr : &action->ana_lie;
}

/// Up to 1024 NSIDs; more are said with one number.
Bytes changed_namespaces_log(const AsyncEvents& events) {
    constexpr std::size_t kMost = 1024;
    Bytes bytes;
    if (events.changed_namespaces().size() > kMost) {
        append(bytes, Le32(nvme::kNsidAll));
    } else {
        for (const std::uint32_t nsid : events.changed_namespaces()) {
            append(bytes, Le32(nsid));
        }
    }
    bytes.resize(kMost * sizeof(Le32));
    return bytes;
}

Bytes smart_log() {
    nvme::SmartLog log;
    log.temperature = 273 + 25;
    log.available_spare = 100;
    log.available_spare_threshold = 10;
    Bytes bytes;
    append(bytes, log);
    return bytes;
}

} // namespace

tl::expected<Bytes, Status> log_page(const Subsystem& subsystem, Controller& controller,
                                     const nvme::Sqe& sqe) {
    Bytes whole;
    const std::uint64_t offset = (std::uint64_t{sqe.cdw13} << 32) | sqe.cdw12;
    const std::uint32_t page = sqe.cdw10 & 0xff;
    if (controller.is_discovery() != (page == nvme::log_page::kDiscovery)) {
        return tl::unexpected(Status(StatusCode::invalid_log_page, true));
    }
    switch (page) {
    case nvme::log_page::kDiscovery:
        whole = subsystem.discovery().log(controller.listener(), offset == 0);
        break;
    case nvme::log_page::kError:
        whole.resize(nvme::kErrorLogEntrySize);
        break;
    case nvme::log_page::kSmart:
        whole = smart_log();
        break;
    case nvme::log_page::kChangedNamespaces:
        whole = changed_namespaces_log(controller.events);
        break;
    case nvme::log_page::kAna:
        if (!subsystem.options().ana_reporting) {
            return tl::unexpected(Status(StatusCode::invalid_log_page, true));
        }
        whole = ana_log(subsystem, controller.listener(), (sqe.cdw10 & nvme::kAnaGroupsOnly) != 0,
                        lie_of(controller, sqe));
        break;
    default:
        return tl::unexpected(Status(StatusCode::invalid_log_page, true));
    }
    const std::uint64_t dwords = ((std::uint64_t{sqe.cdw11 & 0xffff} << 16) | (sqe.cdw10 >> 16)) + 1;
    if (dwords * 4 > kMaxLogTransfer || offset % 4 != 0 || offset > whole.size()) {
        return tl::unexpected(Status(StatusCode::invalid_field, true));
    }
    if ((sqe.cdw10 & nvme::kRetainAsyncEvent) == 0) {
        controller.events.log_read(static_cast<std::uint8_t>(page));
    }
    // What lies behind the end of a page is not defined; zeroes are the kindest.
    Bytes part(dwords * 4);
    std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(offset),
                std::min<std::uint64_t>(part.size(), whole.size() - offset), part.begin());
    return part;
}

} // namespace mpath::target
