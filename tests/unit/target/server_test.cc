// SPDX-License-Identifier: GPL-2.0-only
// The event loop over real sockets: what single connections do is tested without it.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

#include <gtest/gtest.h>

#include "peer.h"
#include "target/server.h"

namespace mpath::target {
namespace {

/// A target that serves on a thread of its own until the end of the test.
struct Running {
    explicit Running(Options options = Bench::small()) {
        auto created = Server::create(options, clock);
        EXPECT_TRUE(created) << (created ? "" : created.error().text);
        server = std::move(*created);
        thread = std::thread([this] { server->run(); });
    }
    ~Running() {
        server->stop();
        thread.join();
    }
    SystemClock clock;
    std::unique_ptr<Server> server;
    std::thread thread;
};

struct Client {
    explicit Client(std::uint16_t port) : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const timeval patience{.tv_sec = 20, .tv_usec = 0};
        ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
        EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    }
    void send(const Bytes& bytes) const {
        EXPECT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
    }
    Bytes receive(std::size_t length) const {
        Bytes bytes(length);
        const ssize_t count = ::recv(socket.get(), bytes.data(), length, MSG_WAITALL);
        bytes.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
        return bytes;
    }
    UniqueFd socket;
};

Bytes ic_req() {
    nvme::IcReq request;
    request.common.hlen = sizeof(request);
    request.common.plen = sizeof(request);
    return bytes_of(request);
}

Bytes admin_connect(std::uint32_t kato_ms) {
    nvme::CommonHeader header;
    header.type = static_cast<std::uint8_t>(nvme::PduType::capsule_cmd);
    header.hlen = sizeof(nvme::CapsuleCmd);
    header.pdo = sizeof(nvme::CapsuleCmd);
    header.plen = sizeof(nvme::CapsuleCmd) + sizeof(nvme::ConnectData);
    auto command = connect_command(0, 31);
    command.kato = kato_ms;
    Bytes bytes = bytes_of(header);
    for (const Bytes& part : {bytes_of(command), bytes_of(connect_data(nvme::kDynamicController))}) {
        bytes.insert(bytes.end(), part.begin(), part.end());
    }
    return bytes;
}

TEST(TargetServer, ServesEveryListener) {
    Options options = Bench::small();
    options.listeners.resize(2);
    Running target(options);
    for (const auto& listener : target.server->listeners()) {
        ASSERT_NE(listener->options.port, 0);
        Client client(listener->options.port);
        client.send(ic_req());
        const Bytes answer = client.receive(sizeof(nvme::IcResp));
        ASSERT_EQ(answer.size(), sizeof(nvme::IcResp));
        EXPECT_EQ(answer[0], static_cast<std::byte>(nvme::PduType::ic_resp));
    }
}

TEST(TargetServer, ServesWhileSpinning) {
    Options options = Bench::small();
    options.poll = true;
    Running target(options);
    Client client(target.server->listeners()[0]->options.port);
    client.send(ic_req());
    EXPECT_EQ(client.receive(sizeof(nvme::IcResp)).size(), sizeof(nvme::IcResp));
}

TEST(TargetServer, DropsASilentAssociation) {
    Running target;
    Client client(target.server->listeners()[0]->options.port);
    client.send(ic_req());
    client.receive(sizeof(nvme::IcResp));
    client.send(admin_connect(100));
    EXPECT_EQ(client.receive(sizeof(nvme::CapsuleResp)).size(), sizeof(nvme::CapsuleResp));
    EXPECT_TRUE(client.receive(1).empty()) << "the connection ends";
}

TEST(TargetServer, GivesPathsReadyToPaste) {
    Options options = Bench::small();
    options.listeners = {*parse_listener("127.0.0.1:0,name=a"), *parse_listener("[::1]:0,name=b")};
    options.subnqn = "nqn.2025-01.io:a,b/c";
    SystemClock clock;
    const auto server = *Server::create(options, clock);
    EXPECT_EQ(paths_of(*server, 1),
              fmt::format("a=nvme+tcp://127.0.0.1:{}/nqn.2025-01.io:a%2Cb%2Fc/1,"
                          "b=nvme+tcp://[::1]:{}/nqn.2025-01.io:a%2Cb%2Fc/1",
                          server->listeners()[0]->options.port, server->listeners()[1]->options.port));
}

TEST(TargetServer, OpensToOtherHostsOnlyWhenToldTo) {
    SystemClock clock;
    for (const char* address : {"0.0.0.0:0", "[::]:0"}) {
        Options options = Bench::small();
        options.listeners = {*parse_listener(address)};
        const auto refused = Server::create(options, clock);
        ASSERT_FALSE(refused) << address;
        EXPECT_NE(refused.error().text.find("--allow-remote"), std::string::npos);
        options.allow_remote = true;
        EXPECT_TRUE(Server::create(options, clock)) << address;
    }
    Options options = Bench::small();
    options.listeners = {*parse_listener("127.9.9.9:0")};
    EXPECT_TRUE(Server::create(options, clock));
}

TEST(TargetServer, SaysWhichAddressIsTaken) {
    SystemClock clock;
    const auto first = *Server::create(Bench::small(), clock);
    Options options = Bench::small();
    options.listeners.resize(1);
    options.listeners[0].port = first->listeners()[0]->options.port;
    const auto second = Server::create(options, clock);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, EADDRINUSE);
}

TEST(TargetServer, EndsWhenItsLifelineIsClosed) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    UniqueFd reading(ends[0]);
    UniqueFd writing(ends[1]);
    SystemClock clock;
    auto server = *Server::create(Bench::small(), clock);
    ASSERT_TRUE(server->stop_when_closed(reading.get()));
    std::thread serving([&] { server->run(); });
    EXPECT_EQ(::write(writing.get(), "ignored", 7), 7);
    writing.reset();
    serving.join();
}

} // namespace
} // namespace mpath::target
