// SPDX-License-Identifier: GPL-2.0-only
#include "job/device_files.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace mpath::job {

namespace {

namespace fs = std::filesystem;

/// Hexadecimal digits in lower case: sysfs writes a NGUID with dashes and an EUI64 with blanks.
std::string digits_of(std::string_view text) {
    std::string digits;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isxdigit(byte) != 0) {
            digits += static_cast<char>(std::tolower(byte));
        }
    }
    return digits;
}

bool attribute_is(const fs::path& file, const std::string& digits) {
    return digits_of(read_line(file)) == digits;
}

/// `wwid` is a kind, a dot and the digits: "uuid.1b4e…", "eui.0025…", "naa.6001…".
bool wwid_is(const fs::path& file, std::string_view kind, const std::string& digits) {
    const std::string line = read_line(file);
    return line.starts_with(kind) && digits_of(std::string_view(line).substr(kind.size())) == digits;
}

/// Page 83h (SPC-5, Device Identification): 4 bytes of header, then designators of 4 bytes of header each,
/// whose last byte is the length of what follows.
bool has_designator(const fs::path& file, const std::string& digits) {
    std::ifstream stream(file, std::ios::binary);
    const std::string page{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    constexpr std::size_t kHeader = 4;
    for (std::size_t at = kHeader; at + kHeader <= page.size();) {
        const std::size_t length = static_cast<std::uint8_t>(page[at + 3]);
        std::string designator;
        for (const char c : std::string_view(page).substr(at + kHeader, length)) {
            designator += fmt::format("{:02x}", static_cast<std::uint8_t>(c));
        }
        if (designator == digits) {
            return true;
        }
        at += kHeader + length;
    }
    return false;
}

} // namespace

std::string read_line(const fs::path& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
}

std::vector<fs::path> entries_of(const fs::path& directory) {
    std::vector<fs::path> entries;
    std::error_code problem;
    for (fs::directory_iterator entry(directory, problem), end; !problem && entry != end;
         entry.increment(problem)) {
        entries.push_back(entry->path());
    }
    std::sort(entries.begin(), entries.end());
    return entries;
}

bool has_identity(const fs::path& directory, const DeviceIdentity& identity) {
    const std::string digits = digits_of(identity.value);
    if (digits.empty()) {
        return false;
    }
    switch (identity.kind) {
    case DeviceIdentity::Kind::none:
        return false;
    case DeviceIdentity::Kind::uuid:
        return attribute_is(directory / "uuid", digits) || wwid_is(directory / "wwid", "uuid.", digits);
    case DeviceIdentity::Kind::nguid:
        return attribute_is(directory / "nguid", digits) || wwid_is(directory / "wwid", "eui.", digits);
    case DeviceIdentity::Kind::eui64:
        return attribute_is(directory / "eui", digits) || wwid_is(directory / "wwid", "eui.", digits);
    case DeviceIdentity::Kind::vpd83:
        return wwid_is(directory / "device/wwid", "naa.", digits) ||
               wwid_is(directory / "device/wwid", "eui.", digits) ||
               has_designator(directory / "device/vpd_pg83", digits);
    }
    return false;
}

} // namespace mpath::job
