// SPDX-License-Identifier: GPL-2.0-only
#include "job/device_files.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <system_error>

#include "iscsi/inquiry.h"

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

/// By the same rule as over iSCSI, which sees the same page through another port.
bool is_identified_by(const fs::path& page, const DeviceIdentity& identity) {
    std::ifstream stream(page, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    const auto found = iscsi::parse_identification(std::as_bytes(std::span(bytes)));
    return found && found->identity == identity;
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
    if (identity.value.empty() || (digits.empty() && identity.kind != DeviceIdentity::Kind::vpd83)) {
        return false; // what is not there would be equal
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
        return read_line(directory / "device/wwid") == identity.value ||
               is_identified_by(directory / "device/vpd_pg83", identity);
    }
    return false;
}

} // namespace mpath::job
