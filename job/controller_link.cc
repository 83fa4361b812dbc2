// SPDX-License-Identifier: GPL-2.0-only
#include "job/controller_link.h"

#include <utility>

namespace mpath::job {
namespace {

class ControllerLink final : public PathLink {
public:
    explicit ControllerLink(std::unique_ptr<nvme::Controller> controller)
        : controller_(std::move(controller)) {}

    [[nodiscard]] const nvme::ControllerFacts& facts() const noexcept override {
        return controller_->facts();
    }
    [[nodiscard]] PathState state() const noexcept override { return controller_->path_state(); }
    void start(nvme::ControllerListener& listener) override { controller_->start(listener); }
    void refresh_state() override { controller_->refresh_state(); }
    void fail(Error reason) noexcept override { controller_->fail(std::move(reason)); }
    net::Task<int> end(Nanoseconds deadline) override { return controller_->shutdown(deadline); }

private:
    std::unique_ptr<nvme::Controller> controller_;
};

} // namespace

ControllerConnector::ControllerConnector(net::Reactor& reactor, nvme::Uri uri,
                                         const nvme::ControllerOptions& options)
    : reactor_(reactor), uri_(std::move(uri)), options_(options),
      addresses_(net::resolve(uri_.host, uri_.port)) {
    if (!addresses_) {
        addresses_.error().final = true;
    }
}

net::Task<Result<LinkedPath>> ControllerConnector::connect(net::Cancellation& cancellation) {
    if (!addresses_) {
        co_return tl::unexpected<Error>(addresses_.error());
    }
    auto controller =
        co_await nvme::Controller::connect_to(reactor_, uri_, *addresses_, options_, &cancellation);
    if (!controller) {
        co_return tl::unexpected<Error>(controller.error());
    }
    auto queues =
        co_await (*controller)->connect_io_queues(reactor_.clock().now() + options_.connect_timeout);
    if (!queues) {
        co_await (*controller)->shutdown(reactor_.clock().now() + nvme::kShutdownPatience);
        co_return tl::unexpected<Error>(queues.error());
    }
    LinkedPath path;
    path.connection = {(*controller)->facts(), std::move(*queues)};
    path.link = std::make_unique<ControllerLink>(std::move(*controller));
    co_return std::move(path);
}

} // namespace mpath::job
