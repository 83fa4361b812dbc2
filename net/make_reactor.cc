// SPDX-License-Identifier: GPL-2.0-only
#include <cstdlib>

#include "net/poll_reactor.h"
#include "net/uring_reactor.h"

namespace mpath::net {

Result<std::unique_ptr<Reactor>> make_reactor(const Clock& clock, unsigned operations) {
    const char* variable = std::getenv("MPATH_NET");
    const std::string_view backend = variable == nullptr ? "auto" : variable;
    if (backend != "auto" && backend != "io_uring" && backend != "poll") {
        return failure(EINVAL, "MPATH_NET={} is not a backend: it can be io_uring, poll or auto", backend);
    }
    if (backend != "poll") {
        auto reactor = UringReactor::create(clock, operations);
        if (reactor || backend == "io_uring") {
            return reactor;
        }
    }
    return std::make_unique<PollReactor>(clock, operations);
}

} // namespace mpath::net
