// SPDX-License-Identifier: GPL-2.0-only
#include "target/fault/command_filter.h"

#include <algorithm>
#include <array>

#include "nvme/wire/fabrics.h"
#include "nvme/wire/log_page.h"

namespace mpath::target {

namespace {

using Queues = CommandFilter::Queues;
namespace admin_opcode = nvme::admin_opcode;
namespace io_opcode = nvme::io_opcode;

constexpr CommandFilter fabrics_filter(std::string_view name, nvme::FabricsType type,
                                       std::uint32_t requests = request_kind::kNothing) {
    return {name, Queues::any, nvme::kFabricsOpcode, static_cast<int>(type), requests};
}

constexpr CommandFilter iscsi_filter(std::string_view name, std::uint32_t requests) {
    return {name, Queues::any, CommandFilter::kNoOpcode, -1, requests};
}

constexpr std::array kFilters = {
    CommandFilter{"io", Queues::io, -1, -1, request_kind::kIo},
    CommandFilter{"read", Queues::io, io_opcode::kRead, -1, request_kind::kRead},
    CommandFilter{"write", Queues::io, io_opcode::kWrite, -1, request_kind::kWrite},
    CommandFilter{"flush", Queues::io, io_opcode::kFlush, -1, request_kind::kFlush},
    CommandFilter{"trim", Queues::io, io_opcode::kDatasetManagement, -1, request_kind::kUnmap},
    CommandFilter{"write-zeroes", Queues::io, io_opcode::kWriteZeroes, -1, request_kind::kWriteSame},
    CommandFilter{"admin", Queues::admin, -1, -1,
                  request_kind::kAll & ~(request_kind::kIo | request_kind::kLogin)},
    CommandFilter{"identify", Queues::admin, admin_opcode::kIdentify, -1,
                  request_kind::kInquiry | request_kind::kCapacity | request_kind::kReportLuns},
    CommandFilter{"log", Queues::admin, admin_opcode::kGetLogPage},
    CommandFilter{"ana-log", Queues::admin, admin_opcode::kGetLogPage, nvme::log_page::kAna,
                  request_kind::kPortGroups},
    CommandFilter{"changed-log", Queues::admin, admin_opcode::kGetLogPage,
                  nvme::log_page::kChangedNamespaces},
    CommandFilter{"keep-alive", Queues::admin, admin_opcode::kKeepAlive, -1, request_kind::kNop},
    CommandFilter{"async-event", Queues::admin, admin_opcode::kAsyncEventRequest},
    CommandFilter{"set-features", Queues::admin, admin_opcode::kSetFeatures},
    CommandFilter{"get-features", Queues::admin, admin_opcode::kGetFeatures},
    fabrics_filter("connect", nvme::FabricsType::connect, request_kind::kLogin),
    fabrics_filter("property-get", nvme::FabricsType::property_get),
    fabrics_filter("property-set", nvme::FabricsType::property_set),
    iscsi_filter("login", request_kind::kLogin),
    iscsi_filter("logout", request_kind::kLogout),
    iscsi_filter("text", request_kind::kText),
    iscsi_filter("nop", request_kind::kNop),
    iscsi_filter("task-management", request_kind::kTaskManagement),
    iscsi_filter("inquiry", request_kind::kInquiry),
    iscsi_filter("capacity", request_kind::kCapacity),
    iscsi_filter("report-luns", request_kind::kReportLuns),
    iscsi_filter("port-groups", request_kind::kPortGroups),
    iscsi_filter("test-unit-ready", request_kind::kTestUnitReady),
    iscsi_filter("verify", request_kind::kVerify),
};

int detail_of(const nvme::Sqe& sqe) {
    return static_cast<int>((sqe.opcode == nvme::kFabricsOpcode ? sqe.nsid : sqe.cdw10) & 0xff);
}

} // namespace

bool CommandFilter::matches(const Subject& subject) const {
    if (subject.request != nullptr) {
        return (requests & kind_of(*subject.request)) != 0;
    }
    if (subject.command == nullptr) {
        return false;
    }
    const nvme::Sqe& sqe = *subject.command;
    const bool is_fabrics = sqe.opcode == nvme::kFabricsOpcode;
    const bool is_connect = is_fabrics && detail_of(sqe) == static_cast<int>(nvme::FabricsType::connect);
    const bool right_queue =
        queues == Queues::any ||
        (queues == Queues::io ? subject.queue > 0 && !is_fabrics : subject.queue == 0 && !is_connect);
    return right_queue && (opcode == -1 || opcode == sqe.opcode) &&
           (detail == -1 || detail == detail_of(sqe));
}

const CommandFilter* find_command_filter(std::string_view name) {
    const auto* found = std::find_if(kFilters.begin(), kFilters.end(),
                                     [name](const CommandFilter& filter) { return filter.name == name; });
    return found == kFilters.end() ? nullptr : found;
}

std::string command_filter_names() {
    std::string names;
    for (const CommandFilter& filter : kFilters) {
        names += names.empty() ? "" : ", ";
        names += filter.name;
    }
    return names;
}

} // namespace mpath::target
