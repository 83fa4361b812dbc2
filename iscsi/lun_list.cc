// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/lun_list.h"

#include <algorithm>
#include <optional>

#include "base/digest.h"
#include "iscsi/wire/pdu.h"
#include "iscsi/wire/scsi.h"

namespace mpath::iscsi {
namespace {

std::optional<std::uint64_t> number_of(const Lun& lun) {
    const unsigned method = lun[0] >> 6;
    const bool single_level = std::all_of(lun.begin() + 2, lun.end(), [](auto byte) { return byte == 0; });
    const bool bus_0 = (lun[0] & 0x3f) == 0;
    if (!single_level || method > 1 || (method == 0 && !bus_0)) {
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(lun[0] & 0x3f) << 8 | lun[1];
}

} // namespace

Result<std::vector<std::uint64_t>> parse_lun_list(std::span<const std::byte> data) {
    if (data.size() < sizeof(LunListHeader)) {
        return failure(EPROTO, "REPORT LUNS brought no list");
    }
    const std::size_t length = load<LunListHeader>(data).length;
    auto rest = data.subspan(sizeof(LunListHeader));
    rest = rest.first(std::min(length, rest.size()));
    std::vector<std::uint64_t> luns;
    for (; rest.size() >= sizeof(Lun); rest = rest.subspan(sizeof(Lun))) {
        if (const auto number = number_of(load<Lun>(rest))) {
            luns.push_back(*number);
        }
    }
    std::sort(luns.begin(), luns.end());
    luns.erase(std::unique(luns.begin(), luns.end()), luns.end());
    return luns;
}

} // namespace mpath::iscsi
