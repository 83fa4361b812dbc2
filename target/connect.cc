// SPDX-License-Identifier: GPL-2.0-only
#include "target/connect.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

namespace mpath::target {

namespace {

using nvme::ConnectCommand;
using nvme::ConnectData;
using nvme::Status;
using nvme::StatusCode;

ConnectOutcome refuse_connect(StatusCode code, bool do_not_retry = true) {
    return {Status(code, do_not_retry), 0, nullptr};
}

ConnectOutcome invalid_in_command(std::size_t offset) {
    return {Status(StatusCode::connect_invalid_parameters, true), static_cast<std::uint32_t>(offset),
            nullptr};
}

ConnectOutcome invalid_in_data(std::size_t offset) {
    return {Status(StatusCode::connect_invalid_parameters, true),
            static_cast<std::uint32_t>(offset) | nvme::kConnectInvalidInData, nullptr};
}

/// The text of an NQN field; nothing if it is empty, too long or has no end.
std::optional<std::string_view> nqn_of(const std::array<char, 256>& field) {
    const auto end = std::find(field.begin(), field.end(), '\0');
    const auto length = static_cast<std::size_t>(end - field.begin());
    if (length == 0 || length > nvme::kMaxNqnLength) {
        return std::nullopt;
    }
    return std::string_view(field.data(), length);
}

ConnectOutcome connect_admin(Subsystem& subsystem, Listener& listener, const ConnectCommand& command,
                             const ConnectData& data, Nanoseconds now) {
    if (data.cntlid != nvme::kDynamicController) {
        return invalid_in_data(offsetof(ConnectData, cntlid));
    }
    auto controller = subsystem.add_controller(listener, data, command.kato, now);
    if (controller == nullptr) {
        return refuse_connect(StatusCode::connect_busy, false);
    }
    controller->claim_queue(0);
    ++(controller->is_discovery() ? listener.counters.discoveries : listener.counters.associations);
    const std::uint32_t auth = subsystem.options().demand_auth ? nvme::kConnectAuthRequired : 0;
    return {Status(), controller->id() | auth, controller};
}

ConnectOutcome connect_io(Subsystem& subsystem, const Listener& listener, const ConnectCommand& command,
                          const ConnectData& data) {
    auto controller = subsystem.find_controller(data.cntlid);
    if (controller == nullptr || &controller->listener() != &listener) {
        return invalid_in_data(offsetof(ConnectData, cntlid));
    }
    if (controller->host().hostnqn != data.hostnqn) {
        return invalid_in_data(offsetof(ConnectData, hostnqn));
    }
    if (controller->host().hostid != data.hostid) {
        return invalid_in_data(offsetof(ConnectData, hostid));
    }
    if (!controller->ready()) {
        return refuse_connect(StatusCode::command_sequence_error);
    }
    if (command.qid > controller->io_queues_granted) {
        return invalid_in_command(offsetof(ConnectCommand, qid));
    }
    if (!controller->claim_queue(command.qid)) {
        return refuse_connect(StatusCode::command_sequence_error);
    }
    return {Status(), controller->id(), controller};
}

} // namespace

ConnectOutcome connect(Subsystem& subsystem, Listener& listener, const ConnectCommand& command,
                       const ConnectData& data, Nanoseconds now) {
    if (command.recfmt != 0) {
        return refuse_connect(StatusCode::connect_incompatible_format);
    }
    if (command.sqsize == 0 || command.sqsize >= subsystem.options().queue_size) {
        // The admin queue has to have room for 32 entries whatever the limit for the others.
        if (command.sqsize == 0 || command.qid != 0 || command.sqsize > 31) {
            return invalid_in_command(offsetof(ConnectCommand, sqsize));
        }
    }
    const auto subnqn = nqn_of(data.subnqn);
    const bool discovers = subnqn && is_discovery(*subnqn);
    const bool known = discovers || (!listener.discovery_only && subnqn == subsystem.options().subnqn);
    if (!known) {
        return invalid_in_data(offsetof(ConnectData, subnqn));
    }
    if (discovers && command.qid != 0) {
        return invalid_in_command(offsetof(ConnectCommand, qid));
    }
    if (!nqn_of(data.hostnqn)) {
        return invalid_in_data(offsetof(ConnectData, hostnqn));
    }
    return command.qid == 0 ? connect_admin(subsystem, listener, command, data, now)
                            : connect_io(subsystem, listener, command, data);
}

} // namespace mpath::target
