// SPDX-License-Identifier: GPL-2.0-only
#include "target/log_page.h"

#include <algorithm>
#include <cstring>

#include "nvme/wire/log_page.h"

namespace mpath::target {

namespace {

using nvme::Status;
using nvme::StatusCode;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kMaxLogTransfer = 1U << 20;

/// Each namespace is alone in its group, and all groups of a listener share its state.
Bytes ana_log(const Subsystem& subsystem, const Listener& listener, bool groups_only) {
    Bytes bytes;
    nvme::AnaLogHeader header;
    header.change_count = 1;
    header.groups = static_cast<std::uint16_t>(subsystem.namespace_count());
    append(bytes, header);
    for (std::uint32_t nsid = 1; nsid <= subsystem.namespace_count(); ++nsid) {
        nvme::AnaGroupDescriptor group;
        group.group = nsid;
        group.nsids = groups_only ? 0 : 1;
        group.change_count = 1;
        group.state = static_cast<std::uint8_t>(listener.options.ana);
        append(bytes, group);
        if (!groups_only) {
            append(bytes, Le32(nsid));
        }
    }
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

tl::expected<Bytes, Status> log_page(const Subsystem& subsystem, const Controller& controller,
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
        whole.resize(4096);
        break;
    case nvme::log_page::kAna:
        whole = ana_log(subsystem, controller.listener(), (sqe.cdw10 & nvme::kAnaGroupsOnly) != 0);
        break;
    default:
        return tl::unexpected(Status(StatusCode::invalid_log_page, true));
    }
    const std::uint64_t dwords = ((std::uint64_t{sqe.cdw11 & 0xffff} << 16) | (sqe.cdw10 >> 16)) + 1;
    if (dwords * 4 > kMaxLogTransfer || offset % 4 != 0 || offset > whole.size()) {
        return tl::unexpected(Status(StatusCode::invalid_field, true));
    }
    // What lies behind the end of a page is not defined; zeroes are the kindest.
    Bytes part(dwords * 4);
    std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(offset),
                std::min<std::uint64_t>(part.size(), whole.size() - offset), part.begin());
    return part;
}

} // namespace mpath::target
