// SPDX-License-Identifier: GPL-2.0-only
// The text that answers SendTargets, and values that other texts have.
#include "iscsi/send_targets.h"
#include "iscsi/chap.h"
#include "iscsi/login_text.h"
#include "iscsi/name.h"
#include "tests/fuzz/fuzz_input.h"

using namespace mpath;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto pairs = iscsi::parse_pairs(text, 64)) {
        std::string again;
        for (const auto& [key, value] : *pairs) {
            iscsi::append_pair(again, key, value);
            if (const auto bytes = iscsi::parse_binary(value)) {
                fuzz::require(iscsi::parse_binary(iscsi::binary_text(*bytes)) == bytes,
                              "bytes are the same from their own text");
            }
        }
        fuzz::require(iscsi::parse_pairs(again, 64) == *pairs, "pairs are the same from their own text");
    }
    const auto targets = iscsi::parse_send_targets(text);
    if (!targets) {
        fuzz::require(!targets.error().text.empty(), "what is refused is refused by a sentence");
        return 0;
    }
    for (const iscsi::DiscoveredTarget& target : *targets) {
        fuzz::require(iscsi::check_name(target.name).has_value(), "a target has a possible name");
        for (const iscsi::Portal& portal : target.portals) {
            fuzz::require(portal.port != 0, "a portal has a port");
            const bool harmless = std::all_of(portal.host.begin(), portal.host.end(), [](char c) {
                return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f;
            });
            fuzz::require(harmless && !portal.host.empty(), "no host controls a terminal");
        }
    }
    return 0;
}
