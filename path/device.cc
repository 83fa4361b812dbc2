// SPDX-License-Identifier: GPL-2.0-only
#include "path/device.h"

namespace mpath {

std::string DeviceIdentity::text() const {
    switch (kind) {
    case Kind::none:
        return "none";
    case Kind::eui64:
        return "eui64 " + value;
    case Kind::nguid:
        return "nguid " + value;
    case Kind::uuid:
        return "uuid " + value;
    case Kind::vpd83:
        return "vpd83 " + value;
    }
    return "none";
}

} // namespace mpath
