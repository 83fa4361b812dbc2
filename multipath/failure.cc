// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/failure.h"

#include <cerrno>
#include <string_view>

#include <fmt/format.h>

namespace mpath::multipath {

namespace {

std::string_view operation_word(Operation operation) {
    switch (operation) {
    case Operation::read:
        return "read";
    case Operation::write:
        return "write";
    case Operation::trim:
        return "trim";
    case Operation::flush:
        return "flush";
    }
    return "I/O";
}

std::string what_and_where(const Request& request) {
    if (request.operation == Operation::flush) {
        return "flush";
    }
    return fmt::format("{} of {} bytes at offset {}", operation_word(request.operation), request.length,
                       request.offset);
}

std::string states_of(const PathSet& paths) {
    std::string text;
    for (std::uint16_t index = 0; index < paths.size(); ++index) {
        const Path& path = paths.path(index);
        const std::string_view state = !paths.enabled(index) ? "disabled"
                                       : !path.live()        ? "not connected"
                                                             : to_string(path.state());
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", paths.name(index), state);
    }
    return text.empty() ? "it has none" : text;
}

std::string_view reason(ErrorClass error) {
    switch (error) {
    case ErrorClass::none:
        return "succeeded";
    case ErrorClass::path_error:
        return "the target reported an error of the path";
    case ErrorClass::ana_loss:
        return "the path's group is in persistent loss";
    case ErrorClass::ana_inaccessible:
        return "the path's group is inaccessible";
    case ErrorClass::ana_transition:
        return "the path's group is changing its state";
    case ErrorClass::path_error_dnr:
        return "the target reported an error of the path and forbade a retry";
    case ErrorClass::state_changed:
        return "the state of the path's group changed, again and again";
    case ErrorClass::unit_attention:
        return "the target had news of the device, again and again";
    case ErrorClass::transport_error:
        return "the transfer was damaged";
    case ErrorClass::busy:
        return "the target is busy";
    case ErrorClass::aborted:
        return "aborted when the path was torn down";
    case ErrorClass::path_down:
        return "the connection was lost before the answer came";
    case ErrorClass::io_error:
        return "the device refused it";
    case ErrorClass::no_path:
        return "no path";
    }
    return "unknown";
}

} // namespace

int errno_of(ErrorClass error) noexcept {
    switch (error) {
    case ErrorClass::none:
        return 0;
    case ErrorClass::path_error:
    case ErrorClass::ana_loss:
    case ErrorClass::ana_inaccessible:
    case ErrorClass::ana_transition:
    case ErrorClass::path_error_dnr:
    case ErrorClass::aborted:
    case ErrorClass::path_down:
        return ENOLINK;
    case ErrorClass::busy:
        return EBUSY;
    case ErrorClass::state_changed:
    case ErrorClass::unit_attention:
    case ErrorClass::transport_error: // fio's continue_on_error goes on after it: the path is fine
    case ErrorClass::io_error:
    case ErrorClass::no_path:
        return EIO;
    }
    return EIO;
}

std::string describe_failure(const Request& request, const PathSet& paths) {
    if (request.path >= paths.size()) {
        return fmt::format("{}: no usable path in this job's set ({})", what_and_where(request),
                           states_of(paths));
    }
    std::string text = fmt::format("{} on path {}: {}", what_and_where(request), paths.name(request.path),
                                   reason(request.error_class));
    if (request.protocol_status != 0) {
        text += fmt::format(", {}", paths.path(request.path).status_text(request.protocol_status));
    }
    return text;
}

} // namespace mpath::multipath
