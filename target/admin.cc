// SPDX-License-Identifier: GPL-2.0-only
#include "target/admin.h"

#include <algorithm>
#include <bit>

#include "nvme/wire/fabrics.h"
#include "nvme/wire/identify.h"
#include "nvme/wire/log_page.h"
#include "target/identify.h"
#include "target/log_page.h"

namespace mpath::target {

namespace {

using nvme::Status;
using nvme::StatusCode;

Answer refuse(StatusCode code) {
    return {.status = Status(code, true)};
}

/// The command's SGL has to name as many bytes as the command delivers.
Answer deliver(tl::expected<std::vector<std::byte>, Status> data, const nvme::Sqe& sqe) {
    if (!data) {
        return {.status = data.error()};
    }
    if (sqe.sgl.length != data->size()) {
        return refuse(StatusCode::data_sgl_length_invalid);
    }
    return {.data = std::move(*data)};
}

std::uint32_t queues_result(const Controller& controller) {
    const std::uint32_t zero_based = controller.io_queues_granted - 1U;
    return (zero_based << 16) | zero_based;
}

Answer set_number_of_queues(const Options& options, Controller& controller, std::uint32_t asked) {
    const std::uint32_t submission = asked & 0xffff;
    const std::uint32_t completion = asked >> 16;
    if (submission == 0xffff || completion == 0xffff) {
        return refuse(StatusCode::invalid_field);
    }
    if (controller.has_io_queues()) {
        return refuse(StatusCode::command_sequence_error);
    }
    controller.io_queues_granted = static_cast<std::uint16_t>(
        std::min({submission + 1, completion + 1, std::uint32_t{options.io_queues}}));
    return {.dw0 = queues_result(controller)};
}

Answer set_features(const Options& options, Controller& controller, const nvme::Sqe& sqe,
                    std::span<const std::byte> data) {
    switch (sqe.cdw10 & 0xff) {
    case nvme::feature::kNumberOfQueues:
        if (controller.is_discovery()) {
            return refuse(StatusCode::invalid_field);
        }
        return set_number_of_queues(options, controller, sqe.cdw11);
    case nvme::feature::kAsyncEventConfiguration:
        controller.events.configuration = sqe.cdw11;
        return {};
    case nvme::feature::kKeepAliveTimer:
        controller.kato_ms = sqe.cdw11;
        return {};
    case nvme::feature::kHostBehaviorSupport:
        controller.heeds_retry_delays = data[0] == std::byte{1};
        return {};
    default:
        return refuse(StatusCode::invalid_field);
    }
}

Answer get_features(const Controller& controller, const nvme::Sqe& sqe) {
    switch (sqe.cdw10 & 0xff) {
    case nvme::feature::kNumberOfQueues:
        return {.dw0 = queues_result(controller)};
    case nvme::feature::kAsyncEventConfiguration:
        return {.dw0 = controller.events.configuration};
    case nvme::feature::kKeepAliveTimer:
        return {.dw0 = controller.kato_ms};
    default:
        return refuse(StatusCode::invalid_field);
    }
}

Answer wait_for_event(Controller& controller) {
    if (controller.async_events_waiting >= kMaxAsyncEvents) {
        return refuse(StatusCode::async_event_limit_exceeded);
    }
    ++controller.async_events_waiting;
    return {.later = true};
}

} // namespace

std::uint32_t admin_bytes_from_host(const nvme::Sqe& sqe) {
    const bool behavior = sqe.opcode == nvme::admin_opcode::kSetFeatures &&
                          (sqe.cdw10 & 0xff) == nvme::feature::kHostBehaviorSupport;
    return behavior ? sizeof(nvme::HostBehavior) : 0;
}

Answer execute_admin(const Subsystem& subsystem, Controller& controller, const nvme::Sqe& sqe,
                     std::span<const std::byte> data, Nanoseconds now) {
    if (!controller.ready()) {
        return refuse(StatusCode::command_sequence_error);
    }
    switch (sqe.opcode) {
    case nvme::admin_opcode::kIdentify:
        return deliver(identify(subsystem, controller, sqe), sqe);
    case nvme::admin_opcode::kGetLogPage:
        return deliver(log_page(subsystem, controller, sqe), sqe);
    case nvme::admin_opcode::kSetFeatures:
        return set_features(subsystem.options(), controller, sqe, data);
    case nvme::admin_opcode::kGetFeatures:
        return get_features(controller, sqe);
    case nvme::admin_opcode::kAsyncEventRequest:
        return wait_for_event(controller);
    case nvme::admin_opcode::kKeepAlive:
        controller.heard_keep_alive(now);
        return {};
    case nvme::admin_opcode::kAbort:
        return {.dw0 = 1}; // bit 0: nothing was aborted, the command goes on
    default:
        return refuse(StatusCode::invalid_opcode);
    }
}

Answer get_property(const Controller& controller, const nvme::Sqe& sqe) {
    const auto command = std::bit_cast<nvme::PropertyGetCommand>(sqe);
    const auto value =
        controller.property(command.offset, static_cast<nvme::PropertySize>(command.attributes & 7));
    if (!value) {
        return refuse(StatusCode::invalid_field);
    }
    return {.dw0 = static_cast<std::uint32_t>(*value), .dw1 = static_cast<std::uint32_t>(*value >> 32)};
}

Answer set_property(Controller& controller, const nvme::Sqe& sqe) {
    const auto command = std::bit_cast<nvme::PropertySetCommand>(sqe);
    if (!controller.set_property(command.offset, static_cast<nvme::PropertySize>(command.attributes & 7),
                                 command.value)) {
        return refuse(StatusCode::invalid_field);
    }
    return {};
}

} // namespace mpath::target
