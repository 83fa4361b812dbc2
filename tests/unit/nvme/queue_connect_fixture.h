// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <bit>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "net/async.h"
#include "nvme/queue_connect.h"
#include "tests/unit/net/scripted_peer.h"

namespace mpath::nvme::test {

using net::test::ScriptedPeer;
using net::test::Wire;

inline ConnectRequest admin_request() {
    ConnectRequest request;
    request.subsystem_nqn = "nqn.2014-08.org.example:vol1";
    request.host.nqn = "nqn.2014-08.org.nvmexpress:uuid:1b4e28ba-2fa1-11d2-883f-0016d3cca427";
    request.host.id.fill(0x5a);
    request.keep_alive_ms = 5000;
    return request;
}

inline ConnectRequest io_request() {
    ConnectRequest request = admin_request();
    request.queue_id = 3;
    request.queue_size = 128;
    request.controller_id = 7;
    request.keep_alive_ms = 0;
    return request;
}

inline IcResp good_ic_resp() {
    IcResp answer;
    answer.common.type = static_cast<std::uint8_t>(PduType::ic_resp);
    answer.common.hlen = sizeof answer;
    answer.common.plen = sizeof answer;
    answer.maxh2cdata = 131072;
    return answer;
}

inline CapsuleResp connect_resp(Status status, std::uint32_t dw0) {
    CapsuleResp answer;
    answer.common.type = static_cast<std::uint8_t>(PduType::capsule_resp);
    answer.common.hlen = sizeof answer;
    answer.common.plen = sizeof answer;
    answer.cqe.status = status.to_cqe();
    answer.cqe.dw0 = dw0;
    return answer;
}

struct ConnectCapsule {
    CapsuleCmd capsule;
    ConnectCommand command;
    ConnectData data;
    std::vector<std::byte> padding; ///< and the header's digest in front of it
    Le32 data_digest;               ///< 0 where the flag is clear
};

inline ConnectCapsule receive_connect(const Wire& wire) {
    ConnectCapsule received;
    received.capsule = wire.receive<CapsuleCmd>();
    received.command = std::bit_cast<ConnectCommand>(received.capsule.sqe);
    received.padding.resize(received.capsule.common.pdo - sizeof(CapsuleCmd));
    wire.receive(received.padding);
    received.data = wire.receive<ConnectData>();
    if ((received.capsule.common.flags & pdu_flag::kDataDigest) != 0) {
        received.data_digest = wire.receive<Le32>();
    }
    return received;
}

/// As a peer sends it when header digests are agreed on.
struct DigestedConnectResp {
    CapsuleResp answer;
    Le32 digest;
};

inline DigestedConnectResp with_digest(CapsuleResp answer) {
    answer.common.flags = pdu_flag::kHeaderDigest;
    answer.common.plen = sizeof(DigestedConnectResp);
    return {answer, crc32c(std::as_bytes(std::span(&answer, 1)))};
}

/// A peer that gives `answer` to a Connect that arrives in order.
inline ScriptedPeer::Script answering_connect(CapsuleResp answer) {
    return [answer](Wire& wire) {
        wire.receive<IcReq>();
        wire.send_value(good_ic_resp());
        receive_connect(wire);
        wire.send_value(answer);
        wire.wait_for_end();
    };
}

class QueueConnect : public testing::Test {
protected:
    Result<ConnectedQueue> connect(const ConnectRequest& request, const ScriptedPeer::Script& script,
                                   Nanoseconds patience = 10 * kSecond) {
        ScriptedPeer peer(script);
        peer_text_ = peer.address().text();
        return net::run_until_done(*reactor_, connect_queue(*reactor_, std::span(&peer.address(), 1), request,
                                                            clock_.now() + patience));
    }
    /// The error of an admin Connect to a peer that follows `script`.
    Error refused(const ScriptedPeer::Script& script, Nanoseconds patience = 10 * kSecond) {
        auto queue = connect(admin_request(), script, patience);
        return queue ? Error{0, "connected"} : queue.error();
    }

    SystemClock clock_;
    std::unique_ptr<net::Reactor> reactor_ = std::move(*net::make_reactor(clock_, 8));
    std::string peer_text_;
};

} // namespace mpath::nvme::test
