// SPDX-License-Identifier: GPL-2.0-only
// Identify data: a byte that says which, 8 bytes CAP, then the data.
#include "nvme/identify.h"
#include "nvme/namespace_list.h"
#include "tests/fuzz/fuzz_input.h"

using namespace mpath;

namespace {

void controller(fuzz::Input& input, nvme::Capabilities capabilities) {
    auto identity = nvme::decode_controller(input.take<nvme::IdentifyController>(), capabilities);
    if (identity) {
        nvme::add_nvm_limits(*identity, input.take<nvme::IdentifyNvmController>(), capabilities);
    }
}

void name_space(fuzz::Input& input, nvme::Capabilities capabilities) {
    nvme::ControllerIdentity identity;
    identity.mdts = input.take<std::uint32_t>();
    identity.max_trim_blocks = input.take<std::uint32_t>();
    identity.max_write_zeroes = capabilities.min_page_size() << (input.take<std::uint8_t>() % 32);
    const auto facts = nvme::decode_namespace(input.take<nvme::IdentifyNamespace>(), 1, identity);
    if (facts) {
        const DeviceLimits& limits = facts->limits;
        fuzz::require(limits.size != 0 && limits.block_size >= 512, "a namespace has blocks");
        fuzz::require(limits.size % limits.block_size == 0, "whole ones");
        fuzz::require(limits.max_transfer != 0 && limits.max_transfer % limits.block_size == 0,
                      "a command moves whole blocks");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const auto which = input.take<std::uint8_t>();
    const nvme::Capabilities capabilities{input.take<std::uint64_t>()};
    switch (which % 4) {
    case 0:
        controller(input, capabilities);
        break;
    case 1:
        name_space(input, capabilities);
        break;
    case 2: {
        const auto name_space = input.take<nvme::IdentifyNamespace>();
        const auto identity = nvme::decode_identity(input.rest(), name_space, 1);
        fuzz::require(!identity || (identity->kind == DeviceIdentity::Kind::none) == identity->value.empty(),
                      "an identity has a value");
        break;
    }
    default:
        for (const std::uint32_t nsid : nvme::decode_namespace_list(input.rest())) {
            fuzz::require(nsid != 0, "no namespace is number 0");
        }
    }
    return 0;
}
