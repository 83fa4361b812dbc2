// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/negotiation.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace mpath::iscsi {

namespace {

enum class RuleKind : std::uint8_t {
    digest,   ///< 0 None, 1 CRC32C: what is offered, or nothing
    either,   ///< Yes if one side says so
    both,     ///< Yes if both sides say so
    minimum,  ///< the lower number
    maximum,  ///< the higher number
    declared, ///< each side says its own
};

/// Places in the table below, in the order in which they are said.
enum RuleIndex : std::size_t {
    kHeaderDigest,
    kDataDigest,
    kMaxRecvDataSegmentLength,
    kInitialR2t,
    kImmediateData,
    kMaxBurstLength,
    kFirstBurstLength,
    kMaxOutstandingR2t,
    kMaxConnections,
    kDataPduInOrder,
    kDataSequenceInOrder,
    kDefaultTime2Wait,
    kDefaultTime2Retain,
    kErrorRecoveryLevel,
};

struct Rule {
    std::string_view key;
    RuleKind kind;
    std::uint32_t offered; ///< Yes is 1
    std::uint32_t lowest;
    std::uint32_t highest;
    std::uint32_t standard; ///< the default that holds where nothing is agreed on
    bool of_discovery;      ///< means something in a discovery session, too
};

constexpr std::uint32_t kMaxData = 0xffffff;
constexpr std::uint32_t kHour = 3600;

// In order and at level 0: what is outstanding when a connection is lost is sent again by the path set, on
// another path; so a session has nothing to retain, and nobody has to wait for one.
constexpr Rule kNegotiationRules[] = {
    {"HeaderDigest", RuleKind::digest, 0, 0, 1, 0, true},
    {"DataDigest", RuleKind::digest, 0, 0, 1, 0, true},
    {"MaxRecvDataSegmentLength", RuleKind::declared, kMaxReceiveData, 512, kMaxData, 8192, true},
    {"InitialR2T", RuleKind::either, 0, 0, 1, 1, false},
    {"ImmediateData", RuleKind::both, 1, 0, 1, 1, false},
    {"MaxBurstLength", RuleKind::minimum, kOfferedBurst, 512, kMaxData, 262144, false},
    {"FirstBurstLength", RuleKind::minimum, kOfferedBurst, 512, kMaxData, 65536, false},
    {"MaxOutstandingR2T", RuleKind::minimum, 1, 1, 65535, 1, false},
    {"MaxConnections", RuleKind::minimum, 1, 1, 65535, 1, false},
    {"DataPDUInOrder", RuleKind::either, 1, 0, 1, 1, false},
    {"DataSequenceInOrder", RuleKind::either, 1, 0, 1, 1, false},
    {"DefaultTime2Wait", RuleKind::maximum, 0, 0, kHour, 2, true},
    {"DefaultTime2Retain", RuleKind::minimum, 0, 0, kHour, 20, true},
    {"ErrorRecoveryLevel", RuleKind::minimum, 0, 0, 2, 0, true},
};

/// What a target may offer though we don't, and what we say to it; to everything else, NotUnderstood.
constexpr struct {
    std::string_view key;
    std::string_view answer;
} kForeignOffers[] = {
    {"IFMarker", "No"},
    {"OFMarker", "No"},
    {"TaskReporting", "RFC3720"},
};

/// Says nothing about an offer: there's no answer to it.
bool is_remark(std::string_view key) {
    constexpr std::string_view kRemarks[] = {"TargetAddress", "InitiatorAlias", "SessionType", "AuthMethod",
                                             "TargetName",    "InitiatorName",  "SendTargets"};
    return key.starts_with("CHAP_") ||
           std::find(std::begin(kRemarks), std::end(kRemarks), key) != std::end(kRemarks);
}

bool is_number(RuleKind kind) {
    return kind == RuleKind::minimum || kind == RuleKind::maximum || kind == RuleKind::declared;
}

std::string value_text(RuleKind kind, std::uint32_t value) {
    if (kind == RuleKind::digest) {
        return value != 0 ? "CRC32C" : "None";
    }
    return is_number(kind) ? std::to_string(value) : value != 0 ? "Yes" : "No";
}

std::optional<std::uint32_t> parse_value(const Rule& rule, std::string_view text) {
    if (is_number(rule.kind)) {
        const auto number = parse_number(text, rule.highest);
        return number && *number >= rule.lowest ? number : std::nullopt;
    }
    for (const std::uint32_t value : {0U, 1U}) {
        if (text == value_text(rule.kind, value)) {
            return value;
        }
    }
    return std::nullopt;
}

/// Whether the standard lets a target answer `value` to `offered`.
bool is_possible(RuleKind kind, std::uint32_t offered, std::uint32_t value) {
    switch (kind) {
    case RuleKind::digest:
        return value == offered;
    case RuleKind::either:
    case RuleKind::maximum:
        return value >= offered;
    case RuleKind::both:
    case RuleKind::minimum:
        return value <= offered;
    case RuleKind::declared:
        return true;
    }
    return false;
}

/// No value, but an answer all the same. Section 6.2.
bool is_refusal(std::string_view value) {
    return value == "NotUnderstood" || value == "Irrelevant" || value == "Reject";
}

tl::unexpected<Error> bad_value(std::string_view key, std::string_view value, std::string_view why) {
    return failure(EPROTO, "the target broke the protocol: {}={} {}", key, quotable(value), why);
}

tl::unexpected<Error> digest_refused(std::size_t rule, bool wanted) {
    const std::string_view option = rule == kHeaderDigest ? "hdr_digest" : "data_digest";
    if (wanted) {
        return failure(ENOTSUP,
                       "the target does not do {}=CRC32C, which was asked for: enable it at the target, or "
                       "do without ({})",
                       kNegotiationRules[rule].key, option);
    }
    return failure(ENOTSUP, "the target demands a {}: ask for it with {}=1", kNegotiationRules[rule].key,
                   option);
}

} // namespace

