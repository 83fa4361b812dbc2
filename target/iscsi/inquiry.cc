// SPDX-License-Identifier: GPL-2.0-only
// INQUIRY, and the pages of vital product data. SPC-4, sections 6.4 and 7.8; SBC-3, section 6.6.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "target/iscsi/control_command.h"
#include "target/page.h"

namespace mpath::target::scsi {

namespace {

using Bytes = std::vector<std::byte>;
namespace vpd_page = iscsi::vpd_page;
namespace type = iscsi::designator_type;

constexpr std::uint8_t kNoUnit = 0x7f; // qualifier 3, type 1Fh
constexpr std::uint8_t kSpc4 = 0x06;
constexpr std::uint8_t kHierarchical = 0x10; // HISUP, beside response data format 2
constexpr std::uint8_t kCommandQueuing = 0x02;
constexpr std::uint8_t kProtectionInformation = 0x01; // PROTECT
constexpr std::string_view kVendor = "MPATH";

// Version descriptors: SAM-5, iSCSI, SPC-4, SBC-3, none of a revision.
constexpr std::array<std::uint16_t, 8> kVersions = {0x00a0, 0x0960, 0x0460, 0x04c0};

// Code set, with the protocol (5: iSCSI) of designators of the port; association with its PIV bit.
constexpr std::uint8_t kBinary = 0x01;
constexpr std::uint8_t kAscii = 0x02;
constexpr std::uint8_t kIscsiProtocol = 0x50;
constexpr std::uint8_t kOfPort = 0x80 | iscsi::designator_association::kTargetPort << 4;

Built standard(const Unit& unit, std::size_t room) {
    struct Standard {
        iscsi::InquiryData head;
        std::array<std::uint8_t, 22> reserved36{};
        std::array<Be16, 8> versions{};
        std::array<std::uint8_t, 22> reserved74{};
    };
    static_assert(sizeof(Standard) == 96);
    const Options& options = unit.node.options();
    Standard data;
    data.head.peripheral = unit.space == nullptr ? kNoUnit : 0;
    data.head.version = kSpc4;
    data.head.format = 2 | kHierarchical;
    data.head.additional_length = sizeof(data) - 5;
    data.head.flags5 = static_cast<std::uint8_t>((options.ana_reporting ? iscsi::kImplicitAlua : 0) |
                                                 (options.protection != 0 ? kProtectionInformation : 0));
    data.head.flags7 = kCommandQueuing;
    put_padded(data.head.vendor, kVendor);
    put_padded(data.head.product, options.model);
    put_padded(data.head.revision, options.firmware);
    std::copy(kVersions.begin(), kVersions.end(), data.versions.begin());
    Bytes bytes;
    append(bytes, data);
    return fitted(std::move(bytes), room);
}

std::string serial_of(const Unit& unit) {
    return fmt::format("{}-{}", unit.node.options().serial, unit.space->nsid());
}

void append_text(Bytes& bytes, std::string_view text) {
    const auto* from = reinterpret_cast<const std::byte*>(text.data());
    bytes.insert(bytes.end(), from, from + text.size());
}

void designator(Bytes& page, std::uint8_t code_set, std::uint8_t association_and_type, const Bytes& value) {
    append(page, iscsi::DesignatorHeader{.protocol_and_code_set = code_set,
                                         .association_and_type = association_and_type,
                                         .reserved2 = 0,
                                         .length = static_cast<std::uint8_t>(value.size())});
    page.insert(page.end(), value.begin(), value.end());
}

/// The namespace's, or what a script says instead.
Identity identity_of(const Unit& unit) {
    const Listener& listener = unit.session.listener();
    const Action* other =
        listener.faults.empty() ? nullptr : listener.faults.find(ActionKind::identity, Subject{});
    return other == nullptr ? unit.space->identity() : derive_identity(other->word, unit.space->nsid());
}

Bytes identification(const Unit& unit) {
    const Options& options = unit.node.options();
    const Identity identity = identity_of(unit);
    Bytes page;
    if (options.announce_nguid) { // as NAA "locally assigned" would be shorter, NAA 6 has all but its first
                                  // digit
        Bytes naa;
        append(naa, identity.nguid);
        naa[0] = (naa[0] & std::byte{0x0f}) | std::byte{0x60};
        designator(page, kBinary, type::kNaa, naa);
    }
    if (options.announce_eui64) {
        Bytes eui64;
        append(eui64, identity.eui64);
        designator(page, kBinary, type::kEui64, eui64);
    }
    if (options.announce_uuid) {
        std::array<char, 8> vendor{};
        put_padded(vendor, kVendor);
        Bytes t10;
        append(t10, vendor);
        for (const std::uint8_t byte : identity.uuid) {
            append_text(t10, fmt::format("{:02x}", byte));
        }
        designator(page, kAscii, type::kT10, t10);
    }
    const std::uint16_t tag = unit.node.tag_of(unit.session.listener());
    Bytes port;
    append(port, Be32(tag));
    designator(page, kIscsiProtocol | kBinary, kOfPort | type::kRelativePort, port);
    if (options.ana_reporting) {
        designator(page, kIscsiProtocol | kBinary, kOfPort | type::kTargetPortGroup, port);
    }
    return page;
}

Bytes block_limits(const Unit& unit) {
    constexpr std::uint8_t kNeverZeroBlocks = 0x01; // WSNZ
    constexpr std::uint32_t kMostDescriptors = 256;
    const Options& options = unit.node.options();
    const std::uint32_t shift = unit.space->block_shift();
    iscsi::BlockLimits limits;
    limits.flags4 = kNeverZeroBlocks;
    limits.optimal_granularity =
        static_cast<std::uint16_t>(std::min<std::uint32_t>(options.preferred_write, 0xffff));
    limits.max_transfer = options.mdts >> shift;
    limits.optimal_transfer = options.optimal_write;
    if (options.trim) {
        limits.max_unmap_blocks =
            options.max_trim != 0 ? options.max_trim : std::numeric_limits<std::uint32_t>::max();
        limits.max_unmap_descriptors = kMostDescriptors;
    }
    limits.max_write_same = options.write_zeroes ? std::uint64_t{options.max_write_zeroes} >> shift : 0;
    Bytes page;
    append(page, limits);
    page.erase(page.begin(), page.begin() + sizeof(iscsi::VpdHeader));
    return page;
}

Bytes characteristics() {
    constexpr std::size_t kSize = 60;
    constexpr std::byte kNonRotating{1};
    Bytes page(kSize);
    page[1] = kNonRotating; // a medium rotation rate of 0001h
    return page;
}

Bytes provisioning(const Unit& unit) {
    constexpr std::uint8_t kThinlyProvisioned = 2;
    namespace flag = iscsi::provisioning_flag;
    const Options& options = unit.node.options();
    iscsi::Provisioning data;
    if (options.trim) {
        const bool same = options.write_zeroes;
        data.flags5 = flag::kUnmap | flag::kReadsZero | (same ? flag::kWriteSame16 | flag::kWriteSame10 : 0);
        data.type = kThinlyProvisioned;
    }
    Bytes page;
    append(page, data);
    page.erase(page.begin(), page.begin() + sizeof(iscsi::VpdHeader));
    return page;
}

constexpr std::array kPages = {vpd_page::kSupported,
                               vpd_page::kSerial,
                               vpd_page::kIdentification,
                               vpd_page::kBlockLimits,
                               vpd_page::kBlockCharacteristics,
                               vpd_page::kProvisioning};

Bytes page_of(const Unit& unit, std::uint8_t page) {
    Bytes bytes;
    switch (page) {
    case vpd_page::kSerial:
        append_text(bytes, serial_of(unit));
        return bytes;
    case vpd_page::kIdentification:
        return identification(unit);
    case vpd_page::kBlockLimits:
        return block_limits(unit);
    case vpd_page::kBlockCharacteristics:
        return characteristics();
    case vpd_page::kProvisioning:
        return provisioning(unit);
    default:
        append(bytes, kPages);
        return bytes;
    }
}

} // namespace

Built inquiry(const Unit& unit, const iscsi::Cdb& cdb) {
    iscsi::InquiryCdb request;
    std::memcpy(&request, cdb.data(), sizeof(request));
    if (request.vital > 1 || (request.vital == 0 && request.page != 0)) {
        return refused(outcome::kInvalidField);
    }
    if (request.vital == 0) {
        return standard(unit, request.allocation);
    }
    if (unit.space == nullptr || std::find(kPages.begin(), kPages.end(), request.page) == kPages.end()) {
        return refused(outcome::kInvalidField);
    }
    const Bytes page = page_of(unit, request.page);
    Bytes bytes;
    append(bytes, iscsi::VpdHeader{.peripheral = 0,
                                   .page = request.page,
                                   .length = static_cast<std::uint16_t>(page.size())});
    bytes.insert(bytes.end(), page.begin(), page.end());
    return fitted(std::move(bytes), request.allocation);
}

} // namespace mpath::target::scsi
