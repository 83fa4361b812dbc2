// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/chap_credentials.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/unique_fd.h"

namespace mpath::iscsi {

namespace {

constexpr std::size_t kMaxSecretFile = 4096; ///< bytes

Result<std::string> read_private_file(const std::string& path) {
    // Not to wait for a writer, should it be a FIFO.
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file.valid() || ::fstat(file.get(), &status) != 0) {
        return failure(errno, "chap_secret_file={}: {}", path, reason_of(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return failure(EINVAL, "chap_secret_file={} is no regular file", path);
    }
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return failure(EACCES,
                       "chap_secret_file={} is open to others than its owner (mode {:03o}): chmod 600 it",
                       path, status.st_mode & 0777);
    }
    std::array<char, kMaxSecretFile + 1> content{};
    const ssize_t length = ::read(file.get(), content.data(), content.size());
    if (length < 0) {
        return failure(errno, "chap_secret_file={}: {}", path, reason_of(errno));
    }
    if (static_cast<std::size_t>(length) > kMaxSecretFile) {
        return failure(EINVAL, "chap_secret_file={} is longer than {} bytes, it has one line or two", path,
                       kMaxSecretFile);
    }
    return std::string(content.data(), static_cast<std::size_t>(length));
}

/// Takes the first line from `text`, without its end, which some editors write in two bytes. Blanks belong to
/// a secret.
std::string take_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return std::string(line.substr(0, line.size() - (line.ends_with('\r') ? 1 : 0)));
}

} // namespace

Result<ChapCredentials> read_chap_credentials(std::string user, const std::string& path) {
    const Result<std::string> content = read_private_file(path);
    if (!content) {
        return tl::unexpected(content.error());
    }
    std::string_view text = *content;
    ChapCredentials credentials{std::move(user), take_line(text), take_line(text)};
    if (credentials.user.empty()) {
        return failure(EINVAL, "chap_secret_file={} goes with a user: chap_user=, or user@ in the path",
                       path);
    }
    if (credentials.secret.empty()) {
        return failure(EINVAL, "chap_secret_file={} has no secret in its first line", path);
    }
    if (text.find_first_not_of(" \t\r\n") != std::string_view::npos) {
        return failure(EINVAL,
                       "chap_secret_file={} has more than two lines: the first is our secret, the second "
                       "the target's",
                       path);
    }
    if (credentials.secret == credentials.target_secret) {
        return failure(EINVAL,
                       "chap_secret_file={} has the same secret twice: who knows one could pass for the "
                       "other side",
                       path);
    }
    return credentials;
}

} // namespace mpath::iscsi
