// SPDX-License-Identifier: GPL-2.0-only
#include "target/identify.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "nvme/wire/identify.h"
#include "target/page.h"

namespace mpath::target {

namespace {

using nvme::Status;
using nvme::StatusCode;
using Page = std::vector<std::byte>;

template <typename T>
Page page_of(const T& structure) {
    static_assert(sizeof(T) == nvme::kIdentifySize);
    Page page(sizeof(T));
    std::memcpy(page.data(), &structure, sizeof(T));
    return page;
}

std::uint8_t mdts_exponent(std::uint32_t bytes) {
    return bytes == 0 ? 0 : static_cast<std::uint8_t>(std::countr_zero(bytes / 4096));
}

void put_ana(nvme::IdentifyController& page, std::uint8_t anatt, std::uint32_t groups) {
    page.cmic |= nvme::cmic::kAnaReporting;
    page.oaes = page.oaes | nvme::async_event::kAnaChange;
    page.anatt = anatt;
    page.anacap = nvme::anacap::kOptimized | nvme::anacap::kNonOptimized | nvme::anacap::kInaccessible |
                  nvme::anacap::kPersistentLoss | nvme::anacap::kChange | nvme::anacap::kGroupIdFixed |
                  nvme::anacap::kGroupIdNonZero;
    page.anagrpmax = groups;
    page.nanagrpid = groups;
}

Page controller_page(const Subsystem& subsystem, const Controller& controller) {
    const Options& options = subsystem.options();
    const std::uint32_t count = subsystem.namespace_count();
    nvme::IdentifyController page;
    put_padded(page.serial, options.serial);
    put_padded(page.model, options.model);
    put_padded(page.firmware, options.firmware);
    page.cmic = nvme::cmic::kMultiPort | nvme::cmic::kMultiController;
    page.mdts = mdts_exponent(options.mdts);
    page.cntlid = controller.id();
    page.version = kVersion;
    page.rtd3e = 1'000'000;
    page.oaes = nvme::async_event::kNamespaceAttribute;
    page.ctratt = nvme::ctratt::kHostId128 |
                  (options.traffic_based_keep_alive ? nvme::ctratt::kTrafficBasedKeepAlive : 0);
    page.controller_type = 1;
    page.acl = 3;
    page.aerl = kMaxAsyncEvents - 1;
    page.kas = kKeepAliveGranularityMs / 100;
    std::copy(options.crdt.begin(), options.crdt.end(), page.crdt.begin());
    if (options.ana_reporting) {
        put_ana(page, options.anatt, subsystem.group_count());
    }
    page.sqes = 0x66;
    page.cqes = 0x44;
    page.maxcmd = static_cast<std::uint16_t>(std::min(options.queue_size, 0xffffU));
    page.nn = count;
    page.oncs = static_cast<std::uint16_t>((options.trim ? nvme::oncs::kDatasetManagement : 0) |
                                           (options.write_zeroes ? nvme::oncs::kWriteZeroes : 0));
    page.vwc = nvme::kVwcPresent;
    page.sgls = nvme::kSglsSupported | nvme::kSglsOffsetInCapsule | nvme::kSglsTransportDataBlock;
    page.mnan = count;
    std::copy(options.subnqn.begin(), options.subnqn.end(), page.subnqn.begin());
    page.ioccsz = static_cast<std::uint32_t>((sizeof(nvme::Sqe) + options.in_capsule) / 16);
    page.iorcsz = sizeof(nvme::Cqe) / 16;
    page.msdbd = 1;
    page.ofcs = 1;
    return page_of(page);
}

/// A namespace as one listener shows it.
struct NamespaceView {
    const Namespace& of;
    Identity identity;
    std::uint32_t group; ///< 0: there is no ANA
};

NamespaceView view_of(const Subsystem& subsystem, const Listener& listener, const Namespace& space) {
    const Action* other =
        listener.faults.empty() ? nullptr : listener.faults.find(ActionKind::identity, Subject{});
    return {space, other == nullptr ? space.identity() : derive_identity(other->word, space.nsid()),
            subsystem.options().ana_reporting ? subsystem.group_of(space.nsid()) : 0};
}

std::uint16_t zero_based(std::uint32_t blocks) {
    return static_cast<std::uint16_t>(blocks == 0 ? 0 : blocks - 1);
}

Page namespace_page(const Options& options, const NamespaceView& space) {
    nvme::IdentifyNamespace page;
    page.nsze = space.of.blocks();
    page.ncap = space.of.blocks();
    page.nuse = space.of.blocks();
    page.mc = options.metadata != 0 ? 1 : 0;
    page.flbas = options.metadata != 0 ? 0x10 : 0; // metadata behind each block's data
    page.dpc = options.protection != 0 ? static_cast<std::uint8_t>(1U << (options.protection - 1)) : 0;
    page.dps = options.protection;
    page.nmic = nvme::kNmicShared;
    page.dlfeat = space.of.null() ? 0 : nvme::kDlfeatReadsZeroes;
    page.anagrpid = space.group;
    page.noiob = options.noiob;
    page.nsattr = options.read_only ? nvme::kNsattrWriteProtected : 0;
    if (options.preferred_write != 0 || options.optimal_write != 0) {
        page.nsfeat |= nvme::kNsfeatPreferences;
        page.npwg = page.npwa = zero_based(options.preferred_write);
        page.nows = zero_based(options.optimal_write);
    }
    if (options.announce_nguid) {
        page.nguid = space.identity.nguid;
    }
    if (options.announce_eui64) {
        page.eui64 = space.identity.eui64;
    }
    page.lbaf[0].metadata_size = options.metadata;
    page.lbaf[0].lbads = static_cast<std::uint8_t>(space.of.block_shift());
    return page_of(page);
}

template <std::size_t N>
void put_descriptor(Page& page, std::size_t& at, nvme::NamespaceIdType type,
                    const std::array<std::uint8_t, N>& value) {
    nvme::NamespaceDescriptor descriptor;
    descriptor.type = static_cast<std::uint8_t>(type);
    descriptor.length = static_cast<std::uint8_t>(N);
    std::memcpy(page.data() + at, &descriptor, sizeof(descriptor));
    std::memcpy(page.data() + at + sizeof(descriptor), value.data(), N);
    at += sizeof(descriptor) + N;
}

Page descriptors_page(const Options& options, const NamespaceView& space) {
    Page page(nvme::kIdentifySize);
    std::size_t at = 0;
    if (options.announce_uuid) {
        put_descriptor(page, at, nvme::NamespaceIdType::uuid, space.identity.uuid);
    }
    if (options.announce_nguid) {
        put_descriptor(page, at, nvme::NamespaceIdType::nguid, space.identity.nguid);
    }
    if (options.announce_eui64) {
        put_descriptor(page, at, nvme::NamespaceIdType::eui64, space.identity.eui64);
    }
    return page;
}

Page independent_page(const Options& options, const NamespaceView& space) {
    nvme::IdentifyIndependentNamespace page;
    page.nsattr = options.read_only ? nvme::kNsattrWriteProtected : 0;
    page.nmic = nvme::kNmicShared;
    page.anagrpid = space.group;
    page.nstat = 1;
    return page_of(page);
}

Page nvm_controller_page(const Options& options) {
    nvme::IdentifyNvmController page;
    page.wzsl = mdts_exponent(options.max_write_zeroes);
    page.dmrsl = options.max_trim;
    return page_of(page);
}

Page active_namespaces_page(const Subsystem& subsystem, const Listener& listener, std::uint32_t above) {
    Page page(nvme::kIdentifySize);
    std::size_t at = 0;
    for (std::uint64_t nsid = std::uint64_t{above} + 1;
         nsid <= subsystem.namespace_count() && at < page.size(); ++nsid) {
        if (subsystem.find_namespace(static_cast<std::uint32_t>(nsid), listener) == nullptr) {
            continue;
        }
        const Le32 entry(static_cast<std::uint32_t>(nsid));
        std::memcpy(page.data() + at, &entry, sizeof(entry));
        at += sizeof(entry);
    }
    return page;
}

} // namespace

tl::expected<Page, Status> identify(const Subsystem& subsystem, const Controller& controller,
                                    const nvme::Sqe& sqe) {
    if (controller.is_discovery()) {
        return identify_discovery(subsystem.options(), controller, sqe);
    }
    const auto what = static_cast<std::uint8_t>(sqe.cdw10 & 0xff);
    switch (what) {
    case nvme::cns::kController:
        return controller_page(subsystem, controller);
    case nvme::cns::kCommandSetController:
        return nvm_controller_page(subsystem.options());
    case nvme::cns::kActiveNamespaces:
        if (sqe.nsid >= 0xfffffffe) {
            return tl::unexpected(Status(StatusCode::invalid_namespace, true));
        }
        return active_namespaces_page(subsystem, controller.listener(), sqe.nsid);
    case nvme::cns::kNamespace:
    case nvme::cns::kNamespaceDescriptors:
    case nvme::cns::kIndependentNamespace:
        break;
    default:
        return tl::unexpected(Status(StatusCode::invalid_field, true));
    }
    const Namespace* space = subsystem.find_namespace(sqe.nsid, controller.listener());
    if (space == nullptr) {
        return tl::unexpected(Status(StatusCode::invalid_namespace, true));
    }
    const NamespaceView view = view_of(subsystem, controller.listener(), *space);
    if (what == nvme::cns::kNamespace) {
        return namespace_page(subsystem.options(), view);
    }
    return what == nvme::cns::kNamespaceDescriptors ? descriptors_page(subsystem.options(), view)
                                                    : independent_page(subsystem.options(), view);
}

} // namespace mpath::target
