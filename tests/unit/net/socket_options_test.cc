// SPDX-License-Identifier: GPL-2.0-only
// What a connection is like that was asked for with options, and how wrong ones are refused.
#include "net/socket_options.h"

#include <netinet/in.h>

#include <gtest/gtest.h>

#include "net/address.h"

namespace mpath::net {
namespace {

SocketOptions from(const char* source) {
    return {source, "", {}};
}

SocketOptions through(const char* interface) {
    return {"", interface, {}};
}

SocketOptions with_tos(std::uint8_t tos) {
    return {"", "", tos};
}

bool has_ipv6() {
    return check(from("::1")).has_value();
}

int option_of(int fd, int level, int name) {
    int value = -1;
    socklen_t length = sizeof value;
    EXPECT_EQ(::getsockopt(fd, level, name, &value, &length), 0);
    return value;
}

TEST(SocketOptions, OfThisHostAreAccepted) {
    EXPECT_TRUE(check({}));
    EXPECT_TRUE(check(from("127.0.0.1")));
    EXPECT_TRUE(check(from("127.5.6.7"))) << "all of 127/8 is ours";
    const auto both = check({.source = "127.0.0.1", .interface = "lo", .tos = 255});
    EXPECT_TRUE(both) << both.error().text;
}

struct Wrong {
    const char* name;
    SocketOptions options;
    const char* sentence;
};

class WrongSocketOptions : public testing::TestWithParam<Wrong> {};

TEST_P(WrongSocketOptions, AreRefusedByName) {
    const auto result = check(GetParam().options);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().text, GetParam().sentence);
}

INSTANTIATE_TEST_SUITE_P(Each, WrongSocketOptions,
                         testing::Values(Wrong{"SourceIsAName", from("localhost"),
                                               "host_traddr: localhost is not a numeric address"},
                                         Wrong{"SourceOfSomebodyElse", // RFC 5737: nobody has it
                                               from("203.0.113.9"),
                                               "host_traddr=203.0.113.9 is not an address of this host"},
                                         Wrong{"ScopeIsNoDevice", from("fe80::1%nodev9"),
                                               "host_traddr: fe80::1%nodev9 is not a numeric address"},
                                         Wrong{"NoSuchDevice", through("nodev9"),
                                               "host_iface=nodev9: this host has no such device"}),
                         [](const auto& wrong) { return wrong.param.name; });

TEST(SocketOptions, LinkLocalSourceNeedsItsDevice) {
    if (!has_ipv6()) {
        GTEST_SKIP() << "this host has no IPv6";
    }
    const auto result = check(from("fe80::1"));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().text, "host_traddr=fe80::1 needs the device it is valid on, as in fe80::1%eth0");
}

TEST(SocketOptions, TypeOfServiceIsTheFamilysOwnOption) {
    const auto four = make_tcp_socket(AF_INET);
    ASSERT_TRUE(four);
    ASSERT_TRUE(apply(with_tos(0xb8), four->get(), AF_INET));
    EXPECT_EQ(option_of(four->get(), IPPROTO_IP, IP_TOS), 0xb8);
    if (!has_ipv6()) {
        GTEST_SKIP() << "this host has no IPv6";
    }
    const auto six = make_tcp_socket(AF_INET6);
    ASSERT_TRUE(six);
    ASSERT_TRUE(apply(with_tos(0xb8), six->get(), AF_INET6));
    EXPECT_EQ(option_of(six->get(), IPPROTO_IPV6, IPV6_TCLASS), 0xb8);
}

TEST(SocketOptions, InterfaceIsTheSocketsDevice) {
    const auto fd = make_tcp_socket(AF_INET);
    ASSERT_TRUE(fd);
    const auto applied = apply(through("lo"), fd->get(), AF_INET);
    ASSERT_TRUE(applied) << applied.error().text;
    char name[16] = {};
    socklen_t length = sizeof name;
    ASSERT_EQ(::getsockopt(fd->get(), SOL_SOCKET, SO_BINDTODEVICE, name, &length), 0);
    EXPECT_STREQ(name, "lo");
}

TEST(SocketOptions, SourceLeavesThePortToConnect) {
    const auto fd = make_tcp_socket(AF_INET);
    ASSERT_TRUE(fd);
    ASSERT_TRUE(apply(from("127.0.0.9"), fd->get(), AF_INET));
    EXPECT_EQ(local_address(fd->get()), "127.0.0.9:0");
}

} // namespace
} // namespace mpath::net
