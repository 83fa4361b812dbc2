// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/authentication.h"

#include <algorithm>

#include "base/words.h"

namespace mpath::iscsi {

namespace {

tl::unexpected<Error> broke_chap(std::string_view how) {
    return failure(EPROTO, "the target broke the protocol: {}", how);
}

/// Whether `number` is one of those that kChapOffer has.
bool is_offered(std::string_view number) {
    const auto offered = split(kChapOffer, ',');
    return std::find(offered.begin(), offered.end(), number) != offered.end();
}

} // namespace

Authentication::Authentication(std::optional<ChapCredentials> credentials, bool target_must_prove)
    : credentials_(std::move(credentials)), none_will_do_(!mutual() || !target_must_prove) {}

std::string Authentication::offer() const {
    std::string text;
    append_pair(text, "AuthMethod", !credentials_ ? "None" : none_will_do_ ? "CHAP,None" : "CHAP");
    return text;
}

bool Authentication::may_end() const {
    return state_ != AuthenticationState::algorithm_offered;
}

Result<void> Authentication::check_end() const {
    switch (state_) {
    case AuthenticationState::done:
        return {};
    case AuthenticationState::method_offered:
        if (none_will_do_) {
            return {}; // it has not even mentioned AuthMethod
        }
        return failure(EACCES, "the target does not prove who it is, as the second line of "
                               "chap_secret_file asks of it");
    case AuthenticationState::algorithm_offered:
        return broke_chap("it ended the security stage in the middle of CHAP");
    case AuthenticationState::proof_sent:
        if (mutual()) {
            return failure(EACCES, "the target let us in, but did not prove who it is, as the second line of "
                                   "chap_secret_file asks of it");
        }
        return {};
    }
    return {};
}

Result<std::string> Authentication::take(std::span<const KeyValue> pairs) {
    switch (state_) {
    case AuthenticationState::method_offered:
        return take_method(pairs);
    case AuthenticationState::algorithm_offered:
        return take_challenge(pairs);
    case AuthenticationState::proof_sent:
        return take_proof(pairs);
    case AuthenticationState::done:
        break;
    }
    return std::string();
}

Result<std::string> Authentication::take_method(std::span<const KeyValue> pairs) {
    const auto method = find_value(pairs, "AuthMethod");
    if (!method) {
        return std::string(); // the target has something else to say first
    }
    if (*method == "None" && none_will_do_) {
        state_ = AuthenticationState::done;
        return std::string();
    }
    if (*method == "CHAP" && credentials_) {
        state_ = AuthenticationState::algorithm_offered;
        std::string text;
        append_pair(text, "CHAP_A", kChapOffer);
        return text;
    }
    if (*method == "Reject" && !credentials_) {
        return failure(EACCES, "the target demands authentication: give it chap_user and chap_secret_file");
    }
    if (!none_will_do_ && (*method == "Reject" || *method == "None")) {
        return failure(EACCES, "the target does no CHAP with us: enable it there, or ask for no proof of who "
                               "it is (chap_secret_file with one line)");
    }
    if (*method == "Reject") {
        return failure(EACCES, "the target demands another way of authentication than CHAP");
    }
    return failure(EPROTO, "the target broke the protocol: it chose AuthMethod={}, which was not offered",
                   quotable(*method));
}

Result<std::string> Authentication::take_challenge(std::span<const KeyValue> pairs) {
    const auto algorithm_text = find_value(pairs, "CHAP_A");
    if (algorithm_text == "Reject") {
        return failure(EACCES, "the target does none of the CHAP algorithms {}", kChapOffer);
    }
    const auto algorithm = chap_algorithm(algorithm_text.value_or(""));
    if (!algorithm || !is_offered(*algorithm_text)) {
        return broke_chap("it chose no algorithm of those that CHAP_A offered");
    }
    algorithm_ = *algorithm;
    const auto identifier = parse_number(find_value(pairs, "CHAP_I").value_or(""), 0xff);
    const auto challenge = parse_binary(find_value(pairs, "CHAP_C").value_or(""));
    if (!identifier || !challenge) {
        return broke_chap(!identifier ? "its CHAP_I is no number from 0 to 255"
                                      : "its CHAP_C is no challenge of 1 to 1024 bytes");
    }
    auto response =
        chap_response(algorithm_, static_cast<std::uint8_t>(*identifier), credentials_->secret, *challenge);
    if (!response) {
        return tl::unexpected(std::move(response.error()));
    }
    response_ = std::move(*response);
    std::string text;
    append_pair(text, "CHAP_N", credentials_->user);
    append_pair(text, "CHAP_R", binary_text(response_));
    if (mutual()) {
        auto ours = chap_challenge(algorithm_);
        if (!ours) {
            return tl::unexpected(std::move(ours.error()));
        }
        challenge_ = std::move(*ours);
        // Another one than the target's, so that no answer to its challenge fits ours.
        identifier_ = static_cast<std::uint8_t>(*identifier + 1);
        append_pair(text, "CHAP_I", std::to_string(identifier_));
        append_pair(text, "CHAP_C", binary_text(challenge_));
    }
    state_ = AuthenticationState::proof_sent;
    return text;
}

Result<std::string> Authentication::take_proof(std::span<const KeyValue> pairs) {
    proven_ = true; // a target that is not content says so by its status
    if (!mutual()) {
        state_ = AuthenticationState::done;
        return std::string();
    }
    const auto text = find_value(pairs, "CHAP_R");
    if (!text) {
        return std::string();
    }
    const auto response = parse_binary(*text);
    if (!response) {
        return broke_chap("its CHAP_R is no response of 1 to 1024 bytes");
    }
    if (same_bytes(*response, response_)) {
        return failure(EACCES, "the target sent our own CHAP response back, which proves nothing");
    }
    const auto expected = chap_response(algorithm_, identifier_, credentials_->target_secret, challenge_);
    if (!expected) {
        return tl::unexpected(expected.error());
    }
    if (!same_bytes(*response, *expected)) {
        return failure(EACCES, "the target did not prove who it is: it has another secret than the second "
                               "line of chap_secret_file");
    }
    state_ = AuthenticationState::done;
    return std::string();
}

} // namespace mpath::iscsi
