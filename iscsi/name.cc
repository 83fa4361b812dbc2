// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/name.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/words.h"

namespace mpath::iscsi {

namespace {

constexpr const char* kInitiatorNameFile = "/etc/iscsi/initiatorname.iscsi";
constexpr std::string_view kGeneratedPrefix = "iqn.2025-01.io.fio-mpath:";
constexpr std::uint8_t kRandomIsid = 0x80; // type 10b

bool is_hex(std::string_view digits) {
    return std::all_of(digits.begin(), digits.end(),
                       [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
}

/// Beside what section 4.2.7.2 allows, '_' and capitals, which are in use; but no other script.
bool may_be_in_a_name(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x80 &&
           (std::isalnum(byte) != 0 || std::string_view("-.:_").find(c) != std::string_view::npos);
}

/// InitiatorName= in the form of open-iscsi's file: lines, '#' begins a comment. Absent where it isn't set.
std::optional<std::string> name_in(std::string_view content) {
    constexpr std::string_view kKey = "InitiatorName=";
    for (const std::string_view line : split(content, '\n')) {
        if (line.starts_with(kKey)) {
            return std::string(trimmed(line.substr(kKey.size())));
        }
    }
    return std::nullopt;
}

std::string generated_name(std::string_view host) {
    std::string name(kGeneratedPrefix);
    for (const char c : host.substr(0, kMaxNameLength - kGeneratedPrefix.size())) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = byte < 0x80 && (std::isalnum(byte) != 0 || c == '.' || c == '-');
        name += plain ? static_cast<char>(std::tolower(byte)) : '-';
    }
    return host.empty() ? name + "host" : name;
}

std::optional<std::string> content_of(const char* path) {
    std::ifstream file(path);
    if (!file) {
        return std::nullopt; // not there, or root's alone
    }
    return std::string(std::istreambuf_iterator<char>(file), {});
}

} // namespace

Result<void> check_name(std::string_view name) {
    if (name.empty()) {
        return failure(EINVAL, "iSCSI name is empty");
    }
    const auto odd = std::find_if_not(name.begin(), name.end(), may_be_in_a_name);
    if (odd != name.end()) {
        return failure(EINVAL,
                       "iSCSI name contains byte {:#04x} at position {}, only letters, digits and '-', '.', "
                       "':', '_' are allowed",
                       static_cast<unsigned char>(*odd), odd - name.begin() + 1);
    }
    if (name.size() > kMaxNameLength) {
        return failure(EINVAL, "iSCSI name is {} bytes long, at most {} are allowed", name.size(),
                       kMaxNameLength);
    }
    constexpr std::size_t kPrefixLength = 4;
    const std::string_view prefix = name.substr(0, kPrefixLength);
    const std::string_view rest = name.substr(std::min(kPrefixLength, name.size()));
    if (prefix == "iqn." && !rest.empty()) {
        return {};
    }
    if (prefix == "eui." && rest.size() == 16 && is_hex(rest)) {
        return {};
    }
    if (prefix == "naa." && (rest.size() == 16 || rest.size() == 32) && is_hex(rest)) {
        return {};
    }
    return failure(EINVAL,
                   "iSCSI name '{}' is neither 'iqn.' and a name, nor 'eui.' and 16 hexadecimal digits, nor "
                   "'naa.' and 16 or 32 of them",
                   name);
}

Result<std::string> choose_initiator_name(const InitiatorNames& names) {
    std::string_view source = "initiator=";
    std::optional<std::string> name = names.option;
    if (!name && names.file) {
        source = kInitiatorNameFile;
        name = name_in(*names.file);
    }
    if (!name) {
        source = "generated initiator name";
        name = generated_name(names.host);
    }
    if (auto good = check_name(*name); !good) {
        return failure_in(source, good.error());
    }
    return *name;
}

Result<std::string> initiator_name(const char* option) {
    InitiatorNames names;
    if (option != nullptr) {
        names.option = option;
    }
    names.file = content_of(kInitiatorNameFile);
    std::array<char, HOST_NAME_MAX + 1> host{};
    if (::gethostname(host.data(), host.size() - 1) == 0) {
        names.host = host.data();
    }
    return choose_initiator_name(names);
}

IsidBase random_isid_base() {
    IsidBase base{};
    // Never fails for so few bytes, once the system has come up.
    [[maybe_unused]] const ssize_t got = ::getrandom(base.data(), base.size(), 0);
    return base;
}

Isid isid(const IsidBase& base, std::uint16_t session) {
    Isid isid{kRandomIsid};
    std::copy(base.begin(), base.end(), isid.begin() + 1);
    isid[4] = static_cast<std::uint8_t>(session >> 8);
    isid[5] = static_cast<std::uint8_t>(session);
    return isid;
}

} // namespace mpath::iscsi
