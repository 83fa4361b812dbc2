// SPDX-License-Identifier: GPL-2.0-only
#include "target/controller.h"

namespace mpath::target {

namespace {

using nvme::PropertySize;
namespace cc = nvme::cc;
namespace csts = nvme::csts;
namespace property_offset = nvme::property;

constexpr std::uint64_t kReadyTimeoutUnits = 10; // 5 s

bool is_supported(std::uint32_t configuration) {
    return (configuration & cc::kCssMask) == 0 && (configuration & cc::kMpsMask) == 0 &&
           (configuration & cc::kIosqesMask) == cc::kIosqes64 &&
           (configuration & cc::kIocqesMask) == cc::kIocqes16;
}

} // namespace

Controller::Controller(std::uint16_t id, const Options& options, Listener& listener,
                       const nvme::ConnectData& host, std::uint32_t kato, Nanoseconds now)
    : kato_ms(kato), io_queues_granted(options.io_queues), id_(id), listener_(listener), host_(host),
      capabilities_((options.queue_size - 1) | nvme::Capabilities::kCqr | (kReadyTimeoutUnits << 24) |
                    nvme::Capabilities::kCssNvm),
      traffic_counts_(options.traffic_based_keep_alive), enforce_kato_(options.enforce_kato), heard_at_(now) {
}

std::optional<std::uint64_t> Controller::property(std::uint32_t offset, PropertySize size) const {
    if (offset == property_offset::kCap && size == PropertySize::bytes8) {
        return capabilities_;
    }
    if (size != PropertySize::bytes4) {
        return std::nullopt;
    }
    switch (offset) {
    case property_offset::kVs:
        return kVersion;
    case property_offset::kCc:
        return cc_;
    case property_offset::kCsts:
        return csts_;
    default:
        return std::nullopt;
    }
}

bool Controller::set_property(std::uint32_t offset, PropertySize size, std::uint64_t value) {
    if (offset != property_offset::kCc || size != PropertySize::bytes4) {
        return false;
    }
    set_configuration(static_cast<std::uint32_t>(value));
    return true;
}

void Controller::set_configuration(std::uint32_t value) {
    const bool was_enabled = (cc_ & cc::kEnable) != 0;
    const bool enabled = (value & cc::kEnable) != 0;
    cc_ = value;
    if (enabled && !was_enabled) {
        csts_ = is_supported(value) ? csts::kReady : csts::kFatal;
    } else if (!enabled && was_enabled) {
        csts_ = 0;
        ++resets_;
    }
    if ((value & cc::kShutdownMask) != 0) {
        csts_ = (csts_ & ~csts::kShutdownMask) | csts::kShutdownComplete;
    }
}

void Controller::reset_itself() {
    set_configuration(cc_ & ~cc::kEnable);
}

bool Controller::silent_too_long(Nanoseconds now) const {
    if (!enforce_kato_ || kato_ms == 0) {
        return false;
    }
    const std::uint64_t units =
        (std::uint64_t{kato_ms} + kKeepAliveGranularityMs - 1) / kKeepAliveGranularityMs;
    return now > heard_at_ + units * kKeepAliveGranularityMs * kMillisecond;
}

} // namespace mpath::target
