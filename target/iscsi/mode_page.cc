// SPDX-License-Identifier: GPL-2.0-only
// MODE SENSE: the control page and the caching page. SPC-4, section 7.5; SBC-3, section 6.5.
#include <array>
#include <cstring>

#include "target/iscsi/control_command.h"
#include "target/page.h"

namespace mpath::target::scsi {

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint8_t kCachingPage = 0x08;
constexpr std::uint8_t kControlPage = 0x0a;
constexpr std::uint8_t kAllPages = 0x3f;
constexpr std::uint8_t kNoSubpage = 0x00;
constexpr std::uint8_t kAllSubpages = 0xff;
constexpr std::uint8_t kNoDescriptor = 0x08; // DBD
constexpr unsigned kChangeable = 1;          // of page control
constexpr unsigned kSaved = 3;
constexpr std::uint8_t kWriteProtect = 0x80;
constexpr std::uint8_t kFuaIsKnown = 0x10; // DPOFUA
constexpr Outcome kNoSavedPages = check_condition(iscsi::sense_key::kIllegalRequest, 0x39, 0x00);

/// `changeable`: the mask of what MODE SELECT could change, which is nothing.
Bytes caching_page(bool changeable) {
    constexpr std::byte kWriteCache{0x04};
    Bytes page(20);
    page[0] = std::byte{kCachingPage};
    page[1] = std::byte{18};
    page[2] = changeable ? std::byte{0} : kWriteCache;
    return page;
}

Bytes control_page(bool changeable) {
    constexpr std::byte kUnrestrictedReordering{0x10};
    Bytes page(12);
    page[0] = std::byte{kControlPage};
    page[1] = std::byte{10};
    page[3] = changeable ? std::byte{0} : kUnrestrictedReordering;
    return page;
}

Bytes block_descriptor(const Namespace& space) {
    Bytes descriptor;
    const bool fits = space.blocks() <= 0xffffffff;
    append(descriptor, Be32(fits ? static_cast<std::uint32_t>(space.blocks()) : 0xffffffff));
    append(descriptor, Be32(1U << space.block_shift())); // three bytes of it, behind a reserved one
    return descriptor;
}

} // namespace

Built mode_sense(const Unit& unit, const iscsi::Cdb& cdb) {
    const bool wide = cdb[0] == iscsi::scsi_opcode::kModeSense10;
    const std::uint8_t page = cdb[2] & kAllPages;
    const std::uint8_t subpage = cdb[3];
    const unsigned control = cdb[2] >> 6;
    const bool known = page == kCachingPage || page == kControlPage || page == kAllPages;
    if (!known || (subpage != kNoSubpage && !(page == kAllPages && subpage == kAllSubpages))) {
        return refused(outcome::kInvalidField);
    }
    if (control == kSaved) {
        return refused(kNoSavedPages);
    }
    Bytes body;
    if ((cdb[1] & kNoDescriptor) == 0) {
        body = block_descriptor(*unit.space);
    }
    const auto descriptors = static_cast<std::uint8_t>(body.size());
    for (const std::uint8_t each : {kCachingPage, kControlPage}) {
        if (page == each || page == kAllPages) {
            const Bytes bytes = each == kCachingPage ? caching_page(control == kChangeable)
                                                     : control_page(control == kChangeable);
            body.insert(body.end(), bytes.begin(), bytes.end());
        }
    }
    const auto specific =
        static_cast<std::uint8_t>(kFuaIsKnown | (unit.node.options().read_only ? kWriteProtect : 0));
    Bytes data;
    if (wide) {
        append(data, Be16(static_cast<std::uint16_t>(body.size() + 6)));
        append(data, std::array<std::uint8_t, 4>{0, specific, 0, 0});
        append(data, Be16(descriptors));
    } else {
        append(data, std::array<std::uint8_t, 4>{static_cast<std::uint8_t>(body.size() + 3), 0, specific,
                                                 descriptors});
    }
    data.insert(data.end(), body.begin(), body.end());
    Be16 wide_room;
    std::memcpy(&wide_room, cdb.data() + 7, sizeof(wide_room));
    return fitted(std::move(data), wide ? wide_room.get() : cdb[4]);
}

} // namespace mpath::target::scsi
