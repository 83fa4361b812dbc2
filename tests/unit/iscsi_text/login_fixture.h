// SPDX-License-Identifier: GPL-2.0-only
// The target's side of a login, as a script: the test says what it answers, and looks at what it got.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "iscsi/login.h"
#include "iscsi/login_text.h"
#include "net/async.h"
#include "tests/unit/net/scripted_peer.h"

namespace mpath::iscsi::test {

using net::test::ScriptedPeer;
using net::test::Wire;

using Pairs = std::vector<KeyValue>;

inline constexpr std::uint8_t kSecurityToOperational =
    login_flag::kTransit | login_stages(LoginStage::security, LoginStage::operational);
inline constexpr std::uint8_t kOperationalToFull =
    login_flag::kTransit | login_stages(LoginStage::operational, LoginStage::full_feature);
inline constexpr std::uint8_t kStaySecurity = login_stages(LoginStage::security, LoginStage::security);
inline constexpr std::uint8_t kStayOperational = login_stages(LoginStage::operational, LoginStage::security);

inline std::string text_of(const Pairs& pairs) {
    std::string text;
    for (const auto& [key, value] : pairs) {
        append_pair(text, key, value);
    }
    return text;
}

/// Sends a header with `text` as its data segment.
template <typename Header>
void send_pdu(const Wire& wire, Header header, std::string text) {
    header.data_length = static_cast<std::uint32_t>(text.size());
    text.resize(padded(static_cast<std::uint32_t>(text.size())));
    std::string bytes(sizeof header, '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    wire.send(bytes + text);
}

/// Receives a header and its data segment.
template <typename Header>
std::pair<Header, std::string> receive_pdu(const Wire& wire) {
    const auto header = wire.receive<Header>();
    std::string text(padded(header.data_length), '\0');
    wire.receive(std::as_writable_bytes(std::span(text)));
    text.resize(header.data_length);
    return {header, text};
}

/// The target's end of a login.
class LoginPeer {
public:
    explicit LoginPeer(Wire& target_wire) : wire(target_wire) {}

    /// The next request.
    void receive() {
        std::tie(request, text) = receive_pdu<LoginRequest>(wire);
        pairs = parse_pairs(text, 256).value_or(Pairs{});
    }
    /// A response to it, of status success.
    [[nodiscard]] LoginResponse response(std::uint8_t flags) {
        LoginResponse answer;
        answer.flags = flags;
        answer.isid = request.isid;
        answer.task_tag = request.task_tag;
        answer.stat_sn = stat_sn++;
        answer.exp_cmd_sn = request.cmd_sn;
        answer.max_cmd_sn = request.cmd_sn + 31;
        if ((flags & login_flag::kTransit) != 0 && next_stage(flags) == LoginStage::full_feature) {
            answer.tsih = 0x1234;
        }
        return answer;
    }
    void answer(std::uint8_t flags, const Pairs& said = {}) {
        send_pdu(wire, response(flags), text_of(said));
    }
    void refuse(std::uint8_t status_class, std::uint8_t detail, const Pairs& said = {}) {
        LoginResponse refusal = response(0);
        refusal.status_class = status_class;
        refusal.status_detail = detail;
        send_pdu(wire, refusal, text_of(said));
    }
    /// The first stage, without authentication.
    void let_in() {
        receive();
        answer(kSecurityToOperational, {{"TargetPortalGroupTag", "3"}, {"AuthMethod", "None"}});
        receive();
    }
    /// Both stages.
    void log_in(const Pairs& said = {}) {
        let_in();
        answer(kOperationalToFull, said);
    }

    Wire& wire;
    LoginRequest request;
    std::string text;
    Pairs pairs;
    std::uint32_t stat_sn = 0x1000;
};

inline LoginRequestOptions good_login() {
    LoginRequestOptions options;
    options.initiator_name = "iqn.2025-01.org.example:host";
    options.target_name = "iqn.2025-01.org.example:disk";
    options.isid = {0x80, 1, 2, 3, 0, 7};
    return options;
}

class Login : public testing::Test {
protected:
    Result<LoggedIn> log_in(const LoginRequestOptions& options, const ScriptedPeer::Script& script,
                            Nanoseconds patience = 10 * kSecond) {
        ScriptedPeer peer(script);
        peer_text_ = peer.address().text();
        return net::run_until_done(*reactor_, iscsi::log_in(*reactor_, std::span(&peer.address(), 1), options,
                                                            clock_.now() + patience));
    }
    /// The error of a login at a target that follows `script`; the address in front of its sentence is gone.
    Error refused(const ScriptedPeer::Script& script, const LoginRequestOptions& options = good_login(),
                  Nanoseconds patience = 10 * kSecond) {
        auto session = log_in(options, script, patience);
        Error error = session ? Error{0, "logged in"} : session.error();
        if (error.text.starts_with(peer_text_ + ": ")) {
            error.text.erase(0, peer_text_.size() + 2);
        }
        return error;
    }

    SystemClock clock_;
    std::unique_ptr<net::Reactor> reactor_ = std::move(*net::make_reactor(clock_, 8));
    std::string peer_text_;
};

} // namespace mpath::iscsi::test
