// SPDX-License-Identifier: GPL-2.0-only
// CHAP, the target's side. RFC 7143, section 12.1.3; RFC 1994.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "target/iscsi/text.h"
#include "target/options.h"

namespace mpath::target::scsi {

/// One initiator's proof of who it is and, if it asks for that, ours.
class Chap {
public:
    /// `account`: outlives it.
    explicit Chap(const ChapAccount& account) : account_(account) {}

    /// Answers the keys of one login request. False: the initiator is not who it should be, or asks for what
    /// can't be had.
    bool answer(const KeyValues& keys, std::string& reply);
    [[nodiscard]] bool passed() const { return passed_; }

private:
    bool challenge(std::string_view algorithms, std::string& reply);
    bool check(const KeyValues& keys, std::string& reply);

    const ChapAccount& account_;
    int algorithm_ = 0; ///< 0: none has been agreed on
    std::uint8_t identifier_ = 0;
    std::string challenge_;
    bool passed_ = false;
};

/// Reads secrets from a file: its first line is the initiators', the second one, if there is one, the
/// target's.
Result<void> read_chap_secrets(const std::string& file, ChapAccount& account);

/// What proves to know the secret; nothing: no such algorithm here. `algorithm`: 5 MD5, 7 SHA-256.
std::optional<std::string> chap_response(int algorithm, std::uint8_t identifier, std::string_view secret,
                                         std::string_view challenge);

} // namespace mpath::target::scsi
