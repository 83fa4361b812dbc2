// SPDX-License-Identifier: GPL-2.0-only
#include "net/async.h"

#include <algorithm>
#include <cstring>

namespace mpath::net {
namespace {

/// One staged operation as something to co_await: the result, or -ETIMEDOUT when the deadline came first, or
/// -ECANCELED. The operation has always ended when the coroutine goes on, so its buffers may go.
class Pending {
public:
    Pending(Reactor& reactor, Nanoseconds deadline, Cancellation* cancellation)
        : reactor_(reactor), hook_(cancellation, [this] { reactor_.cancel(operation_); }) {
        operation_.owner = this;
        operation_.done = [](Operation& operation, int result) noexcept {
            static_cast<Pending*>(operation.owner)->finish(result);
        };
        timer_ = reactor.timers().add(deadline, [this] {
            timed_out_ = true;
            reactor_.cancel(operation_);
        });
    }
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;
    ~Pending() = default;

    Operation& operation() { return operation_; }
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) noexcept { waiter_ = waiter; }
    int await_resume() const noexcept { return timed_out_ && result_ < 0 ? -ETIMEDOUT : result_; }

private:
    void finish(int result) {
        result_ = result;
        reactor_.timers().cancel(timer_);
        waiter_.resume();
    }

    Reactor& reactor_;
    Cancellation::Hook hook_;
    Operation operation_;
    TimerQueue::Id timer_;
    bool timed_out_ = false;
    int result_ = 0;
    std::coroutine_handle<> waiter_;
};

bool is_requested(const Cancellation* cancellation) {
    return cancellation != nullptr && cancellation->requested();
}

const char* name_of(int family) {
    return family == AF_INET6 ? "IPv6" : "IPv4";
}

} // namespace

Task<Result<UniqueFd>> connect_tcp(Reactor& reactor, std::span<const SocketAddress> addresses,
                                   SocketOptions options, Nanoseconds deadline, Cancellation* cancellation) {
    int family = AF_UNSPEC;
    if (!options.source.empty()) {
        const auto source = numeric_address(options.source);
        if (!source) {
            co_return failure_in("host_traddr", source.error());
        }
        family = source->family();
    }
    const auto fits = [family](const SocketAddress& address) {
        return family == AF_UNSPEC || address.family() == family;
    };
    auto left = static_cast<std::size_t>(std::count_if(addresses.begin(), addresses.end(), fits));
    if (left == 0 && !addresses.empty()) {
        co_return failure(EAFNOSUPPORT, "{} can't be reached from host_traddr={}: one is {}, the other {}",
                          addresses.front().text(), options.source, name_of(addresses.front().family()),
                          name_of(family));
    }
    Error last{EHOSTUNREACH, "no address to connect to"};
    for (const SocketAddress& address : addresses) {
        if (!fits(address)) {
            continue;
        }
        if (is_requested(cancellation)) {
            last = Error{ECANCELED, fmt::format("no connection to {}: it was given up", address.text())};
            break;
        }
        const Nanoseconds now = reactor.clock().now();
        const Nanoseconds share = deadline > now ? (deadline - now) / std::max<std::size_t>(left, 1) : 0;
        --left;
        auto socket = make_tcp_socket(address.family());
        if (!socket) {
            last = socket.error();
            continue;
        }
        if (auto applied = apply(options, socket->get(), address.family()); !applied) {
            last = applied.error();
            continue;
        }
        Pending connect(reactor, now + share, cancellation);
        reactor.connect(connect.operation(), socket->get(), address.get(), address.length);
        const int result = co_await connect;
        if (result == 0) {
            co_return std::move(*socket);
        }
        last = Error{-result, fmt::format("no connection to {}: {}", address.text(), std::strerror(-result))};
    }
    co_return tl::unexpected<Error>(last);
}

Task<int> send_all(Reactor& reactor, int fd, std::span<const std::byte> bytes, Nanoseconds deadline,
                   Cancellation* cancellation) {
    iovec iov{const_cast<std::byte*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &iov;
    message.msg_iovlen = 1;
    while (iov.iov_len > 0) {
        if (is_requested(cancellation)) {
            co_return ECANCELED;
        }
        Pending send(reactor, deadline, cancellation);
        reactor.send(send.operation(), fd, &message);
        const int result = co_await send;
        if (result <= 0) {
            co_return result < 0 ? -result : EPIPE;
        }
        iov.iov_base = static_cast<std::byte*>(iov.iov_base) + result;
        iov.iov_len -= static_cast<std::size_t>(result);
    }
    co_return 0;
}

Task<int> receive_all(Reactor& reactor, int fd, std::span<std::byte> bytes, Nanoseconds deadline,
                      Cancellation* cancellation) {
    iovec iov{bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &iov;
    message.msg_iovlen = 1;
    while (iov.iov_len > 0) {
        if (is_requested(cancellation)) {
            co_return ECANCELED;
        }
        Pending receive(reactor, deadline, cancellation);
        reactor.receive(receive.operation(), fd, &message, 0);
        const int result = co_await receive;
        if (result <= 0) {
            co_return result < 0 ? -result : ECONNRESET;
        }
        iov.iov_base = static_cast<std::byte*>(iov.iov_base) + result;
        iov.iov_len -= static_cast<std::size_t>(result);
    }
    co_return 0;
}

} // namespace mpath::net
