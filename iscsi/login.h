// SPDX-License-Identifier: GPL-2.0-only
// From a TCP connection to a session in its full feature phase. Receives exactly the bytes of the target's
// answers, so that the socket can be handed to another thread's reactor afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "iscsi/chap_credentials.h"
#include "iscsi/session_options.h"
#include "iscsi/session_parameters.h"
#include "net/address.h"
#include "net/async.h"
#include "net/reactor.h"
#include "net/socket_options.h"
#include "net/task.h"

namespace mpath::iscsi {

/// What a connection on its way to a session waits for.
enum class LoginState : std::uint8_t {
    tcp_connecting, ///< the TCP handshake
    authenticating, ///< an answer in the security stage
    negotiating,    ///< an answer in the operational stage
    logged_in,      ///< a session
};

std::string_view to_string(LoginState state);

enum class SessionType : std::uint8_t { normal, discovery };

struct LoginRequestOptions {
    SessionType type = SessionType::normal;
    std::string initiator_name;
    std::string target_name; ///< of a normal session
    Isid isid{};             ///< a session of the same ISID is ended by this one (reinstatement)
    /// The target is asked to authenticate us if it wants to, and must itself if target_secret is set. Of a
    /// discovery session, nobody must: targets seldom have secrets for these.
    std::optional<ChapCredentials> chap;
    bool header_digest = false; ///< CRC32C or no session; a discovery session has no digests
    bool data_digest = false;   ///< likewise
    std::uint16_t max_outstanding_r2t = 4;
    net::SocketOptions socket{};
    Nanoseconds silence = 0; ///< net::limit_silence() of the connection; 0 = the kernel's way
    net::Cancellation* cancellation = nullptr; ///< who may end it early; outlives the task
};

/// For a session of `options` to `target`.
[[nodiscard]] LoginRequestOptions login_request(const SessionOptions& options, std::string target,
                                                const Isid& isid);

/// The sentence of an error says what the target did and what to do about it. Codes of those a caller may
/// tell apart: EACCES we aren't let in, or it could not prove who it is; ENODEV no such target; EBUSY it
/// can't serve us now; ENOTSUP what we ask for (digests) can't be had; EPROTO not a well-behaved iSCSI
/// target; ECANCELED. It is final where the target's status says so (login_status.h). The target may send us
/// to another address, for this login only. `addresses` must stay until the task has ended.
net::Task<Result<LoggedIn>> log_in(net::Reactor& reactor, std::span<const net::SocketAddress> addresses,
                                   LoginRequestOptions options, Nanoseconds deadline);

} // namespace mpath::iscsi
