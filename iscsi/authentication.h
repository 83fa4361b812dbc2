// SPDX-License-Identifier: GPL-2.0-only
// The initiator's part in the security stage of a login: no authentication, CHAP, or CHAP both ways. From the
// pairs that the target sends to the text that answers them; knows nothing of PDUs. RFC 7143, section 12.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "iscsi/chap.h"
#include "iscsi/chap_credentials.h"
#include "iscsi/login_text.h"

namespace mpath::iscsi {

/// What has been said last, and by whom.
enum class AuthenticationState : std::uint8_t {
    method_offered,    ///< AuthMethod, by us
    algorithm_offered, ///< CHAP_A, by us
    proof_sent,        ///< CHAP_N and CHAP_R, by us, and a challenge if the target has to prove itself
    done,              ///< as much as was wanted
};

class Authentication {
public:
    /// `target_must_prove`: that target_secret, if there is one, has to be proven. Otherwise an attempt is
    /// enough, where the target wants to know who we are.
    Authentication(std::optional<ChapCredentials> credentials, bool target_must_prove);

    /// The first thing to say.
    [[nodiscard]] std::string offer() const;
    /// Takes what the target says, and gives what has to be said next, nothing when it is the target's turn
    /// to end the stage. EACCES: we aren't let in, or the target did not prove who it is; EPROTO.
    [[nodiscard]] Result<std::string> take(std::span<const KeyValue> pairs);

    [[nodiscard]] AuthenticationState state() const { return state_; }
    /// Whether we may propose to end the stage with what is said next: everything we have to say is in it.
    [[nodiscard]] bool may_end() const;
    /// EACCES when the stage ended too early for what was wanted.
    [[nodiscard]] Result<void> check_end() const;
    /// We have proven who we are.
    [[nodiscard]] bool proven() const { return proven_; }

private:
    [[nodiscard]] Result<std::string> take_method(std::span<const KeyValue> pairs);
    [[nodiscard]] Result<std::string> take_challenge(std::span<const KeyValue> pairs);
    [[nodiscard]] Result<std::string> take_proof(std::span<const KeyValue> pairs);
    [[nodiscard]] bool mutual() const { return credentials_ && !credentials_->target_secret.empty(); }

    std::optional<ChapCredentials> credentials_;
    bool none_will_do_;
    AuthenticationState state_ = AuthenticationState::method_offered;
    ChapAlgorithm algorithm_ = ChapAlgorithm::md5;
    std::uint8_t identifier_ = 0;      ///< of our challenge
    std::vector<std::byte> challenge_; ///< ours
    std::vector<std::byte> response_;  ///< ours
    bool proven_ = false;
};

} // namespace mpath::iscsi
