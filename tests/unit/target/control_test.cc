// SPDX-License-Identifier: GPL-2.0-only
// Statements for a target that runs, over its unix socket; and what only an event loop can do.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "peer.h"
#include "target/fault/control_place.h"
#include "target/server.h"

namespace mpath::target {
namespace {

class TargetControl : public testing::Test {
protected:
    TargetControl() {
        std::array<char, 32> name{"/tmp/target-control-XXXXXX"};
        folder = ::mkdtemp(name.data());
        ::setenv("XDG_RUNTIME_DIR", folder.c_str(), 1);
        Options options = Bench::small();
        options.listeners = {*parse_listener("127.0.0.1:0,name=a"), *parse_listener("127.0.0.1:0,name=b")};
        server = *Server::create(options, clock);
        EXPECT_TRUE(server->log_faults(folder + "/log"));
        path = *server->open_control("");
        thread = std::thread([this] { server->run(); });
    }
    ~TargetControl() override {
        if (server != nullptr) {
            stop();
        }
        std::filesystem::remove_all(folder);
    }
    void stop() {
        server->stop();
        thread.join();
        server.reset();
    }
    [[nodiscard]] std::string say(const std::string& text) const {
        auto socket = connect_control(path);
        EXPECT_TRUE(socket);
        const std::string said = "here\n" + text;
        EXPECT_EQ(::send(socket->get(), said.data(), said.size(), MSG_NOSIGNAL), std::ssize(said));
        ::shutdown(socket->get(), SHUT_WR);
        std::string answer;
        std::array<char, 4096> buffer;
        for (ssize_t count = 0; (count = ::recv(socket->get(), buffer.data(), buffer.size(), 0)) > 0;) {
            answer.append(buffer.data(), static_cast<std::size_t>(count));
        }
        return answer;
    }
    /// 0, or the errno of connecting to a listener.
    [[nodiscard]] int connect_to(std::uint16_t port) const {
        const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0
                   ? 0
                   : errno;
    }

    std::string folder;
    SystemClock clock;
    std::unique_ptr<Server> server;
    std::string path;
    std::thread thread;
};

TEST_F(TargetControl, HasActedWhenItAnswers) {
    const std::uint16_t port = server->listeners()[0]->options.port;
    const std::uint16_t other = server->listeners()[1]->options.port;
    EXPECT_EQ(connect_to(port), 0);
    EXPECT_EQ(say("on a refuse-connects"), "ok\n");
    EXPECT_EQ(connect_to(port), ECONNREFUSED);
    EXPECT_EQ(connect_to(other), 0);
    EXPECT_EQ(say("on a heal"), "ok\n");
    EXPECT_EQ(connect_to(port), 0);
}

TEST_F(TargetControl, DoesNothingIfAStatementIsWrong) {
    EXPECT_EQ(say("on a refuse-connects\non c drop"),
              "error here:2: no listener is named 'c', there are a, b\n");
    EXPECT_EQ(connect_to(server->listeners()[0]->options.port), 0);
}

TEST_F(TargetControl, TellsItsStatus) {
    const std::string text = say("on a delay 5ms\non b ana change\nat 1s on a mute\nstatus");
    for (const char* part :
         {"ok\nserved a connections=0 ", " late_writes=0 events=0 unit_attentions=0 logouts=0 aborted=0\n",
          "\nstate a address=127.",
          " takes_connects=1 connections=0 associations=0 ana=optimized faults=delay 5ms\n",
          " ana=change faults=none\n", "\nscript waiting=1 acted=2\n"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
    }
}

TEST_F(TargetControl, ResetsARealConnection) {
    const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server->listeners()[0]->options.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    while (say("status").find(" connections=1 associations") == std::string::npos) {
    }
    EXPECT_EQ(say("on a drop"), "ok\n");
    std::byte byte{};
    EXPECT_EQ(::recv(socket.get(), &byte, 1, 0), -1);
    EXPECT_EQ(errno, ECONNRESET);
}

TEST_F(TargetControl, IsForItsUserAloneAndGoneWithTheTarget) {
    struct stat found {};
    ASSERT_EQ(::stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U);
    EXPECT_EQ(running_targets(*control_folder()), std::vector<std::string>({path}));
    EXPECT_FALSE(ControlSocket::open(path)) << "somebody listens there";
    stop();
    EXPECT_NE(::stat(path.c_str(), &found), 0);
}

TEST_F(TargetControl, ASocketElsewhereIsFoundAsWell) {
    stop();
    auto elsewhere = ControlSocket::open(folder + "/elsewhere");
    ASSERT_TRUE(elsewhere) << elsewhere.error().text;
    EXPECT_EQ((*elsewhere)->path(), folder + "/elsewhere");
    EXPECT_EQ(running_targets(*control_folder()).size(), 1U);
    elsewhere->reset();
    EXPECT_TRUE(running_targets(*control_folder()).empty());
}

TEST_F(TargetControl, TakesTheSocketOfATargetThatIsGone) {
    const std::string left = folder + "/left";
    {
        const auto first = ControlSocket::open(left);
        ASSERT_TRUE(first);
        std::filesystem::rename(left, left + ".kept");
    }
    std::filesystem::rename(left + ".kept", left);
    EXPECT_FALSE(connect_control(left));
    EXPECT_TRUE(ControlSocket::open(left));
}

TEST_F(TargetControl, RefusesAPathThatIsTooLong) {
    const auto refused = ControlSocket::open(folder + "/" + std::string(200, 'x'));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text.find("at most 107 characters"), std::string::npos) << refused.error().text;
}

TEST_F(TargetControl, WritesDownWhatItDid) {
    const Nanoseconds before = clock.now();
    EXPECT_EQ(say("on a+b ana non-optimized\non a heal"), "ok\n");
    const Nanoseconds after = clock.now();
    std::ifstream log(folder + "/log");
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(log, line);) {
        lines.push_back(nlohmann::json::parse(line));
    }
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[1]["listener"], "b");
    EXPECT_EQ(lines[1]["address"], server->listeners()[1]->address);
    EXPECT_EQ(lines[1]["action"], "ana");
    EXPECT_EQ(lines[1]["detail"], "non-optimized");
    EXPECT_EQ(lines[1]["phase"], "begin");
    EXPECT_EQ(lines[2]["phase"], "heal");
    EXPECT_GE(lines[0]["monotonic"].get<Nanoseconds>(), before);
    EXPECT_LE(lines[2]["monotonic"].get<Nanoseconds>(), after);
    EXPECT_GT(lines[0]["utc"].get<Nanoseconds>(), 1'600'000'000 * kSecond);
}

} // namespace
} // namespace mpath::target
