// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/queue_connect.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "net/async.h"
#include "nvme/connect_answer.h"
#include "nvme/pdu_check.h"
#include "nvme/status_text.h"

namespace mpath::nvme {
namespace {

constexpr std::size_t kQuote = 64; ///< bytes of a stranger's answer worth quoting

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

/// One connection on its way to a queue.
class Connection {
public:
    Connection(net::Reactor& reactor, const ConnectRequest& request, Nanoseconds deadline)
        : reactor_(reactor), request_(request), deadline_(deadline) {}

    net::Task<Result<ConnectedQueue>> run(std::span<const net::SocketAddress> addresses);

private:
    net::Task<Result<void>> exchange_ic();
    net::Task<Result<std::uint16_t>> exchange_connect();
    net::Task<Result<void>> send(std::span<const std::byte> bytes);
    net::Task<Result<void>> receive(std::span<std::byte> answer, PduType expected);
    net::Task<Result<void>> receive_term_req(std::span<const std::byte> start);
    [[nodiscard]] Result<void> check_nothing_behind() const;
    [[nodiscard]] std::vector<std::byte> connect_capsule() const;
    void set_state(ConnectState state) {
        state_ = state;
        since_ = reactor_.clock().now();
    }
    [[nodiscard]] Error broken(int code) const;

