// SPDX-License-Identifier: GPL-2.0-only
#include "target/subsystem.h"

#include <algorithm>
#include <utility>

namespace mpath::target {

namespace {
constexpr std::uint16_t kMaxControllerId = 0xffef; // the ones above are reserved
} // namespace

Result<std::unique_ptr<Subsystem>> Subsystem::create(const Options& options) {
    std::unique_ptr<Subsystem> subsystem(new Subsystem(options));
    const std::string id = options.device_id.empty() ? random_device_id() : options.device_id;
    for (std::uint32_t nsid = 1; nsid <= options.namespaces; ++nsid) {
        auto created = Namespace::create(nsid, options.size, options.block_size, options.null,
                                         derive_identity(id, nsid));
        if (!created) {
            return tl::unexpected(created.error());
        }
        subsystem->namespaces_.push_back(std::move(*created));
    }
    return subsystem;
}

std::shared_ptr<Controller> Subsystem::add_controller(Listener& listener, const nvme::ConnectData& host,
                                                      std::uint32_t kato_ms, Nanoseconds now) {
    sweep();
    const bool discovers = is_discovery(host.subnqn.data());
    const auto like_it = std::count_if(controllers_.begin(), controllers_.end(), [&](const auto& controller) {
        return controller->is_discovery() == discovers;
    });
    if (like_it >= options_.controllers) {
        return nullptr;
    }
    do {
        last_id_ = last_id_ == kMaxControllerId ? 1 : static_cast<std::uint16_t>(last_id_ + 1);
    } while (find_controller(last_id_) != nullptr);
    return controllers_.emplace_back(
        std::make_shared<Controller>(last_id_, options_, listener, host, kato_ms, now));
}

std::shared_ptr<Controller> Subsystem::find_controller(std::uint16_t id) const {
    for (const auto& controller : controllers_) {
        if (controller->id() == id && !controller->ended()) {
            return controller;
        }
    }
    return nullptr;
}

void Subsystem::expire(Nanoseconds now) {
    for (const auto& controller : controllers_) {
        if (!controller->ended() && controller->silent_too_long(now)) {
            controller->end();
            ++controller->listener().counters.expired;
        }
    }
}

void Subsystem::sweep() {
    std::erase_if(controllers_, [](const auto& controller) { return controller->ended(); });
}

} // namespace mpath::target
