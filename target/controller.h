// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "base/clock.h"
#include "nvme/wire/fabrics.h"
#include "nvme/wire/registers.h"
#include "target/async_events.h"
#include "target/discovery.h"
#include "target/listener.h"
#include "target/options.h"

namespace mpath::target {

/// One association: what a host's admin queue and I/O queues on one listener have in common. It begins with
/// an admin Connect and ends with the admin connection.
class Controller {
public:
    Controller(std::uint16_t id, const Options& options, Listener& listener, const nvme::ConnectData& host,
               std::uint32_t kato_ms, Nanoseconds now);

    [[nodiscard]] std::uint16_t id() const { return id_; }
    [[nodiscard]] Listener& listener() const { return listener_; }
    [[nodiscard]] const nvme::ConnectData& host() const { return host_; }
    /// A controller of the discovery service: no namespaces, no I/O queues.
    [[nodiscard]] bool is_discovery() const { return target::is_discovery(host_.subnqn.data()); }

    /// Properties; no value, or false: there is no such property of that size.
    [[nodiscard]] std::optional<std::uint64_t> property(std::uint32_t offset, nvme::PropertySize size) const;
    bool set_property(std::uint32_t offset, nvme::PropertySize size, std::uint64_t value);

    [[nodiscard]] bool ready() const { return (csts_ & nvme::csts::kReady) != 0; }

    /// Says that it has failed (CSTS.CFS), until it is disabled.
    void fail() { csts_ |= nvme::csts::kFatal; }
    /// As if the host had disabled it.
    void reset_itself();

    /// The admin connection is gone or the host has been silent: no queue may go on.
    void end() { ended_ = true; }
    [[nodiscard]] bool ended() const { return ended_; }
    /// Rises with every controller reset, which ends the I/O queues connected before it.
    [[nodiscard]] unsigned resets() const { return resets_; }

    /// False: that queue exists already.
    bool claim_queue(std::uint16_t qid) { return queues_.insert(qid).second; }
    void release_queue(std::uint16_t qid) { queues_.erase(qid); }
    [[nodiscard]] bool has_io_queues() const { return queues_.size() > queues_.count(0); }

    void heard_keep_alive(Nanoseconds now) { heard_at_ = now; }
    /// Any other command: counts as a keep-alive if that is what CTRATT announces.
    void heard_command(Nanoseconds now) {
        if (traffic_counts_) {
            heard_at_ = now;
        }
    }
    /// Whether the host broke its promise to be heard every KATO. The grace: KATO is rounded up to the
    /// 100 ms that KAS announces, and counted from when the last Keep Alive (at first: Connect) was received.
    [[nodiscard]] bool silent_too_long(Nanoseconds now) const;

    std::uint32_t kato_ms = 0;
    AsyncEvents events;
    std::uint16_t io_queues_granted = 0;
    bool heeds_retry_delays = false; ///< the host has said so (ACRE)
    std::uint32_t async_events_waiting = 0;

private:
    void set_configuration(std::uint32_t value);

    std::uint16_t id_;
    Listener& listener_;
    nvme::ConnectData host_;
    std::uint64_t capabilities_;
    std::uint32_t cc_ = 0;
    std::uint32_t csts_ = 0;
    bool ended_ = false;
    unsigned resets_ = 0;
    std::set<std::uint16_t> queues_;
    bool traffic_counts_;
    bool enforce_kato_;
    Nanoseconds heard_at_;
};

inline constexpr std::uint32_t kVersion = nvme::make_version(1, 4, 0);
inline constexpr std::uint32_t kKeepAliveGranularityMs = 100;
inline constexpr std::uint32_t kMaxAsyncEvents = 4;

} // namespace mpath::target
