// SPDX-License-Identifier: GPL-2.0-only
// The discovery service: a second subsystem, which every listener serves beside the one with the namespaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "nvme/wire/command.h"
#include "nvme/wire/status.h"
#include "target/listener.h"
#include "target/options.h"

namespace mpath::target {

class Controller;

class Discovery {
public:
    explicit Discovery(const Options& options)
        : options_(options.discovery), subnqn_(options.subnqn), moves_left_(options.discovery.moves) {}

    /// A listener that the log shall name; it has to stay.
    void add_listener(const Listener& listener) { listeners_.push_back(&listener); }

    /// The whole log as a host sees it that asks on `listener`. `from_start`: the host reads its beginning,
    /// which is when the generation moves if it has been told to.
    std::vector<std::byte> log(const Listener& listener, bool from_start);

private:
    DiscoveryOptions options_;
    std::string subnqn_;
    std::uint32_t moves_left_;
    std::uint64_t generation_ = 1;
    std::vector<const Listener*> listeners_;
};

/// Whether a Connect to this NQN is one to the discovery service.
bool is_discovery(std::string_view subnqn);

/// What an Identify command to a discovery controller gets.
tl::expected<std::vector<std::byte>, nvme::Status>
identify_discovery(const Options& options, const Controller& controller, const nvme::Sqe& sqe);

} // namespace mpath::target
