// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/chap_credentials.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

namespace mpath::iscsi {
namespace {

class SecretFile : public testing::Test {
protected:
    SecretFile() {
        const int fd = ::mkstemp(path_.data());
        ::close(fd);
    }
    ~SecretFile() override { ::unlink(path_.c_str()); }

    Result<ChapCredentials> read(const std::string& content, mode_t mode = 0600) {
        const int fd = ::open(path_.c_str(), O_WRONLY | O_TRUNC);
        EXPECT_EQ(::write(fd, content.data(), content.size()), static_cast<ssize_t>(content.size()));
        ::fchmod(fd, mode);
        ::close(fd);
        return read_chap_credentials("me", path_);
    }
    Error refused(const std::string& content, mode_t mode = 0600) {
        const auto read_back = read(content, mode);
        return read_back ? Error{0, "taken"} : read_back.error();
    }

    std::string path_ = testing::TempDir() + "chap-secret-XXXXXX";
};

TEST_F(SecretFile, has_our_secret_in_its_first_line) {
    for (const char* content : {"s e cret", "s e cret\n", "s e cret\r\n", "s e cret\n\n \n"}) {
        EXPECT_EQ(read(content).value(), (ChapCredentials{"me", "s e cret", ""})) << content;
    }
}

TEST_F(SecretFile, may_have_the_targets_in_its_second) {
    for (const char* content : {"ours\ntheirs", "ours\ntheirs\n", "ours\r\ntheirs\r\n\n"}) {
        EXPECT_EQ(read(content).value(), (ChapCredentials{"me", "ours", "theirs"})) << content;
    }
}

TEST_F(SecretFile, is_refused_when_others_may_read_or_write_it) {
    for (const mode_t mode : {0640U, 0604U, 0620U}) {
        const Error error = refused("geheim\n", mode);
        EXPECT_EQ(error.code, EACCES);
        EXPECT_EQ(error.text,
                  fmt::format("chap_secret_file={} is open to others than its owner (mode {:03o}): "
                              "chmod 600 it",
                              path_, mode));
    }
}

TEST_F(SecretFile, is_refused_without_repeating_what_it_has) {
    const std::pair<std::string, std::string> cases[] = {
        {"", " has no secret in its first line"},
        {"\ngeheim\n", " has no secret in its first line"},
        {"geheim\ngeheim\n", " has the same secret twice: who knows one could pass for the other side"},
        {"geheim\na\nb\n", " has more than two lines: the first is our secret, the second the target's"},
        {std::string(5000, 'g'), " is longer than 4096 bytes, it has one line or two"},
    };
    for (const auto& [content, sentence] : cases) {
        const Error error = refused(content);
        EXPECT_EQ(error.code, EINVAL);
        EXPECT_EQ(error.text, "chap_secret_file=" + path_ + sentence);
    }
}

TEST_F(SecretFile, needs_a_user) {
    read("geheim\n");
    const auto credentials = read_chap_credentials("", path_);
    ASSERT_FALSE(credentials);
    EXPECT_EQ(credentials.error().text,
              "chap_secret_file=" + path_ + " goes with a user: chap_user=, or user@ in the path");
}

TEST(SecretFileElsewhere, says_why_it_can_t_be_read) {
    const auto missing = read_chap_credentials("me", "/nonexistent/secret");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ENOENT);
    EXPECT_EQ(missing.error().text, "chap_secret_file=/nonexistent/secret: No such file or directory");
    const auto folder = read_chap_credentials("me", "/");
    ASSERT_FALSE(folder);
    EXPECT_EQ(folder.error().text, "chap_secret_file=/ is no regular file");
}

} // namespace
} // namespace mpath::iscsi
