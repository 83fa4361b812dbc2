// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/inquiry.h"

#include <algorithm>
#include <string_view>

#include "base/digest.h"
#include "iscsi/wire/scsi.h"

namespace mpath::iscsi {
namespace {

/// Printable, without the blanks that fill a field up.
std::string text_of(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte byte : bytes) {
        const char c = static_cast<char>(byte);
        text += c >= ' ' && c <= '~' ? c : ' ';
    }
    const std::size_t begin = text.find_first_not_of(' ');
    return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

template <typename Chars>
std::string text_of_field(const Chars& chars) {
    return text_of(std::as_bytes(std::span(chars)));
}

std::string hex_of(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte byte : bytes) {
        text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    }
    return text;
}

/// What follows the header of a VPD page, as far as it came; nothing for another page.
std::optional<std::span<const std::byte>> body_of(std::span<const std::byte> data, std::uint8_t page) {
    if (data.size() < sizeof(VpdHeader) || load<VpdHeader>(data).page != page) {
        return std::nullopt;
    }
    const std::size_t length = load<VpdHeader>(data).length;
    return data.subspan(sizeof(VpdHeader), std::min(length, data.size() - sizeof(VpdHeader)));
}

constexpr std::size_t kVendorSize = sizeof(InquiryData::vendor);

struct Named {
    unsigned rank = 0; ///< the higher the better; 0: of no use
    std::string value;
};

Named name_of(std::uint8_t type, std::span<const std::byte> value) {
    // One that says nothing may be that of many devices.
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    if (std::all_of(value.begin(), value.end(), is_zero)) {
        return {};
    }
    switch (type) {
    case designator_type::kNaa: {
        const unsigned naa = std::to_integer<unsigned>(value[0]) >> 4;
        const unsigned rank = naa == 6 && value.size() == 16                ? 6
                              : (naa == 5 || naa == 2) && value.size() == 8 ? 5
                              : naa == 3 && value.size() == 8               ? 3
                                                                            : 0;
        return {rank, "naa." + hex_of(value)};
    }
    case designator_type::kEui64:
        return {value.size() == 8 || value.size() == 12 || value.size() == 16 ? 4U : 0U,
                "eui." + hex_of(value)};
    case designator_type::kT10: { // the vendor's name, and what the vendor calls the unit
        const bool names_unit = !text_of(value.subspan(std::min(kVendorSize, value.size()))).empty();
        return {names_unit ? 2U : 0U, "t10." + text_of(value)};
    }
    case designator_type::kScsiName: {
        std::string name = text_of(value);
        return {name.empty() ? 0U : 1U, std::move(name)};
    }
    default:
        return {};
    }
}

void take_designator(const DesignatorHeader& header, std::span<const std::byte> value, Identification& found,
                     unsigned& best) {
    const std::uint8_t type = header.association_and_type & 0x0f;
    const unsigned association = header.association_and_type >> 4 & 3;
    if (association == designator_association::kLogicalUnit) {
        Named named = name_of(type, value);
        if (named.rank > best) {
            best = named.rank;
            found.identity = {DeviceIdentity::Kind::vpd83, std::move(named.value)};
        }
    } else if (association == designator_association::kTargetPort && value.size() >= sizeof(PortDescriptor)) {
        const std::uint16_t number = load<PortDescriptor>(value).relative_port;
        if (type == designator_type::kTargetPortGroup) {
            found.port_group = number;
        } else if (type == designator_type::kRelativePort) {
            found.relative_port = number;
        }
    }
}

} // namespace

Result<InquiryFacts> parse_inquiry(std::span<const std::byte> data) {
    if (data.size() < sizeof(InquiryData)) {
        return failure(EPROTO, "INQUIRY brought {} bytes, a disk has {} to say", data.size(),
                       sizeof(InquiryData));
    }
    const auto inquiry = load<InquiryData>(data);
    const unsigned qualifier = inquiry.peripheral >> 5;
    const unsigned type = inquiry.peripheral & 0x1f;
    if (qualifier != 0) {
        return failure(ENODEV, "there is no logical unit behind this LUN (peripheral qualifier {})",
                       qualifier);
    }
    if (type != 0) {
        return failure(EMEDIUMTYPE, "the logical unit is no disk (device type {:02x}h){}", type,
                       type == 0x0c ? ": this is a controller's own LUN, disks have others" : "");
    }
    InquiryFacts facts;
    const std::string name = text_of_field(inquiry.vendor) + " " + text_of_field(inquiry.product);
    facts.model.model = text_of(std::as_bytes(std::span(name)));
    facts.model.firmware = text_of_field(inquiry.revision);
    facts.tpgs = inquiry.flags5 >> 4 & 3;
    return facts;
}

Result<std::vector<std::uint8_t>> parse_vpd_pages(std::span<const std::byte> data) {
    const auto body = body_of(data, vpd_page::kSupported);
    if (!body) {
        return failure(EPROTO, "the target's list of VPD pages is none");
    }
    std::vector<std::uint8_t> pages;
    for (const std::byte page : *body) {
        pages.push_back(std::to_integer<std::uint8_t>(page));
    }
    return pages;
}

std::string parse_unit_serial(std::span<const std::byte> data) {
    const auto body = body_of(data, vpd_page::kSerial);
    return body ? text_of(*body) : "";
}

Result<Identification> parse_identification(std::span<const std::byte> data) {
    auto body = body_of(data, vpd_page::kIdentification);
    if (!body) {
        return failure(EPROTO, "the target's VPD page 83h is none");
    }
    Identification found;
    unsigned best = 0;
    while (body->size() >= sizeof(DesignatorHeader)) {
        const auto header = load<DesignatorHeader>(*body);
        if (header.length > body->size() - sizeof header) {
            break; // it did not come whole
        }
        take_designator(header, body->subspan(sizeof header, header.length), found, best);
        *body = body->subspan(sizeof header + header.length);
    }
    return found;
}

} // namespace mpath::iscsi
