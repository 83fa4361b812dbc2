// SPDX-License-Identifier: GPL-2.0-only
// The third part of TaskSet: commands that end before their time. RFC 7143, section 11.5.
#include "target/iscsi/task_set.h"

namespace mpath::target::scsi {

namespace function = iscsi::task_function;
namespace response = iscsi::task_response;

namespace {
constexpr std::size_t kMostAbandoned = 1024;
} // namespace

void TaskSet::abort(std::uint16_t slot) {
    Task& task = tasks_[slot];
    std::erase_if(delayed_, [slot](const Delayed& other) { return other.slot == slot; });
    if (task.open_r2ts != 0) {
        if (receiving_.of == Receiving::Of::task && receiving_.slot == slot) {
            receiving_ = {};
        }
        r2ts_.abandon(slot);
    } else if (receiving_.of == Receiving::Of::task && receiving_.slot == slot) {
        receiving_ = {};
    }
    if (task.unsolicited && abandoned_.size() < kMostAbandoned) {
        abandoned_.push_back(task.request.task_tag);
    }
    task.held = false;
    ++listener_.counters.aborted;
    finish(slot);
}

void TaskSet::abort_all(std::uint32_t nsid) {
    for (std::size_t i = places_.size(); i-- > 0;) {
        const std::uint16_t slot = places_[i].slot;
        if (nsid == 0 || nsid_of(tasks_[slot].request.lun) == nsid) {
            abort(slot);
        }
    }
}

std::uint8_t TaskSet::manage(const iscsi::TaskManagement& request) {
    const std::uint8_t wanted = request.function & static_cast<std::uint8_t>(~iscsi::kFinal);
    const std::uint32_t nsid = nsid_of(request.lun);
    const bool of_unit = wanted != function::kTargetWarmReset && wanted != function::kTargetColdReset;
    if (of_unit && (nsid == 0 || node_.subsystem().find_namespace(nsid, listener_) == nullptr)) {
        return response::kNoLun;
    }
    switch (wanted) {
    case function::kAbortTask: {
        const auto slot = find(request.referenced_task_tag);
        if (slot) {
            abort(*slot);
            return response::kComplete;
        }
        // One that has come and was answered may be asked for all the same.
        return iscsi::comes_before(request.ref_cmd_sn, writer_.numbers.exp_cmd_sn) ? response::kNoTask
                                                                                   : response::kComplete;
    }
    case function::kAbortTaskSet:
        abort_all(nsid);
        return response::kComplete;
    case function::kClearTaskSet:
    case function::kLogicalUnitReset:
    case function::kTargetWarmReset:
    case function::kTargetColdReset:
        for (const auto& session : node_.sessions()) {
            if (session->ended() || session->tasks == nullptr) {
                continue;
            }
            session->tasks->abort_all(of_unit ? nsid : 0);
            const Attention attention =
                wanted == function::kClearTaskSet ? Attention::commands_cleared : Attention::bus_device_reset;
            if (session.get() != &session_ && of_unit) {
                session->raise(nsid, attention);
            } else if (session.get() != &session_) {
                session->raise_all(attention);
            }
            if (wanted == function::kTargetColdReset && session.get() != &session_) {
                session->end();
            }
        }
        return response::kComplete;
    case function::kTaskReassign:
        return response::kReassignUnsupported;
    default:
        return response::kUnsupported;
    }
}

} // namespace mpath::target::scsi
