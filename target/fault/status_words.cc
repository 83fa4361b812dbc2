// SPDX-License-Identifier: GPL-2.0-only
#include "target/fault/status_words.h"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "iscsi/wire/scsi.h"

namespace mpath::target {

namespace {

using nvme::StatusCode;

constexpr std::array<std::pair<std::string_view, StatusCode>, 24> kStatusNames = {{
    {"invalid-opcode", StatusCode::invalid_opcode},
    {"invalid-field", StatusCode::invalid_field},
    {"data-transfer-error", StatusCode::data_transfer_error},
    {"internal-error", StatusCode::internal_error},
    {"abort-requested", StatusCode::abort_requested},
    {"aborted-sq-deletion", StatusCode::aborted_sq_deletion},
    {"invalid-namespace", StatusCode::invalid_namespace},
    {"write-protected", StatusCode::namespace_write_protected},
    {"command-interrupted", StatusCode::command_interrupted},
    {"transient-transport-error", StatusCode::transient_transport_error},
    {"lba-out-of-range", StatusCode::lba_out_of_range},
    {"capacity-exceeded", StatusCode::capacity_exceeded},
    {"namespace-not-ready", StatusCode::namespace_not_ready},
    {"reservation-conflict", StatusCode::reservation_conflict},
    {"connect-busy", StatusCode::connect_busy},
    {"connect-invalid-parameters", StatusCode::connect_invalid_parameters},
    {"connect-invalid-host", StatusCode::connect_invalid_host},
    {"internal-path-error", StatusCode::internal_path_error},
    {"ana-persistent-loss", StatusCode::ana_persistent_loss},
    {"ana-inaccessible", StatusCode::ana_inaccessible},
    {"ana-transition", StatusCode::ana_transition},
    {"controller-pathing-error", StatusCode::controller_pathing_error},
    {"host-pathing-error", StatusCode::host_pathing_error},
    {"aborted-by-host", StatusCode::aborted_by_host},
}};

constexpr std::array<std::pair<std::string_view, std::uint8_t>, 5> kScsiStatusNames = {{
    {"busy", iscsi::scsi_status::kBusy},
    {"reservation-conflict", iscsi::scsi_status::kReservationConflict},
    {"task-set-full", iscsi::scsi_status::kTaskSetFull},
    {"aca-active", iscsi::scsi_status::kAcaActive},
    {"task-aborted", iscsi::scsi_status::kTaskAborted},
}};

constexpr std::array<std::pair<std::string_view, std::uint16_t>, 10> kLoginStatusNames = {{
    {"moved-temporarily", 0x0101},
    {"initiator-error", 0x0200},
    {"authentication-failure", 0x0201},
    {"forbidden", 0x0202},
    {"not-found", 0x0203},
    {"target-removed", 0x0204},
    {"too-many-connections", 0x0206},
    {"target-error", 0x0300},
    {"service-unavailable", 0x0301},
    {"out-of-resources", 0x0302},
}};

std::optional<unsigned> hex_below(std::string_view text, unsigned limit) {
    unsigned number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
    if (fault != std::errc{} || end != text.data() + text.size() || number >= limit) {
        return std::nullopt;
    }
    return number;
}

std::optional<unsigned> status_number(std::string_view text) {
    if (text.ends_with('h')) {
        return hex_below(text.substr(0, text.size() - 1), 0x800);
    }
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) {
        return std::nullopt;
    }
    const auto type = hex_below(text.substr(0, slash), 8);
    const auto code = hex_below(text.substr(slash + 1), 0x100);
    return type && code ? std::optional(*type << 8 | *code) : std::nullopt;
}

} // namespace

Result<nvme::Status> parse_status(std::string_view text) {
    for (const auto& [name, code] : kStatusNames) {
        if (text == name) {
            return nvme::Status(code);
        }
    }
    const auto number = status_number(text);
    if (!number || *number == 0) {
        return failure(EINVAL,
                       "'{}' is not a status, write its name (ana-inaccessible), its number (302h) or SCT/SC "
                       "(3/02)",
                       text);
    }
    return nvme::Status(static_cast<std::uint16_t>(*number));
}

Result<ScsiFailure> parse_scsi_status(std::string_view text) {
    for (const auto& [name, status] : kScsiStatusNames) {
        if (text == name) {
            return ScsiFailure{.status = status};
        }
    }
    const auto number =
        text.ends_with('h') ? hex_below(text.substr(0, text.size() - 1), 0x100) : std::nullopt;
    if (!number || *number == iscsi::scsi_status::kGood || *number == iscsi::scsi_status::kCheckCondition) {
        return failure(
            EINVAL,
            "'{}' is not a SCSI status, write its name (busy), its number (28h) or sense KEY/ASC/ASCQ", text);
    }
    return ScsiFailure{.status = static_cast<std::uint8_t>(*number)};
}

Result<ScsiFailure> parse_sense(std::string_view text) {
    const std::size_t first = text.find('/');
    const std::size_t second = first == std::string_view::npos ? first : text.find('/', first + 1);
    if (second != std::string_view::npos) {
        const auto key = hex_below(text.substr(0, first), 0x10);
        const auto asc = hex_below(text.substr(first + 1, second - first - 1), 0x100);
        const auto ascq = hex_below(text.substr(second + 1), 0x100);
        if (key && asc && ascq) {
            return ScsiFailure{.status = iscsi::scsi_status::kCheckCondition,
                               .key = static_cast<std::uint8_t>(*key),
                               .asc = static_cast<std::uint8_t>(*asc),
                               .ascq = static_cast<std::uint8_t>(*ascq)};
        }
    }
    return failure(EINVAL, "'{}' is no sense, write KEY/ASC/ASCQ, hexadecimal, such as 3/11/00", text);
}

Result<std::uint16_t> parse_login_status(std::string_view text) {
    for (const auto& [name, status] : kLoginStatusNames) {
        if (text == name) {
            return status;
        }
    }
    const auto number =
        text.ends_with('h') ? hex_below(text.substr(0, text.size() - 1), 0x10000) : std::nullopt;
    if (!number || *number < 0x0100) {
        return failure(EINVAL,
                       "'{}' is no status of a login, write its name (target-removed) or its number (0204h)",
                       text);
    }
    return static_cast<std::uint16_t>(*number);
}

std::string scsi_status_names() {
    std::string names;
    for (const auto& [name, status] : kScsiStatusNames) {
        names += fmt::format("{}{} {:02x}h", names.empty() ? "" : ", ", name, status);
    }
    return names;
}

std::string login_status_names() {
    std::string names;
    for (const auto& [name, status] : kLoginStatusNames) {
        names += fmt::format("{}{} {:04x}h", names.empty() ? "" : ", ", name, status);
    }
    return names;
}

std::string status_names() {
    std::string names;
    for (const auto& [name, code] : kStatusNames) {
        names += fmt::format("{}{} {:03x}h", names.empty() ? "" : ", ", name, static_cast<unsigned>(code));
    }
    return names;
}

} // namespace mpath::target
