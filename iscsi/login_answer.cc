// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/login_answer.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "iscsi/login_text.h"
#include "iscsi/reject.h"

namespace mpath::iscsi {

namespace {

constexpr std::uint8_t kTlsAlert = 0x15; ///< TLS record types, RFC 8446 section 5.1
constexpr std::uint8_t kTlsHandshake = 0x16;
constexpr std::uint8_t kTlsMajor = 0x03;
constexpr std::size_t kWorthShowing = 8; ///< characters or bytes of a stranger's answer

/// The printable characters `bytes` begin with.
std::string beginning_as_text(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte value : bytes) {
        const auto code = std::to_integer<unsigned>(value);
        if (code < 0x20 || code >= 0x7f) {
            break;
        }
        text.push_back(static_cast<char>(code));
    }
    return text;
}

std::string beginning_as_hex(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte value : bytes.first(kWorthShowing)) {
        text += fmt::format("{}{:02x}", text.empty() ? "" : " ", std::to_integer<unsigned>(value));
    }
    return text;
}

std::string_view stage_name(LoginStage stage) {
    switch (stage) {
    case LoginStage::security:
        return "security";
    case LoginStage::operational:
        return "operational";
    case LoginStage::full_feature:
        return "full feature";
    }
    return "reserved";
}

tl::unexpected<Error> broke_login(std::string_view how) {
    return failure(EPROTO, "the target broke the protocol: its login response {}", how);
}

} // namespace

Result<void> check_login_header(std::span<const std::byte> bytes, bool first) {
    Bhs header;
    std::memcpy(&header, bytes.data(), sizeof header);
    const auto opcode = static_cast<Opcode>(header.opcode & kOpcodeMask);
    if (opcode == Opcode::login_response && header.ahs_length == 0 &&
        header.data_length <= kLoginDataLength) {
        return {};
    }
    if (first && (header.opcode == kTlsAlert || header.opcode == kTlsHandshake) &&
        header.flags == kTlsMajor) {
        return failure(EACCES, "the peer demands TLS, which iSCSI does not have: check address and port");
    }
    if (const std::string text = beginning_as_text(bytes); first && text.size() >= kWorthShowing) {
        return failure(EPROTO,
                       "the peer is no iSCSI target, it says \"{}\": check address and port (iSCSI is "
                       "usually on {})",
                       text, kDefaultPort);
    }
    if (opcode == Opcode::reject) {
        Reject reject;
        std::memcpy(&reject, bytes.data(), sizeof reject);
        return failure(EPROTO, "the target rejects the login request: {} (reason {:02x}h)",
                       reject_text(reject.reason), reject.reason);
    }
    if (opcode != Opcode::login_response) {
        if (first) {
            return failure(EPROTO,
                           "the peer is no iSCSI target, it answers the login with the bytes {}: check "
                           "address and port (iSCSI is usually on {})",
                           beginning_as_hex(bytes), kDefaultPort);
        }
        return failure(EPROTO, "the target broke the protocol: instead of a login response came the bytes {}",
                       beginning_as_hex(bytes));
    }
    return broke_login(header.ahs_length != 0
                           ? std::string("has an additional header segment")
                           : fmt::format("has {} bytes of data, at most {} are allowed",
                                         static_cast<std::uint32_t>(header.data_length), kLoginDataLength));
}

Result<void> check_login_response(const LoginResponse& response, const LoginStep& step) {
    const bool transit = (response.flags & login_flag::kTransit) != 0;
    const bool goes_on = (response.flags & login_flag::kContinue) != 0;
    if (response.version_active != 0) {
        return broke_login(fmt::format("has version {}, which must be 0", response.version_active));
    }
    if (response.task_tag != step.task_tag) {
        return broke_login(
            fmt::format("has task tag {:#x}, which must be {:#x}", response.task_tag.get(), step.task_tag));
    }
    if (response.isid != step.isid) {
        return broke_login("has another ISID than the request");
    }
    if (current_stage(response.flags) != step.current) {
        return broke_login(fmt::format("is one of the {} stage, in the {} stage",
                                       stage_name(current_stage(response.flags)), stage_name(step.current)));
    }
    if (transit && goes_on) {
        return broke_login("ends the stage and goes on");
    }
    if (transit && !step.transit) {
        return broke_login("ends the stage, which was not asked for");
    }
    if (transit && next_stage(response.flags) != step.next) {
        return broke_login(fmt::format("goes to the {} stage, the request to the {} stage",
                                       stage_name(next_stage(response.flags)), stage_name(step.next)));
    }
    return {};
}

} // namespace mpath::iscsi
