// SPDX-License-Identifier: GPL-2.0-only
#include "record/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/unique_fd.h"

namespace mpath::record {

Result<void> write_all(int fd, std::string_view text, const std::string& file) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            return failure(errno, "{} can't be written: {}", file, reason_of(errno));
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

Result<void> replace_file(const std::string& file, std::string_view text, std::string_view what,
                          std::string_view advice) {
    const std::string aside = file + ".new";
    const UniqueFd fd(::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!fd.valid()) {
        return failure(errno, "{} {} can't be made: {}{}", what, aside, reason_of(errno), advice);
    }
    if (auto written = write_all(fd.get(), text, aside); !written) {
        ::unlink(aside.c_str());
        return written;
    }
    if (::rename(aside.c_str(), file.c_str()) != 0) {
        const int code = errno;
        ::unlink(aside.c_str());
        return failure(code, "{} {} can't be put in place: {}", what, file, reason_of(code));
    }
    return {};
}

Result<std::string> read_all(const std::string& file) {
    const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) {
        return failure(errno, "{} can't be opened: {}", file, reason_of(errno));
    }
    std::string text;
    std::array<char, 65536> piece{};
    for (;;) {
        const ssize_t count = ::read(fd.get(), piece.data(), piece.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return failure(errno, "{} can't be read: {}", file, reason_of(errno));
        }
        if (count == 0) {
            return text;
        }
        text.append(piece.data(), static_cast<std::size_t>(count));
    }
}

} // namespace mpath::record
