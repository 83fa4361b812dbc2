// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/nqn.h"

#include <algorithm>

#include "nvme/wire/fabrics.h"

namespace mpath::nvme {

Result<void> check_nqn(std::string_view nqn) {
    if (nqn.empty()) {
        return failure(EINVAL, "NQN is empty");
    }
    const auto unprintable = std::find_if(nqn.begin(), nqn.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte <= 0x20 || byte == 0x7f; // bytes of a UTF-8 sequence are 80h and more
    });
    if (unprintable != nqn.end()) {
        return failure(EINVAL,
                       "NQN contains byte {:#04x} at position {}, neither space nor control characters "
                       "are allowed",
                       static_cast<unsigned char>(*unprintable), unprintable - nqn.begin() + 1);
    }
    constexpr std::string_view kPrefix = "nqn.";
    if (!nqn.starts_with(kPrefix) || nqn.size() == kPrefix.size()) {
        return failure(EINVAL, "NQN '{}' does not begin with 'nqn.' and a name", nqn);
    }
    if (nqn.size() > kMaxNqnLength) {
        return failure(EINVAL, "NQN is {} bytes long, at most {} are allowed", nqn.size(), kMaxNqnLength);
    }
    return {};
}

} // namespace mpath::nvme
