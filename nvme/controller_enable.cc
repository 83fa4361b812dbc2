// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/controller_enable.h"

#include <algorithm>

#include "net/async.h"
#include "nvme/admin_command.h"

namespace mpath::nvme {
namespace {

constexpr Nanoseconds kReadyUnit = 500 * kMillisecond; ///< of CAP.TO
constexpr Nanoseconds kMinReady = kSecond;             ///< for a controller that says it needs no time at all
constexpr Nanoseconds kFirstPoll = kMillisecond;
constexpr Nanoseconds kSlowestPoll = 100 * kMillisecond;

/// Polls CSTS until the bits of `mask` are `value`.
net::Task<Result<void>> await_status(AdminQueue& admin, std::uint32_t mask, std::uint32_t value,
                                     Nanoseconds deadline, const char* what) {
    Nanoseconds pause = kFirstPoll;
    for (;;) {
        const Sqe sqe = property_get(property::kCsts, PropertySize::bytes4);
        const Result<Completion> status =
            co_await admin.succeed(sqe, Transfer::none, {}, deadline, "Property Get CSTS");
        if (!status) {
            co_return tl::unexpected<Error>(status.error());
        }
        if ((status->dw0 & csts::kFatal) != 0) {
            co_return failure(
                EIO,
                "the controller reports a fatal error (CSTS {:08x}h) instead of {}: look at the "
                "target's log",
                status->dw0, what);
        }
        if ((status->dw0 & mask) == value) {
            co_return Result<void>{};
        }
        const Nanoseconds now = admin.reactor().clock().now();
        if (now + pause >= deadline) {
            co_return failure(ETIMEDOUT, "the controller does not become {} in time (CSTS {:08x}h)", what,
                              status->dw0);
        }
        co_await net::sleep_until(admin.reactor(), now + pause);
        pause = std::min(pause * 2, kSlowestPoll);
    }
}

net::Task<Result<void>> set_configuration(AdminQueue& admin, std::uint32_t configuration,
                                          Nanoseconds deadline) {
    const Sqe sqe = property_set(property::kCc, configuration);
    const Result<Completion> done =
        co_await admin.succeed(sqe, Transfer::none, {}, deadline, "Property Set CC");
    if (!done) {
        co_return tl::unexpected<Error>(done.error());
    }
    co_return Result<void>{};
}

} // namespace

net::Task<Result<EnabledController>> enable_controller(AdminQueue& admin, CommandSet command_set,
                                                       Nanoseconds deadline) {
    EnabledController controller;
    const Sqe get_cap = property_get(property::kCap, PropertySize::bytes8);
    const Result<Completion> cap =
        co_await admin.succeed(get_cap, Transfer::none, {}, deadline, "Property Get CAP");
    if (!cap) {
        co_return tl::unexpected<Error>(cap.error());
    }
    controller.capabilities.value = cap->dw0 | (std::uint64_t{cap->dw1} << 32);
    const Capabilities capabilities = controller.capabilities;
    if (command_set == CommandSet::nvm && !capabilities.css_nvm()) {
        co_return failure(ENOTSUP, "the controller does not support the NVM command set (CAP {:016x}h)",
                          capabilities.value);
    }
    if (capabilities.mqes() == 0) {
        co_return failure(EPROTO,
                          "the controller's queues have a single entry (CAP.MQES 0), which is too few");
    }
    const Sqe get_vs = property_get(property::kVs, PropertySize::bytes4);
    const Result<Completion> version =
        co_await admin.succeed(get_vs, Transfer::none, {}, deadline, "Property Get VS");
    if (!version) {
        co_return tl::unexpected<Error>(version.error());
    }
    controller.version = version->dw0;

    const auto page_log2 = static_cast<std::uint32_t>((capabilities.value >> 48) & 0xf); // CAP.MPSMIN
    controller.configuration = cc::kEnable | (page_log2 << 7) | cc::kIosqes64 | cc::kIocqes16;
    if (!capabilities.css_nvm() && capabilities.css_admin_only()) {
        controller.configuration |= cc::kCssAdminOnly;
    }
    const Result<void> enabled = co_await set_configuration(admin, controller.configuration, deadline);
    if (!enabled) {
        co_return tl::unexpected<Error>(enabled.error());
    }
    const Nanoseconds patience = std::max(capabilities.to() * kReadyUnit, kMinReady);
    const Nanoseconds ready_by = std::min(deadline, admin.reactor().clock().now() + patience);
    const Result<void> ready = co_await await_status(admin, csts::kReady, csts::kReady, ready_by, "ready");
    if (!ready) {
        co_return tl::unexpected<Error>(ready.error());
    }
    co_return controller;
}

net::Task<Result<void>> shut_down_controller(AdminQueue& admin, std::uint32_t configuration,
                                             Nanoseconds deadline) {
    const std::uint32_t shutting_down = (configuration & ~cc::kShutdownMask) | cc::kShutdownNormal;
    const Result<void> asked = co_await set_configuration(admin, shutting_down, deadline);
    if (!asked) {
        co_return asked;
    }
    co_return co_await await_status(admin, csts::kShutdownMask, csts::kShutdownComplete, deadline,
                                    "shut down");
}

} // namespace mpath::nvme
