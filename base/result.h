// SPDX-License-Identifier: GPL-2.0-only
// Errors are values in the core: an errno for the machine, one sentence for the person.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <tl/expected.hpp>

namespace mpath {

/// What went wrong. `code` is a positive errno, which the C edge hands to fio; `text` is one sentence
/// without a full stop that says what, where and what to do.
struct Error {
    int code = EIO;
    std::string text;
    bool final = false; ///< the other side has said that asking again is no use
};

template <typename T>
using Result = tl::expected<T, Error>;

/// What the system says of an errno.
inline std::string reason_of(int code) {
    return std::generic_category().message(code);
}

/// A failed Result of any type: `return failure(EINVAL, "iopolicy={} is unknown", name);`
template <typename... Args>
tl::unexpected<Error> failure(int code, fmt::format_string<Args...> format, Args&&... args) {
    return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

/// Passes an error on, with the place it happened in front of its sentence: `path p1: refused`.
inline tl::unexpected<Error> failure_in(std::string_view place, Error error) {
    error.text = fmt::format("{}: {}", place, error.text);
    return tl::unexpected<Error>(std::move(error));
}

} // namespace mpath
