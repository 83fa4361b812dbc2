// SPDX-License-Identifier: GPL-2.0-only
// What a script can have done to whom, taken apart. docs/target.md has the language.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "nvme/wire/status.h"
#include "target/access_state.h"
#include "target/fault/ana_lie.h"
#include "target/fault/command_filter.h"
#include "target/misdeed.h"

namespace mpath::target {

enum class ActionKind : std::uint8_t {
    ana,
    drop,
    close,
    down,
    refuse_connects,
    reject_connects,
    stall_reading,
    stall_writing,
    mute,
    delay,
    fail,
    flip_header,
    flip_data,
    split,
    split_data,
    reorder,
    lie,
    lie_ana,
    resize,
    remove,
    identity,
    fatal,
    reset,
    hold_writes,
    async_logout,
    ping,
    heal,
};

/// How a SCSI command fails.
struct ScsiFailure {
    std::uint8_t status = 0; ///< SCSI status
    std::uint8_t key = 0;    ///< of CHECK CONDITION
    std::uint8_t asc = 0;
    std::uint8_t ascq = 0;
};

struct Action {
    ActionKind kind = ActionKind::heal;
    std::string text; ///< as it was written, with single spaces
    AccessState ana;
    bool event = true;              ///< ana: hosts are told
    Nanoseconds duration = 0;       ///< delay, hold_writes
    nvme::Status status{};          ///< fail, reject_connects
    ScsiFailure scsi{};             ///< the same of iSCSI: fail
    std::uint16_t login_status = 0; ///< the same: reject_connects; class and detail
    std::uint64_t number = 0;       ///< split, split_data, resize: bytes
    Misdeed misdeed = Misdeed::none;
    AnaLie ana_lie = AnaLie::group_0;
    std::string word;                             ///< identity: what it is derived from
    std::uint32_t count = 0;                      ///< how many commands it is done to; 0 = no limit
    const CommandFilter* usual_command = nullptr; ///< what it is about if its statement names no commands
};

/// Which part of a listener.
struct Scope {
    std::uint32_t group = 0;                ///< 0: all
    std::uint16_t controller = 0;           ///< 0: all
    int queue = kNoQueue;                   ///< kNoQueue: all, and connections that are none yet
    const CommandFilter* command = nullptr; ///< nullptr: all
    std::uint32_t nth = 0;                  ///< only the how manyth of these commands; 0: all

    [[nodiscard]] bool covers(const Subject& subject) const {
        return (controller == 0 || controller == subject.controller) &&
               (queue == kNoQueue || queue == subject.queue) &&
               (group == 0 || subject.group == 0 || group == subject.group) &&
               (command == nullptr || command->matches(subject));
    }
    bool operator==(const Scope&) const = default;
};

} // namespace mpath::target
