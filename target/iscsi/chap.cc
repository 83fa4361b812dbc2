// SPDX-License-Identifier: GPL-2.0-only
#include "target/iscsi/chap.h"

#include <array>
#include <fstream>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

namespace mpath::target::scsi {

namespace {

constexpr int kMd5 = 5;
constexpr int kSha256 = 7;
constexpr std::size_t kChallengeSize = 16;
constexpr std::size_t kMaxChallenge = 1024;
constexpr std::uint64_t kNoIdentifier = 256; // they are one byte

std::span<const std::uint8_t> digest_bytes(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

bool is_equal(std::string_view a, std::string_view b) {
    return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

} // namespace

Result<void> read_chap_secrets(const std::string& file, ChapAccount& account) {
    std::ifstream lines(file);
    if (!std::getline(lines, account.secret) || account.secret.empty()) {
        return failure(lines.is_open() ? EINVAL : ENOENT, "{}: there is no secret in it", file);
    }
    std::getline(lines, account.own_secret);
    return {};
}

std::optional<std::string> chap_response(int algorithm, std::uint8_t identifier, std::string_view secret,
                                         std::string_view challenge) {
    if (algorithm != kMd5 && algorithm != kSha256) {
        return std::nullopt;
    }
    std::string message(1, static_cast<char>(identifier));
    message += secret;
    message += challenge;
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    if (::EVP_Digest(message.data(), message.size(), digest.data(), &length,
                     algorithm == kMd5 ? ::EVP_md5() : ::EVP_sha256(), nullptr) != 1) {
        return std::nullopt; // the system's policy forbids MD5
    }
    return std::string(reinterpret_cast<const char*>(digest.data()), length);
}

bool Chap::answer(const KeyValues& keys, std::string& reply) {
    if (passed_) {
        return true;
    }
    if (algorithm_ == 0) {
        const std::string* algorithms = find_key(keys, "CHAP_A");
        return algorithms == nullptr || challenge(*algorithms, reply); // AuthMethod comes alone
    }
    return check(keys, reply);
}

bool Chap::challenge(std::string_view algorithms, std::string& reply) {
    for (const std::string_view word : split_list(algorithms)) {
        const auto number = parse_number(word).value_or(0);
        if (algorithm_ == 0 && (number == kMd5 || number == kSha256)) {
            algorithm_ = static_cast<int>(number);
        }
    }
    std::array<std::uint8_t, 1 + kChallengeSize> random{};
    if (algorithm_ == 0 || ::RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) {
        return false;
    }
    identifier_ = random[0];
    challenge_.assign(reinterpret_cast<const char*>(random.data() + 1), kChallengeSize);
    append_key(reply, "CHAP_A", fmt::format("{}", algorithm_));
    append_key(reply, "CHAP_I", fmt::format("{}", identifier_));
    append_key(reply, "CHAP_C", hexadecimal(digest_bytes(challenge_)));
    return true;
}

bool Chap::check(const KeyValues& keys, std::string& reply) {
    const std::string* name = find_key(keys, "CHAP_N");
    const std::string* proof = find_key(keys, "CHAP_R");
    const auto given = proof == nullptr ? std::nullopt : parse_binary(*proof);
    const auto wanted = chap_response(algorithm_, identifier_, account_.secret, challenge_);
    if (name == nullptr || *name != account_.user || !given || !wanted || !is_equal(*given, *wanted)) {
        return false;
    }
    const std::string* identifier = find_key(keys, "CHAP_I");
    const std::string* challenge = find_key(keys, "CHAP_C");
    if (identifier != nullptr || challenge != nullptr) {
        const std::uint64_t number =
            identifier == nullptr ? kNoIdentifier : parse_number(*identifier).value_or(kNoIdentifier);
        const auto bytes = challenge == nullptr ? std::nullopt : parse_binary(*challenge);
        // Our own challenge would be answered by ourselves.
        if (account_.own_secret.empty() || number >= kNoIdentifier || !bytes ||
            bytes->size() > kMaxChallenge || *bytes == challenge_) {
            return false;
        }
        const auto ours =
            chap_response(algorithm_, static_cast<std::uint8_t>(number), account_.own_secret, *bytes);
        append_key(reply, "CHAP_N", account_.own_user);
        append_key(reply, "CHAP_R", hexadecimal(digest_bytes(*ours)));
    }
    passed_ = true;
    return true;
}

} // namespace mpath::target::scsi
