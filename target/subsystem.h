// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "target/controller.h"
#include "target/discovery.h"
#include "target/fault/command_observer.h"
#include "target/fault/late_writes.h"
#include "target/namespace.h"
#include "target/options.h"

namespace mpath::target {

/// The namespaces, and the associations hosts have with them. NSIDs are 1 to the number of namespaces, and
/// the ANA groups take them by turns: as many groups as namespaces, and each is alone in the group of its
/// number.
class Subsystem {
public:
    static Result<std::unique_ptr<Subsystem>> create(const Options& options);

    [[nodiscard]] const Options& options() const { return options_; }
    [[nodiscard]] Discovery& discovery() const { return *discovery_; }
    [[nodiscard]] std::uint32_t namespace_count() const {
        return static_cast<std::uint32_t>(namespaces_.size());
    }
    /// ANA groups are 1 to this.
    [[nodiscard]] std::uint32_t group_count() const {
        return options_.groups == 0 ? namespace_count() : options_.groups;
    }
    /// `nsid`: from 1.
    [[nodiscard]] std::uint32_t group_of(std::uint32_t nsid) const { return (nsid - 1) % group_count() + 1; }
    /// nullptr: no such namespace.
    [[nodiscard]] Namespace* find_namespace(std::uint32_t nsid) const {
        return nsid == 0 || nsid > namespaces_.size() ? nullptr : namespaces_[nsid - 1].get();
    }

    /// nullptr: as many associations as are allowed exist already. Those with the discovery service are
    /// counted apart.
    std::shared_ptr<Controller> add_controller(Listener& listener, const nvme::ConnectData& host,
                                               std::uint32_t kato_ms, Nanoseconds now);
    [[nodiscard]] std::shared_ptr<Controller> find_controller(std::uint16_t id) const;
    [[nodiscard]] const std::vector<std::shared_ptr<Controller>>& controllers() const { return controllers_; }
    /// Ends associations that were silent for too long.
    void expire(Nanoseconds now);
    /// Forgets the associations that have ended.
    void sweep();

    /// The namespace as `listener` shows it; nullptr: it shows none with this NSID.
    [[nodiscard]] Namespace* find_namespace(std::uint32_t nsid, const Listener& listener) const {
        Namespace* space = find_namespace(nsid);
        return space != nullptr && !listener.faults.empty() &&
                       listener.faults.has_for_group(ActionKind::remove, group_of(nsid))
                   ? nullptr
                   : space;
    }

    /// Who is told of each I/O command; nullptr: nobody.
    CommandObserver* observer = nullptr;
    [[nodiscard]] LateWrites& late_writes() { return late_writes_; }

private:
    explicit Subsystem(Options options)
        : options_(std::move(options)), discovery_(std::make_unique<Discovery>(options_)) {}

    Options options_;
    std::unique_ptr<Discovery> discovery_;
    std::vector<std::unique_ptr<Namespace>> namespaces_;
    std::vector<std::shared_ptr<Controller>> controllers_;
    std::uint16_t last_id_ = 0;
    LateWrites late_writes_;
};

} // namespace mpath::target
