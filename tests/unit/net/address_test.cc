// SPDX-License-Identifier: GPL-2.0-only
#include "net/address.h"

#include <netinet/tcp.h>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "tests/unit/net/socket_pair.h"

namespace mpath::net {
namespace {

TEST(Resolve, TakesNumericAddresses) {
    const auto four = resolve("127.0.0.2", 4420);
    ASSERT_TRUE(four);
    ASSERT_EQ(four->size(), 1U);
    EXPECT_EQ(four->front().text(), "127.0.0.2:4420");
    EXPECT_EQ(four->front().family(), AF_INET);

    const auto six = resolve("::1", 8009);
    ASSERT_TRUE(six);
    EXPECT_EQ(six->front().text(), "[::1]:8009");
    EXPECT_EQ(six->front().family(), AF_INET6);
}

TEST(Resolve, KeepsTheScopeOfALinkLocalAddress) {
    const auto scoped = resolve("fe80::1%lo", 4420);
    ASSERT_TRUE(scoped) << scoped.error().text;
    EXPECT_EQ(scoped->front().text(), "[fe80::1%lo]:4420");
    EXPECT_FALSE(resolve("fe80::1%nodev9", 4420));
}

TEST(NumericAddress, IsNeverAName) {
    EXPECT_EQ(numeric_address("127.0.0.3")->text(), "127.0.0.3:0");
    EXPECT_EQ(numeric_address("fe80::1%lo")->text(), "[fe80::1%lo]:0");
    for (const char* text : {"localhost", "", "127.0.0.300", "127.0.0.1:80", "[::1]"}) {
        const auto address = numeric_address(text);
        ASSERT_FALSE(address) << text;
        EXPECT_EQ(address.error().code, EINVAL);
    }
}

TEST(Resolve, FailureNamesTheHostAndTheReason) {
    // RFC 2606: no name under .invalid ever exists.
    const auto unknown = resolve("no-such-host.invalid", 4420);
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, EHOSTUNREACH);
    EXPECT_EQ(unknown.error().text.find("host no-such-host.invalid can't be resolved: "), 0U)
        << unknown.error().text;
    EXPECT_NE(unknown.error().text.back(), ' ');

    EXPECT_FALSE(resolve("", 4420));
    EXPECT_FALSE(resolve("300.1.1.1", 4420));
}

TEST(SocketAddressText, IsEmptyForNone) {
    EXPECT_EQ(SocketAddress{}.text(), "");
    EXPECT_EQ(local_address(-1), "");
    EXPECT_EQ(peer_address(-1), "");
}

TEST(SocketAddressText, NamesBothEndsOfAConnection) {
    const auto pair = test::make_socket_pair();
    EXPECT_EQ(local_address(pair.ours.get()), peer_address(pair.theirs.get()));
    EXPECT_EQ(peer_address(pair.ours.get()), local_address(pair.theirs.get()));
    EXPECT_EQ(local_address(pair.ours.get()).find("127.0.0.1:"), 0U);
}

TEST(CanonicalAddress, is_one_text_for_one_address) {
    struct Row {
        const char* address;
        const char* zone;
        const char* expected;
    };
    const Row rows[] = {
        {"192.0.2.7", "eth0", "192.0.2.7"},       {"2001:DB8:0:0::7", "", "2001:db8::7"},
        {"2001:db8::7", "eth0", "2001:db8::7"},   {"fe80::1", "eth0", "fe80::1%eth0"},
        {"fe80::1%ens9", "eth0", "fe80::1%eth0"}, {"fe80::1%ens9", "", "fe80::1"},
        {"nn-0x1:pn-0x2", "", "nn-0x1:pn-0x2"},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(canonical_address(row.address, row.zone), row.expected) << row.address;
    }
}

TEST(TcpSocket, NeitherBlocksNorDelaysNorSurvivesExec) {
    const auto fd = make_tcp_socket(AF_INET);
    ASSERT_TRUE(fd);
    EXPECT_NE(::fcntl(fd->get(), F_GETFL) & O_NONBLOCK, 0);
    EXPECT_NE(::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC, 0);
    int delay_off = 0;
    socklen_t length = sizeof delay_off;
    ASSERT_EQ(::getsockopt(fd->get(), IPPROTO_TCP, TCP_NODELAY, &delay_off, &length), 0);
    EXPECT_NE(delay_off, 0);
}

} // namespace
} // namespace mpath::net
