// SPDX-License-Identifier: GPL-2.0-only
// Identify data of a controller and a namespace that nothing is wrong with.
#pragma once

#include <cstring>

#include "nvme/wire/identify.h"
#include "nvme/wire/registers.h"

namespace mpath::nvme::test {

inline IdentifyController good_controller() {
    IdentifyController data;
    std::memset(data.model.data(), ' ', data.model.size());
    std::memset(data.serial.data(), ' ', data.serial.size());
    std::memset(data.firmware.data(), ' ', data.firmware.size());
    std::memcpy(data.model.data(), "Example", 7);
    std::memcpy(data.serial.data(), "S123", 4);
    std::memcpy(data.firmware.data(), "9.1", 3);
    data.cntlid = 1;
    data.version = make_version(1, 4, 0);
    data.controller_type = 1;
    data.cmic = cmic::kMultiPort | cmic::kMultiController | cmic::kAnaReporting;
    data.oaes = async_event::kAnaChange | async_event::kNamespaceAttribute;
    data.kas = 1;
    data.anatt = 10;
    data.anagrpmax = 128;
    data.nanagrpid = 128;
    data.sqes = 0x66;
    data.cqes = 0x44;
    data.nn = 1024;
    data.sgls = kSglsSupported | kSglsOffsetInCapsule | kSglsTransportDataBlock;
    data.ioccsz = (64 + 8192) / 16;
    data.iorcsz = 1;
    return data;
}

inline IdentifyNamespace good_namespace() {
    IdentifyNamespace data;
    data.nsze = data.ncap = data.nuse = 2048;
    data.lbaf[0].lbads = 9;
    data.nmic = kNmicShared;
    data.anagrpid = 1;
    return data;
}

} // namespace mpath::nvme::test