    net::Reactor& reactor_;
    const ConnectRequest& request_;
    Nanoseconds deadline_;
    ConnectState state_ = ConnectState::tcp_connecting;
    Nanoseconds since_ = 0; ///< when that state was entered
    UniqueFd socket_;
    IcResp ic_resp_;
};

/// The sentence for a peer that went silent or away, by what was awaited of it.
Error Connection::broken(int code) const {
    const char* advice =
        state_ == ConnectState::initializing
            ? "the peer is no NVMe/TCP target, demands TLS, or hangs; check address and port "
              "(NVMe/TCP is usually on 4420)"
            : "look at the target's log";
    if (code == ETIMEDOUT && reactor_.clock().now() >= deadline_) {
        const double waited = static_cast<double>(reactor_.clock().now() - since_) / kSecond;
        return {code, fmt::format("no answer for {:.1f} s while {}: {}", waited, to_string(state_), advice)};
    }
    if (code == ECANCELED) {
        return {code, "it was given up"};
    }
    const char* how = code == ECONNRESET ? "closed by the peer" : std::strerror(code);
    return {code, fmt::format("the connection ended ({}) while {}: {}", how, to_string(state_), advice)};
}

net::Task<Result<void>> Connection::send(std::span<const std::byte> bytes) {
    const int code = co_await net::send_all(reactor_, socket_.get(), bytes, deadline_, request_.cancellation);
    // A peer that closes at once may have said why: what it said is still to be read.
    if (code != 0 && code != EPIPE && code != ECONNRESET) {
        co_return tl::unexpected<Error>(broken(code));
    }
    co_return Result<void>{};
}

/// Fills `answer`, unless what comes is something else.
net::Task<Result<void>> Connection::receive(std::span<std::byte> answer, PduType expected) {
    const std::span<std::byte> head = answer.first(sizeof(CommonHeader));
    std::fill(head.begin(), head.end(), std::byte{0});
    int code = co_await net::receive_all(reactor_, socket_.get(), head, deadline_, request_.cancellation);
    if (code == ECONNRESET && head[0] != std::byte{0} && head[0] != static_cast<std::byte>(expected)) {
        co_return check_answer_header(head, expected,
                                      answer.size()); // a stranger's last words (a TLS alert has 7 bytes)
    }
    if (code != 0) {
        co_return tl::unexpected<Error>(broken(code));
    }
    const Result<void> checked = check_answer_header(head, expected, answer.size());
    if (!checked) {
        std::array<std::byte, kQuote> quote{};
        std::copy(head.begin(), head.end(), quote.begin());
        const ssize_t more =
            ::recv(socket_.get(), quote.data() + head.size(), quote.size() - head.size(), MSG_DONTWAIT);
        const std::size_t length = head.size() + static_cast<std::size_t>(std::max<ssize_t>(more, 0));
        co_return check_answer_header(std::span(quote).first(length), expected, answer.size());
    }
    if (head[0] == static_cast<std::byte>(PduType::c2h_term_req)) {
        co_return co_await receive_term_req(head);
    }
    code = co_await net::receive_all(reactor_, socket_.get(), answer.subspan(head.size()), deadline_,
                                     request_.cancellation);
    if (code != 0) {
        co_return tl::unexpected<Error>(broken(code));
    }
    co_return Result<void>{};
}

net::Task<Result<void>> Connection::receive_term_req(std::span<const std::byte> start) {
    std::array<std::byte, sizeof(TermReq)> bytes{};
    std::copy(start.begin(), start.end(), bytes.begin());
    const std::span<std::byte> rest = std::span(bytes).subspan(start.size());
    const int code =
        co_await net::receive_all(reactor_, socket_.get(), rest, deadline_, request_.cancellation);
    if (code != 0) {
        co_return tl::unexpected<Error>(broken(code));
    }
    TermReq request;
    std::memcpy(&request, bytes.data(), sizeof request);
    co_return failure(EPROTO, "the target ended the connection in answer to {}: {}",
                      state_ == ConnectState::initializing ? "ICReq" : "Connect", term_req_text(request));
}

/// The target has to wait for Connect.
Result<void> Connection::check_nothing_behind() const {
    std::array<std::byte, 8> bytes{};
    const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_PEEK);
    if (count > 0) {
        return failure(EPROTO,
                       "the target broke the protocol: more bytes came behind ICResp, before Connect was "
                       "sent");
    }
    return {};
}

net::Task<Result<void>> Connection::exchange_ic() {
    set_state(ConnectState::initializing);
    IcReq request;
    request.common.type = static_cast<std::uint8_t>(PduType::ic_req);
    request.common.hlen = sizeof request;
    request.common.plen = sizeof request;
    request.hpda = request_.pdu.hpda;
    request.dgst = digest_bits(request_.pdu);
    request.maxr2t = request_.pdu.max_r2t - 1;
    Result<void> result = co_await send(bytes_of(request));
    if (!result) {
        co_return result;
    }
    result = co_await receive(std::as_writable_bytes(std::span(&ic_resp_, 1)), PduType::ic_resp);
    if (result) {
        result = check_ic_resp(ic_resp_, request_.pdu);
    }
    if (result) {
        result = check_nothing_behind();
    }
    co_return result;
}

std::vector<std::byte> Connection::connect_capsule() const {
    const PduOptions& agreed = request_.pdu;
    const std::size_t start =
        data_start(sizeof(CapsuleCmd) + (agreed.header_digest ? kDigestSize : 0), ic_resp_.cpda);
    const std::size_t end = start + sizeof(ConnectData);

    ConnectCommand command;
    command.sgl.length = sizeof(ConnectData);
    command.sgl.identifier = kSglInCapsule;
    command.qid = request_.queue_id;
    command.sqsize = static_cast<std::uint16_t>(request_.queue_size - 1);
    // Without it a controller may not leave out CapsuleResp after C2HData (SUCCESS).
    command.cattr = kCattrDisableSqFlowControl;
    command.kato = request_.keep_alive_ms;

    CommonHeader header;
    header.type = static_cast<std::uint8_t>(PduType::capsule_cmd);
    header.hlen = sizeof(CapsuleCmd);
    header.pdo = static_cast<std::uint8_t>(start);
    header.flags = digest_flags(agreed, true);
    header.plen = static_cast<std::uint32_t>(end + (agreed.data_digest ? kDigestSize : 0));

    ConnectData data;
    data.hostid = request_.host.id;
    data.cntlid = request_.controller_id;
    request_.subsystem_nqn.copy(data.subnqn.data(), data.subnqn.size() - 1);
    request_.host.nqn.copy(data.hostnqn.data(), data.hostnqn.size() - 1);

    std::vector<std::byte> capsule(header.plen);
    std::memcpy(capsule.data(), &header, sizeof header);
    std::memcpy(capsule.data() + sizeof header, &command, sizeof command);
    std::memcpy(capsule.data() + start, &data, sizeof data);
    if (agreed.header_digest) {
        store_digest({capsule.data(), sizeof(CapsuleCmd)}, capsule.data() + sizeof(CapsuleCmd));
    }
    if (agreed.data_digest) {
        store_digest(bytes_of(data), capsule.data() + end);
    }
    return capsule;
}

net::Task<Result<std::uint16_t>> Connection::exchange_connect() {
    set_state(ConnectState::connecting);
    const std::vector<std::byte> capsule = connect_capsule();
    Result<void> result = co_await send(capsule);
    std::array<std::byte, sizeof(CapsuleResp) + kDigestSize> room{};
    const auto answer =
        std::span(room).first(sizeof(CapsuleResp) + (request_.pdu.header_digest ? kDigestSize : 0));
    if (result) {
        result = co_await receive(answer, PduType::capsule_resp);
    }
    if (!result) {
        co_return tl::unexpected<Error>(std::move(result.error()));
    }
    co_return check_connect_resp(answer, request_);
}

net::Task<Result<ConnectedQueue>> Connection::run(std::span<const net::SocketAddress> addresses) {
    set_state(ConnectState::tcp_connecting);
    Result<UniqueFd> socket =
        co_await net::connect_tcp(reactor_, addresses, request_.socket, deadline_, request_.cancellation);
    if (!socket) {
        co_return tl::unexpected<Error>(std::move(socket.error())); // names the address itself
    }
    socket_ = std::move(*socket);
    if (request_.silence != 0) {
        net::limit_silence(socket_.get(), request_.silence);
    }
    const std::string address = net::peer_address(socket_.get());
    const Result<void> initialized = co_await exchange_ic();
    if (!initialized) {
        co_return failure_in(address, initialized.error());
    }
    const Result<std::uint16_t> controller_id = co_await exchange_connect();
    if (!controller_id) {
        co_return failure_in(address, controller_id.error());
    }
    set_state(ConnectState::connected);

    ConnectedQueue queue;
    queue.parameters.id = request_.queue_id;
    queue.parameters.size = request_.queue_size;
    queue.parameters.in_capsule = kAdminInCapsuleSize;
    queue.parameters.cpda = ic_resp_.cpda;
    queue.parameters.pdu = request_.pdu; // check_ic_resp() has seen to that
    queue.parameters.max_h2c_data = ic_resp_.maxh2cdata;
    queue.controller_id = *controller_id;
    queue.address = address;
    queue.local_address = net::local_address(socket_.get());
    queue.socket = std::move(socket_);
    co_return queue;
}

} // namespace

std::string_view to_string(ConnectState state) {
    switch (state) {
    case ConnectState::tcp_connecting:
        return "connecting by TCP";
    case ConnectState::initializing:
        return "waiting for ICResp";
    case ConnectState::connecting:
        return "waiting for the completion of Connect";
    case ConnectState::connected:
        return "connected";
    }
    return "?";
}

net::Task<Result<ConnectedQueue>> connect_queue(net::Reactor& reactor,
                                                std::span<const net::SocketAddress> addresses,
                                                ConnectRequest request, Nanoseconds deadline) {
    Connection connection(reactor, request, deadline);
    co_return co_await connection.run(addresses);
}

} // namespace mpath::nvme
