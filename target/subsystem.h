// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "target/controller.h"
#include "target/discovery.h"
#include "target/namespace.h"
#include "target/options.h"

namespace mpath::target {

/// The namespaces, and the associations hosts have with them. NSIDs are 1 to the number of namespaces; each
/// namespace is alone in the ANA group of its number.
class Subsystem {
public:
    static Result<std::unique_ptr<Subsystem>> create(const Options& options);

    [[nodiscard]] const Options& options() const { return options_; }
    [[nodiscard]] Discovery& discovery() const { return *discovery_; }
    [[nodiscard]] std::uint32_t namespace_count() const {
        return static_cast<std::uint32_t>(namespaces_.size());
    }
    /// nullptr: no such namespace.
    [[nodiscard]] Namespace* find_namespace(std::uint32_t nsid) const {
        return nsid == 0 || nsid > namespaces_.size() ? nullptr : namespaces_[nsid - 1].get();
    }

    /// nullptr: as many associations as are allowed exist already. Those with the discovery service are
    /// counted apart.
    std::shared_ptr<Controller> add_controller(Listener& listener, const nvme::ConnectData& host,
                                               std::uint32_t kato_ms, Nanoseconds now);
    [[nodiscard]] std::shared_ptr<Controller> find_controller(std::uint16_t id) const;
    /// Ends associations that were silent for too long.
    void expire(Nanoseconds now);
    /// Forgets the associations that have ended.
    void sweep();

private:
    explicit Subsystem(Options options)
        : options_(std::move(options)), discovery_(std::make_unique<Discovery>(options_)) {}

    Options options_;
    std::unique_ptr<Discovery> discovery_;
    std::vector<std::unique_ptr<Namespace>> namespaces_;
    std::vector<std::shared_ptr<Controller>> controllers_;
    std::uint16_t last_id_ = 0;
};

} // namespace mpath::target