Negotiation::Negotiation(const Offer& offer) {
    static_assert(std::size(kNegotiationRules) == kRules);
    for (std::size_t i = 0; i < kRules; ++i) {
        const Rule& rule = kNegotiationRules[i];
        keys_[i] = {rule.offered, rule.standard, rule.of_discovery || !offer.discovery, false};
    }
    keys_[kHeaderDigest].offered = offer.header_digest ? 1 : 0;
    keys_[kDataDigest].offered = offer.data_digest ? 1 : 0;
    keys_[kMaxOutstandingR2t].offered = std::max<std::uint16_t>(offer.max_outstanding_r2t, 1);
}

std::string Negotiation::offer() const {
    std::string text;
    for (std::size_t i = 0; i < kRules; ++i) {
        if (keys_[i].asked) {
            append_pair(text, kNegotiationRules[i].key,
                        value_text(kNegotiationRules[i].kind, keys_[i].offered));
        }
    }
    return text;
}

Result<void> Negotiation::take(std::span<const KeyValue> pairs) {
    for (const KeyValue& pair : pairs) {
        if (auto taken = take(pair); !taken) {
            return taken;
        }
    }
    return {};
}

Result<void> Negotiation::take(const KeyValue& pair) {
    const Rule* rule = std::find_if(std::begin(kNegotiationRules), std::end(kNegotiationRules),
                                    [&pair](const Rule& r) { return r.key == pair.key; });
    if (rule != std::end(kNegotiationRules)) {
        return take_answer(static_cast<std::size_t>(rule - std::begin(kNegotiationRules)), pair.value);
    }
    bool known = false;
    if (auto taken = take_declaration(pair, known); !taken || known) {
        return taken;
    }
    if (is_remark(pair.key) || is_refusal(pair.value)) {
        return {};
    }
    std::string_view answer = "NotUnderstood";
    for (const auto& foreign : kForeignOffers) {
        answer = foreign.key == pair.key ? foreign.answer : answer;
    }
    append_pair(answers_, pair.key, answer);
    return {};
}

Result<void> Negotiation::take_declaration(const KeyValue& pair, bool& known) {
    known = true;
    if (pair.key == "TargetAlias") {
        target_alias_ = quotable(pair.value);
        return {};
    }
    if (pair.key == "TargetPortalGroupTag") {
        const auto tag = parse_number(pair.value, 0xffff);
        if (!tag) {
            return bad_value(pair.key, pair.value, "is no number from 0 to 65535");
        }
        portal_group_ = static_cast<std::uint16_t>(*tag);
        return {};
    }
    known = false;
    return {};
}

Result<void> Negotiation::take_answer(std::size_t rule, std::string_view value) {
    const std::string_view name = kNegotiationRules[rule].key;
    const RuleKind kind = kNegotiationRules[rule].kind;
    Key& key = keys_[rule];
    if (key.answered) {
        return bad_value(name, value, "is its second answer to one offer");
    }
    key.answered = true;
    const bool digest = kind == RuleKind::digest;
    if (is_refusal(value) && kind != RuleKind::declared) {
        if (digest && (key.offered != 0 || value == "Reject")) {
            return digest_refused(rule, key.offered != 0);
        }
        return {}; // the default holds
    }
    const auto parsed = parse_value(kNegotiationRules[rule], value);
    if (!parsed) {
        return bad_value(name, value,
                         is_number(kind)
                             ? fmt::format("is no number from {} to {}", kNegotiationRules[rule].lowest,
                                           kNegotiationRules[rule].highest)
                         : digest ? "is neither CRC32C nor None"
                                  : "is neither Yes nor No");
    }
    if (!key.asked) {
        // Its own offer, of a key that means nothing here; the values in force don't matter.
        append_pair(answers_, name, "Irrelevant");
        return {};
    }
    if (!is_possible(kind, key.offered, *parsed)) {
        if (digest) {
            return digest_refused(rule, key.offered != 0);
        }
        return bad_value(name, value,
                         fmt::format("is no answer to {}={}", name, value_text(kind, key.offered)));
    }
    key.value = *parsed;
    return {};
}

std::string Negotiation::take_answers() {
    return std::exchange(answers_, {});
}

Result<SessionParameters> Negotiation::finish() const {
    for (const std::size_t digest : {kHeaderDigest, kDataDigest}) {
        if (keys_[digest].value != keys_[digest].offered) {
            return digest_refused(digest, true);
        }
    }
    SessionParameters agreed;
    agreed.header_digest = keys_[kHeaderDigest].value != 0;
    agreed.data_digest = keys_[kDataDigest].value != 0;
    agreed.max_send_data = keys_[kMaxRecvDataSegmentLength].value;
    agreed.max_receive_data = kMaxReceiveData;
    agreed.max_burst = keys_[kMaxBurstLength].value;
    // The first burst is one, too: what a target forgets to say is no reason to send it more.
    agreed.first_burst = std::min(keys_[kFirstBurstLength].value, agreed.max_burst);
    agreed.max_outstanding_r2t = static_cast<std::uint16_t>(keys_[kMaxOutstandingR2t].value);
    agreed.initial_r2t = keys_[kInitialR2t].value != 0;
    agreed.immediate_data = keys_[kImmediateData].value != 0;
    agreed.time2wait = static_cast<std::uint16_t>(keys_[kDefaultTime2Wait].value);
    agreed.time2retain = static_cast<std::uint16_t>(keys_[kDefaultTime2Retain].value);
    return agreed;
}

} // namespace mpath::iscsi
