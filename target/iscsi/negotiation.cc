// SPDX-License-Identifier: GPL-2.0-only
#include "target/iscsi/negotiation.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace mpath::target::scsi {

namespace {

constexpr std::uint32_t kLeastSegment = 512;
constexpr std::uint32_t kMostSegment = 0xffffff;

enum class Rule : std::uint8_t { least, most, either, both };

/// Keys with a fixed answer of ours, and how it is combined with the initiator's.
struct PlainKey {
    std::string_view name;
    Rule rule;
    std::uint32_t ours;
    std::uint32_t lowest;
    std::uint32_t highest;
};

constexpr std::array kPlainKeys = {
    PlainKey{"MaxConnections", Rule::least, 1, 1, 65535},
    PlainKey{"ErrorRecoveryLevel", Rule::least, 0, 0, 2},
    PlainKey{"DefaultTime2Wait", Rule::most, 0, 0, 3600},
    PlainKey{"DefaultTime2Retain", Rule::least, 0, 0, 3600},
    PlainKey{"iSCSIProtocolLevel", Rule::least, 1, 0, 31},
    PlainKey{"DataPDUInOrder", Rule::either, 1, 0, 1},
    PlainKey{"DataSequenceInOrder", Rule::either, 1, 0, 1},
    PlainKey{"OFMarker", Rule::both, 0, 0, 1},
    PlainKey{"IFMarker", Rule::both, 0, 0, 1},
};

bool is_boolean(Rule rule) {
    return rule == Rule::either || rule == Rule::both;
}

std::optional<std::uint32_t> read_value(Rule rule, std::uint32_t lowest, std::uint32_t highest,
                                        const std::string& value) {
    if (is_boolean(rule)) {
        return value == "Yes" ? std::optional(1U) : value == "No" ? std::optional(0U) : std::nullopt;
    }
    const auto number = parse_number(value);
    if (!number || *number < lowest || *number > highest) {
        return std::nullopt;
    }
    return static_cast<std::uint32_t>(*number);
}

std::uint32_t combine(Rule rule, std::uint32_t ours, std::uint32_t theirs) {
    return rule == Rule::least || rule == Rule::both ? std::min(ours, theirs) : std::max(ours, theirs);
}

/// Negotiates a key by its rule, and writes the answer. What can't be read is rejected, and what was there
/// stays.
std::uint32_t settle(const PlainKey& key, const std::string& value, std::uint32_t before,
                     std::string& reply) {
    const auto theirs = read_value(key.rule, key.lowest, key.highest, value);
    if (!theirs) {
        append_key(reply, key.name, "Reject");
        return before;
    }
    const std::uint32_t result = combine(key.rule, key.ours, *theirs);
    append_key(reply, key.name,
               !is_boolean(key.rule) ? fmt::format("{}", result)
               : result != 0         ? std::string("Yes")
                                     : std::string("No"));
    return result;
}

} // namespace

bool Negotiation::digest(const std::string& key, const std::string& offer, bool& agreed,
                         std::string& reply) const {
    const auto offered = split_list(offer);
    const auto known = std::find_if(offered.begin(), offered.end(),
                                    [](std::string_view word) { return word == "CRC32C" || word == "None"; });
    switch (options_.digests) {
    case Digests::refused:
        agreed = false;
        break;
    case Digests::forced:
        agreed = true;
        break;
    default:
        if (known == offered.end()) {
            append_key(reply, key, "Reject");
            return true;
        }
        agreed = *known == "CRC32C";
        break;
    }
    append_key(reply, key, agreed ? "CRC32C" : "None");
    return true;
}

bool Negotiation::answer(const std::string& key, const std::string& value, std::string& reply) {
    const IscsiOptions& limits = options_.iscsi;
    if (key == "HeaderDigest") {
        return digest(key, value, terms_.header_digest, reply);
    }
    if (key == "DataDigest") {
        return digest(key, value, terms_.data_digest, reply);
    }
    if (key == "MaxRecvDataSegmentLength") {
        const auto length = read_value(Rule::least, kLeastSegment, kMostSegment, value);
        terms_.max_send = length.value_or(terms_.max_send);
        return length.has_value();
    }
    if (key == "MaxBurstLength") {
        terms_.max_burst =
            settle({"MaxBurstLength", Rule::least, limits.max_burst, kLeastSegment, kMostSegment}, value,
                   terms_.max_burst, reply);
    } else if (key == "FirstBurstLength") {
        terms_.first_burst =
            settle({"FirstBurstLength", Rule::least, limits.first_burst, kLeastSegment, kMostSegment}, value,
                   terms_.first_burst, reply);
    } else if (key == "MaxOutstandingR2T") {
        const std::uint32_t most = std::clamp(options_.max_r2t, 1U, 65535U);
        terms_.max_outstanding_r2t = settle({"MaxOutstandingR2T", Rule::least, most, 1, 65535}, value,
                                            terms_.max_outstanding_r2t, reply);
    } else if (key == "InitialR2T") {
        terms_.initial_r2t = settle({"InitialR2T", Rule::either, limits.initial_r2t ? 1U : 0U, 0, 1}, value,
                                    terms_.initial_r2t ? 1 : 0, reply) != 0;
    } else if (key == "ImmediateData") {
        terms_.immediate_data = settle({"ImmediateData", Rule::both, limits.immediate_data ? 1U : 0U, 0, 1},
                                       value, terms_.immediate_data ? 1 : 0, reply) != 0;
    } else if (key == "OFMarkInt" || key == "IFMarkInt") {
        append_key(reply, key, "Irrelevant");
    } else if (key == "TaskReporting") {
        append_key(reply, key, "RFC3720");
    } else {
        const auto* plain = std::find_if(kPlainKeys.begin(), kPlainKeys.end(),
                                         [&](const PlainKey& known) { return known.name == key; });
        if (plain == kPlainKeys.end()) {
            append_key(reply, key, "NotUnderstood");
        } else {
            settle(*plain, value, 0, reply);
        }
    }
    return true;
}

void Negotiation::declare(std::string& reply) {
    if (!declared_) {
        declared_ = true;
        terms_.max_receive = options_.iscsi.max_receive;
        append_key(reply, "MaxRecvDataSegmentLength", fmt::format("{}", terms_.max_receive));
    }
}

Terms Negotiation::terms() const {
    Terms agreed = terms_;
    agreed.first_burst = std::min(agreed.first_burst, agreed.max_burst);
    return agreed;
}

} // namespace mpath::target::scsi
