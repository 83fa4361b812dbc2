// SPDX-License-Identifier: GPL-2.0-only
// The operational keys of a login: what we offer, what becomes of the target's answers, what we answer to its
// own offers. Knows nothing of PDUs. RFC 7143, sections 6.2 and 13.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "iscsi/login_text.h"
#include "iscsi/session_parameters.h"

namespace mpath::iscsi {

/// MaxRecvDataSegmentLength that we declare: bytes of data that one PDU to us may have. As open-iscsi, so
/// every target has been tried with it; larger PDUs would save little more, and hold up what is behind them.
inline constexpr std::uint32_t kMaxReceiveData = 262144;
/// MaxBurstLength and FirstBurstLength that we offer: all that 24 bits can say, in whole KiB. Bursts cost us
/// nothing; what they cost the target, it says in its answer.
inline constexpr std::uint32_t kOfferedBurst = 16776192;

struct Offer {
    bool header_digest = false; ///< CRC32C, and nothing else will do
    bool data_digest = false;   ///< likewise
    std::uint16_t max_outstanding_r2t = 1;
    bool discovery = false; ///< only what means something in a discovery session

    bool operator==(const Offer&) const = default;
};

class Negotiation {
public:
    explicit Negotiation(const Offer& offer);

    /// What we offer and declare, to be sent once.
    [[nodiscard]] std::string offer() const;
    /// Takes what the target says in any stage. ENOTSUP where it refuses digests that must be, EPROTO where
    /// its answer is none to what was offered.
    [[nodiscard]] Result<void> take(std::span<const KeyValue> pairs);
    /// What has to be said to what the target has offered since.
    [[nodiscard]] std::string take_answers();
    /// When all is said. For keys without an answer the standard's default holds.
    [[nodiscard]] Result<SessionParameters> finish() const;

    [[nodiscard]] std::uint16_t portal_group() const { return portal_group_; }
    [[nodiscard]] const std::string& target_alias() const { return target_alias_; }

private:
    static constexpr std::size_t kRules = 14;
    struct Key {
        std::uint32_t offered = 0;
        std::uint32_t value = 0; ///< what holds
        bool asked = false;      ///< is part of our offer
        bool answered = false;
    };

    [[nodiscard]] Result<void> take(const KeyValue& pair);
    [[nodiscard]] Result<void> take_answer(std::size_t rule, std::string_view value);
    [[nodiscard]] Result<void> take_declaration(const KeyValue& pair, bool& known);

    std::array<Key, kRules> keys_;
    std::uint16_t portal_group_ = 0;
    std::string target_alias_;
    std::string answers_;
};

} // namespace mpath::iscsi
