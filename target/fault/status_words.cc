// SPDX-License-Identifier: GPL-2.0-only
#include "target/fault/status_words.h"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

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

std::string status_names() {
    std::string names;
    for (const auto& [name, code] : kStatusNames) {
        names += fmt::format("{}{} {:03x}h", names.empty() ? "" : ", ", name, static_cast<unsigned>(code));
    }
    return names;
}

} // namespace mpath::target
