// SPDX-License-Identifier: GPL-2.0-only
#include "job/session_link.h"

#include <utility>

#include "iscsi/io_path.h"

namespace mpath::job {
namespace {

class SessionLink final : public PathLink {
public:
    explicit SessionLink(std::unique_ptr<iscsi::ControlSession> session) : session_(std::move(session)) {}

    [[nodiscard]] const PathFacts& facts() const noexcept override { return session_->facts(); }
    [[nodiscard]] PathState state() const noexcept override { return session_->path_state(); }
    [[nodiscard]] std::string_view state_name() const noexcept override { return session_->state_name(); }
    void start(LinkListener& listener) override { session_->start(listener); }
    void refresh_state() override { session_->refresh_state(); }
    void fail(Error reason) noexcept override { session_->fail(std::move(reason)); }
    net::Task<int> end(Nanoseconds deadline) override { return session_->logout(deadline); }

private:
    std::unique_ptr<iscsi::ControlSession> session_;
};

} // namespace

SessionConnector::SessionConnector(net::Reactor& reactor, iscsi::Uri uri, iscsi::SessionOptions options)
    : reactor_(reactor), uri_(std::move(uri)), options_(std::move(options)), isid_(iscsi::random_isid_base()),
      addresses_(net::resolve(uri_.host, uri_.port)) {
    if (!addresses_) {
        addresses_.error().final = true;
    }
}

net::Task<Result<std::unique_ptr<iscsi::ControlSession>>>
SessionConnector::bring_up(net::Cancellation& cancellation) {
    if (!addresses_) {
        co_return tl::unexpected<Error>(addresses_.error());
    }
    co_return co_await iscsi::ControlSession::connect_to(reactor_, uri_, *addresses_, options_, isid_,
                                                         &cancellation);
}

net::Task<Result<LinkedPath>> SessionConnector::connect(net::Cancellation& cancellation) {
    auto session = co_await bring_up(cancellation);
    if (!session) {
        co_return tl::unexpected<Error>(session.error());
    }
    auto sessions =
        co_await (*session)->log_in_io_sessions(reactor_.clock().now() + options_.connect_timeout);
    if (!sessions) {
        co_await (*session)->logout(reactor_.clock().now() + kEndPatience);
        co_return tl::unexpected<Error>(sessions.error());
    }
    LinkedPath path;
    path.connection = std::make_unique<iscsi::ConnectedPath>((*session)->facts(), std::move(*sessions));
    path.link = std::make_unique<SessionLink>(std::move(*session));
    co_return std::move(path);
}

net::Task<Result<std::shared_ptr<const PathFacts>>> SessionConnector::look(net::Cancellation& cancellation) {
    auto session = co_await bring_up(cancellation);
    if (!session) {
        co_return tl::unexpected<Error>(session.error());
    }
    std::shared_ptr<const PathFacts> facts = std::make_shared<const iscsi::SessionFacts>((*session)->facts());
    co_await (*session)->logout(reactor_.clock().now() + kEndPatience);
    co_return facts;
}

} // namespace mpath::job
