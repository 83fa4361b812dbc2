// SPDX-License-Identifier: GPL-2.0-only
// What the run cost the client, so that its own limit is not taken for the storage's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/block.h"

namespace mpath::report {

/// How long the connections of a path could not send although there was something to send, as parts of the
/// time that intervals cover (0 .. 1).
struct Backpressure {
    std::string path;
    std::optional<double> by_send_buffer; ///< ours was full: the client or the network
    std::optional<double> by_window;      ///< the target's receive window was closed
    std::optional<std::uint64_t> retransmits;
};

struct Client {
    std::optional<double> cores_per_job; ///< CPU time of the I/O thread by measured time; 1: all of a core
    std::optional<double> user_part;     ///< of that CPU time, 0 .. 1
    std::optional<double> ns_per_io;     ///< CPU time
    std::vector<Backpressure> paths;     ///< none: no interval tells
};

[[nodiscard]] Client client_of(const Block& block);

/// Above this, the client is likely what limits: fractions of a core, and of time.
inline constexpr double kBusyCore = 0.9;
inline constexpr double kHeldBack = 0.1;

/// "client: 1.66µs CPU per I/O, 83 % of a core per job …"; nothing where nothing was measured.
[[nodiscard]] std::string client_line(const Client& client);

} // namespace mpath::report
