// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>

#include "base/unique_fd.h"
#include "target/fault/ana_view.h"
#include "target/fault/faults.h"
#include "target/options.h"

namespace mpath::target {

/// What a listener has served since it was opened.
struct Counters {
    std::uint64_t connections = 0;  ///< accepted
    std::uint64_t associations = 0; ///< admin Connects that succeeded, those to the discovery service apart;
                                    ///< iSCSI: logins
    std::uint64_t discoveries = 0;  ///< admin Connects to the discovery service that succeeded
    std::uint64_t reads = 0;
    std::uint64_t read_bytes = 0;
    std::uint64_t writes = 0;
    std::uint64_t write_bytes = 0;
    std::uint64_t fua_writes = 0; ///< of the writes, those with Force Unit Access
    std::uint64_t flushes = 0;
    std::uint64_t deallocates = 0; ///< Dataset Management commands
    std::uint64_t write_zeroes = 0;
    std::uint64_t refused = 0;        ///< commands of any queue answered with an error
    std::uint64_t violations = 0;     ///< connections ended by C2HTermReq
    std::uint64_t host_term_reqs = 0; ///< connections ended by H2CTermReq
    std::uint64_t host_fes = 0;       ///< what the last of them said
    std::uint64_t host_fei = 0;
    std::uint64_t header_digest_errors = 0; ///< among the violations
    std::uint64_t data_digest_errors = 0;   ///< of H2CData PDUs and capsules
    std::uint64_t expired = 0;              ///< associations dropped as nothing was heard for their KATO
    // What a script had done:
    std::uint64_t dropped = 0;     ///< connections reset
    std::uint64_t closed = 0;      ///< connections closed in order
    std::uint64_t failed = 0;      ///< commands answered with a status of the script's; they are refused, too
    std::uint64_t muted = 0;       ///< commands carried out and not answered
    std::uint64_t held_writes = 0; ///< writes neither carried out nor answered
    std::uint64_t late_writes = 0; ///< of these, those carried out after their connection was lost
    std::uint64_t events = 0;      ///< asynchronous events sent; iSCSI: messages
    // iSCSI alone:
    std::uint64_t unit_attentions = 0; ///< told, which are not refused commands
    std::uint64_t logouts = 0;
    std::uint64_t aborted = 0; ///< commands that task management ended
};

/// One port of the subsystem.
struct Listener {
    ListenerOptions options;     ///< its port is the real one
    bool discovery_only = false; ///< not a port of the subsystem
    UniqueFd socket;
    std::string address; ///< "127.0.0.1:4420", "[::1]:4420"
    Counters counters;
    Faults faults; ///< what is wrong with it just now
    AnaView ana;   ///< where its states are not those of `options`

    [[nodiscard]] AccessState access_state(std::uint32_t group) const {
        return ana.state(group, options.ana);
    }
    [[nodiscard]] nvme::AnaState ana_state(std::uint32_t group) const { return access_state(group).ana; }
};

/// Refuses connects until listen_again(): the port stays taken, but nobody listens.
Result<void> stop_listening(Listener& listener);
Result<void> listen_again(Listener& listener);

/// Binds and listens. Refuses addresses that other hosts can reach unless `allow_remote`.
Result<Listener> open_listener(const ListenerOptions& options, bool allow_remote);

} // namespace mpath::target
