// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "iscsi/wire/pdu.h"
#include "target/iscsi/session.h"
#include "target/listener.h"
#include "target/subsystem.h"

namespace mpath::target::scsi {

/// The namespace whose LUN this is: LUN n is the namespace with NSID n + 1. 0: of none.
std::uint32_t nsid_of(const iscsi::Lun& lun);
iscsi::Lun lun_of(std::uint32_t nsid);

/// The iSCSI target: its portals, each of which is a portal group and an ALUA target port group of its own,
/// and the sessions with them.
class Node {
public:
    /// `subsystem` outlives it.
    explicit Node(Subsystem& subsystem) : subsystem_(subsystem) {}

    [[nodiscard]] Subsystem& subsystem() const { return subsystem_; }
    [[nodiscard]] const Options& options() const { return subsystem_.options(); }

    /// Outlives it.
    void add_portal(Listener& listener) { portals_.push_back(&listener); }
    [[nodiscard]] const std::vector<Listener*>& portals() const { return portals_; }
    /// Portal group tag, target port group and relative target port identifier of a portal: its position,
    /// from 1.
    [[nodiscard]] std::uint16_t tag_of(const Listener& portal) const;

    /// A new session. One of the same initiator port with the same portal ends. nullptr: as many as are
    /// allowed exist already.
    std::shared_ptr<Session> open_session(InitiatorPort port, bool discovery, Listener& listener,
                                          const Terms& terms);
    [[nodiscard]] bool has_session(std::uint16_t tsih) const;
    /// Those that have not ended, discovery apart.
    [[nodiscard]] std::size_t sessions_of(const Listener& listener) const;
    [[nodiscard]] const std::vector<std::shared_ptr<Session>>& sessions() const { return sessions_; }
    /// Forgets those that have ended.
    void sweep();

    /// What SendTargets=`which` is answered with: "All", a name or nothing, which is this target. `local`:
    /// the address that the initiator reaches us by, for portals that have every address.
    [[nodiscard]] std::string targets_text(std::string_view which, const std::string& local) const;

private:
    Subsystem& subsystem_;
    std::vector<Listener*> portals_;
    std::vector<std::shared_ptr<Session>> sessions_;
    std::uint16_t last_tsih_ = 0;
};

} // namespace mpath::target::scsi
