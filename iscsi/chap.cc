// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/chap.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <memory>

#include "net/uri_text.h"

namespace mpath::iscsi {

namespace {

struct ChapDigest {
    ChapAlgorithm algorithm;
    const char* name; ///< OpenSSL's
    std::size_t size;
};
constexpr ChapDigest kChapDigests[] = {
    {ChapAlgorithm::md5, "MD5", 16},
    {ChapAlgorithm::sha1, "SHA1", 20},
    {ChapAlgorithm::sha256, "SHA256", 32},
    {ChapAlgorithm::sha3_256, "SHA3-256", 32},
};

const ChapDigest& digest_of(ChapAlgorithm algorithm) {
    for (const ChapDigest& digest : kChapDigests) {
        if (digest.algorithm == algorithm) {
            return digest;
        }
    }
    return kChapDigests[0];
}

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Big-endian groups of `width` bits, one a character. Bits that fill no byte must be zero.
std::optional<std::vector<std::byte>> join_bits(std::string_view text, std::string_view alphabet,
                                                unsigned width) {
    std::vector<std::byte> bytes;
    unsigned gathered = 0;
    unsigned bits = 0;
    for (const char c : text) {
        const std::size_t value = alphabet.find(c);
        if (value == std::string_view::npos || bytes.size() > kMaxChapBinary) {
            return std::nullopt;
        }
        gathered = gathered << width | static_cast<unsigned>(value);
        bits += width;
        if (bits >= 8) {
            bits -= 8;
            bytes.push_back(static_cast<std::byte>(gathered >> bits));
            gathered &= (1U << bits) - 1;
        }
    }
    if (gathered != 0 || bits >= width || bytes.empty() || bytes.size() > kMaxChapBinary) {
        return std::nullopt;
    }
    return bytes;
}

std::optional<std::vector<std::byte>> parse_hex(std::string_view digits) {
    std::string even(digits.size() % 2, '0'); // a number's first digit may be missing
    for (const char c : digits) {
        even += c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return join_bits(even, "0123456789abcdef", 4);
}

std::optional<std::vector<std::byte>> parse_base64(std::string_view text) {
    const std::size_t end = text.find_last_not_of('=') + 1;
    if (text.size() % 4 != 0 || text.size() - end > 2) {
        return std::nullopt;
    }
    return join_bits(text.substr(0, end), kBase64, 6);
}

} // namespace

std::optional<ChapAlgorithm> chap_algorithm(std::string_view number) {
    const auto value = net::to_integer<unsigned>(number);
    for (const ChapDigest& digest : kChapDigests) {
        if (value == static_cast<unsigned>(digest.algorithm)) {
            return digest.algorithm;
        }
    }
    return std::nullopt;
}

std::size_t response_size(ChapAlgorithm algorithm) {
    return digest_of(algorithm).size;
}

Result<std::vector<std::byte>> chap_response(ChapAlgorithm algorithm, std::uint8_t identifier,
                                             std::string_view secret, std::span<const std::byte> challenge) {
    const ChapDigest& digest = digest_of(algorithm);
    const std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> method(EVP_MD_fetch(nullptr, digest.name, nullptr),
                                                                 &EVP_MD_free);
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
    std::vector<std::byte> response(digest.size);
    unsigned size = 0;
    const bool done =
        method != nullptr && context != nullptr &&
        EVP_MD_get_size(method.get()) == static_cast<int>(digest.size) &&
        EVP_DigestInit_ex2(context.get(), method.get(), nullptr) == 1 &&
        EVP_DigestUpdate(context.get(), &identifier, sizeof identifier) == 1 &&
        EVP_DigestUpdate(context.get(), secret.data(), secret.size()) == 1 &&
        EVP_DigestUpdate(context.get(), challenge.data(), challenge.size()) == 1 &&
        EVP_DigestFinal_ex(context.get(), reinterpret_cast<unsigned char*>(response.data()), &size) == 1;
    if (!done) {
        return failure(ENOTSUP, "this host's OpenSSL does not do {}, which the target wants for CHAP",
                       digest.name);
    }
    return response;
}

Result<std::vector<std::byte>> chap_challenge(ChapAlgorithm algorithm) {
    std::vector<std::byte> challenge(response_size(algorithm));
    if (RAND_bytes(reinterpret_cast<unsigned char*>(challenge.data()), static_cast<int>(challenge.size())) !=
        1) {
        return failure(EIO, "this host's OpenSSL has no random bytes for a challenge");
    }
    return challenge;
}

std::string binary_text(std::span<const std::byte> bytes) {
    std::string text = "0x";
    for (const std::byte value : bytes) {
        text += fmt::format("{:02x}", std::to_integer<unsigned>(value));
    }
    return text;
}

std::optional<std::vector<std::byte>> parse_binary(std::string_view text) {
    const std::string_view digits = text.substr(std::min<std::size_t>(2, text.size()));
    if (text.starts_with("0x") || text.starts_with("0X")) {
        return parse_hex(digits);
    }
    if (text.starts_with("0b") || text.starts_with("0B")) {
        return parse_base64(digits);
    }
    return std::nullopt;
}

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

} // namespace mpath::iscsi
