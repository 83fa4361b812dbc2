// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "iscsi/wire/pdu.h"
#include "target/iscsi/chap.h"
#include "target/iscsi/login_status.h"
#include "target/iscsi/negotiation.h"
#include "target/iscsi/node.h"

namespace mpath::target::scsi {

/// The login phase of a connection: a security stage, unless the initiator leaves it out, an operational
/// stage, likewise, then a session. RFC 7143, section 6.3.
class Login {
public:
    /// All outlive it.
    Login(Node& node, Listener& listener)
        : node_(node), listener_(listener), chap_(node.options().iscsi.chap), negotiation_(node.options()) {}

    struct Answer {
        iscsi::LoginResponse header; ///< but for its numbers
        std::string text;
    };
    /// Answers a request. When its status is not success, the connection has to end.
    Answer take(const iscsi::LoginRequest& request, std::string_view text);
    /// The same without a look at it.
    static Answer refuse(const iscsi::LoginRequest& request, LoginStatus status);

    /// The session, when the login is over; nullptr before.
    [[nodiscard]] const std::shared_ptr<Session>& session() const { return session_; }

private:
    LoginStatus check_header(const iscsi::LoginRequest& request);
    LoginStatus answer_text(const iscsi::LoginRequest& request, std::string& reply);
    LoginStatus check_names(const KeyValues& keys, std::string& reply);
    LoginStatus authenticate(const KeyValues& keys, std::string& reply);
    LoginStatus negotiate(const KeyValues& keys, std::string& reply);
    [[nodiscard]] bool needs_chap() const { return !discovery_ && !node_.options().iscsi.chap.user.empty(); }

    Node& node_;
    Listener& listener_;
    Chap chap_;
    Negotiation negotiation_;
    bool begun_ = false;
    unsigned requests_ = 0;
    iscsi::LoginStage stage_ = iscsi::LoginStage::security;
    iscsi::Isid isid_{};
    std::uint16_t tsih_ = 0;
    std::string text_; ///< of requests that are continued
    bool named_ = false;
    std::string initiator_;
    bool discovery_ = false;
    bool proves_ = false; ///< a way to do so has been agreed on
    std::shared_ptr<Session> session_;
};

} // namespace mpath::target::scsi
