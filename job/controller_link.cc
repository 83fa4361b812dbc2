// SPDX-License-Identifier: GPL-2.0-only
#include "job/controller_link.h"

#include <utility>

#include "nvme/io_path.h"

namespace mpath::job {
namespace {

class ControllerLink final : public PathLink {
public:
    explicit ControllerLink(std::unique_ptr<nvme::Controller> controller)
        : controller_(std::move(controller)) {}

    [[nodiscard]] const PathFacts& facts() const noexcept override { return controller_->facts(); }
    [[nodiscard]] PathState state() const noexcept override { return controller_->path_state(); }
    [[nodiscard]] std::string_view state_name() const noexcept override { return {}; }
    void start(LinkListener& listener) override { controller_->start(listener); }
    void refresh_state() override { controller_->refresh_state(); }
    void fail(Error reason) noexcept override { controller_->fail(std::move(reason)); }
    net::Task<int> end(Nanoseconds deadline) override { return controller_->shutdown(deadline); }

private:
    std::unique_ptr<nvme::Controller> controller_;
};

} // namespace

ControllerConnector::ControllerConnector(net::Reactor& reactor, nvme::Uri uri,
                                         nvme::ControllerOptions options)
    : reactor_(reactor), uri_(std::move(uri)), options_(std::move(options)),
      addresses_(net::resolve(uri_.host, uri_.port)) {
    if (!addresses_) {
        addresses_.error().final = true;
    }
}

net::Task<Result<std::unique_ptr<nvme::Controller>>>
ControllerConnector::bring_up(net::Cancellation& cancellation) {
    if (!addresses_) {
        co_return tl::unexpected<Error>(addresses_.error());
    }
    co_return co_await nvme::Controller::connect_to(reactor_, uri_, *addresses_, options_, &cancellation);
}

net::Task<Result<LinkedPath>> ControllerConnector::connect(net::Cancellation& cancellation) {
    auto controller = co_await bring_up(cancellation);
    if (!controller) {
        co_return tl::unexpected<Error>(controller.error());
    }
    auto queues =
        co_await (*controller)->connect_io_queues(reactor_.clock().now() + options_.connect_timeout);
    if (!queues) {
        co_await (*controller)->shutdown(reactor_.clock().now() + kEndPatience);
        co_return tl::unexpected<Error>(queues.error());
    }
    LinkedPath path;
    path.connection = std::make_unique<nvme::ConnectedPath>((*controller)->facts(), std::move(*queues));
    path.link = std::make_unique<ControllerLink>(std::move(*controller));
    co_return std::move(path);
}

net::Task<Result<std::shared_ptr<const PathFacts>>>
ControllerConnector::look(net::Cancellation& cancellation) {
    auto controller = co_await bring_up(cancellation);
    if (!controller) {
        co_return tl::unexpected<Error>(controller.error());
    }
    std::shared_ptr<const PathFacts> facts =
        std::make_shared<const nvme::ControllerFacts>((*controller)->facts());
    co_await (*controller)->shutdown(reactor_.clock().now() + kEndPatience);
    co_return facts;
}

} // namespace mpath::job
