// SPDX-License-Identifier: GPL-2.0-only
#include "record/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

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
