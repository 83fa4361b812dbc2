// SPDX-License-Identifier: GPL-2.0-only
// The discovery log: its header, then entries.
#include "nvme/discovery_log.h"
#include "net/address.h"
#include "tests/fuzz/fuzz_input.h"

using namespace mpath;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const auto summary = nvme::decode_discovery_header(input.take<nvme::DiscoveryLogHeader>());
    fuzz::require(!summary || summary->entries <= nvme::kMaxDiscoveryEntries,
                  "the number of entries is bounded");
    const auto entries = nvme::decode_discovery_entries(input.rest());
    if (!entries) {
        fuzz::require(!entries.error().text.empty(), "what is refused is refused by a sentence");
        return 0;
    }
    for (const nvme::DiscoveryEntry& entry : *entries) {
        for (const std::string& text : {entry.subnqn, entry.address, entry.service}) {
            const bool harmless = std::none_of(text.begin(), text.end(), [](char c) {
                return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; // an NQN may be UTF-8
            });
            fuzz::require(harmless, "no text controls a terminal");
        }
        const std::string once = net::canonical_address(entry.address, "");
        fuzz::require(net::canonical_address(once, "") == once, "there is one text for one address");
        static_cast<void>(entry.text());
        static_cast<void>(entry.obstacle());
    }
    return 0;
}
