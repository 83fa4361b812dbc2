// SPDX-License-Identifier: GPL-2.0-only
#include "target/fault/action_parser.h"

#include <algorithm>
#include <array>

#include "base/duration.h"
#include "iscsi/wire/scsi.h"
#include "target/fault/status_words.h"
#include "target/options.h"

namespace mpath::target {

namespace {

constexpr std::uint16_t kServiceUnavailable = 0x0301; // class and detail of a login
constexpr Nanoseconds kLeaveWithin = 3 * kSecond;

/// What an action's words are read in view of.
struct Setting {
    const ScriptContext& context;
    const Spoken& spoken;
};

using Arguments = Result<void> (*)(Words&, Action&, const Setting&);

Result<void> no_arguments(Words& /*words*/, Action& /*action*/, const Setting& /*setting*/) {
    return {};
}

Result<void> ana_arguments(Words& words, Action& action, const Setting& setting) {
    const auto state = parse_ana(words.peek());
    if (!state) {
        return words.done() ? words.expected("an ANA state") : tl::unexpected(state.error());
    }
    if (setting.spoken.nvme && !is_ana_word(words.peek())) {
        return failure(EINVAL, "'{}' is a state of ALUA, and a listener named here speaks NVMe/TCP",
                       words.peek());
    }
    words.take();
    action.ana = *state;
    action.event = !words.take("no-event");
    return {};
}

Result<void> duration_argument(Words& words, Action& action, const Setting& /*setting*/) {
    const auto duration = parse_duration(words.peek());
    if (!duration) {
        return words.expected("a duration such as 5ms");
    }
    words.take();
    action.duration = *duration;
    return {};
}

Result<void> hold_arguments(Words& words, Action& action, const Setting& setting) {
    action.duration = 2 * kSecond;
    return words.peek().find_first_of("0123456789") == 0 ? duration_argument(words, action, setting)
                                                         : Result<void>();
}

/// "busy", "task-set-full", "sense 3/11/00"
Result<void> scsi_status_argument(Words& words, Action& action) {
    const bool sense = words.take("sense");
    const auto status = sense ? parse_sense(words.peek()) : parse_scsi_status(words.peek());
    if (!status) {
        return words.done() ? words.expected("a SCSI status such as busy, or sense KEY/ASC/ASCQ")
                            : tl::unexpected(status.error());
    }
    words.take();
    action.scsi = *status;
    return {};
}

Result<void> status_argument(Words& words, Action& action, const Setting& setting) {
    if (setting.spoken.iscsi && setting.spoken.nvme) {
        return failure(EINVAL,
                       "NVMe and SCSI have no status in common, name listeners that speak one of them");
    }
    if (setting.spoken.iscsi) {
        return scsi_status_argument(words, action);
    }
    const auto status = parse_status(words.peek());
    if (!status) {
        return words.done() ? words.expected("a status such as ana-inaccessible or 302h")
                            : tl::unexpected(status.error());
    }
    words.take();
    action.status = *status;
    return {};
}

Result<void> reject_arguments(Words& words, Action& action, const Setting& setting) {
    action.status = nvme::Status(nvme::StatusCode::connect_busy);
    action.login_status = kServiceUnavailable;
    const std::string_view next = words.peek();
    if (words.done() || next == "dnr" || next == "crd" || next == "count" || next == "or") {
        return {};
    }
    if (!setting.spoken.iscsi || setting.spoken.nvme) {
        return status_argument(words, action, setting);
    }
    const auto status = parse_login_status(next);
    if (!status) {
        return tl::unexpected(status.error());
    }
    words.take();
    action.login_status = *status;
    return {};
}

Result<void> busy_arguments(Words& /*words*/, Action& action, const Setting& /*setting*/) {
    action.status = nvme::Status(nvme::StatusCode::namespace_not_ready);
    action.scsi.status = iscsi::scsi_status::kBusy;
    return {};
}

Result<void> flip_arguments(Words& words, Action& action, const Setting& /*setting*/) {
    action.count = 1;
    if (words.take("header")) {
        action.kind = ActionKind::flip_header;
    } else if (words.take("data")) {
        action.kind = ActionKind::flip_data;
    } else {
        return words.expected("header or data");
    }
    return {};
}

Result<void> bytes_argument(Words& words, Action& action, const Setting& /*setting*/) {
    const auto bytes = words.take_number<std::uint32_t>("a number of bytes");
    if (!bytes) {
        return tl::unexpected(bytes.error());
    }
    action.number = *bytes;
    return {};
}

Result<void> lie_arguments(Words& words, Action& action, const Setting& /*setting*/) {
    if (const auto ana = find_ana_lie(words.peek())) {
        action.kind = ActionKind::lie_ana;
        action.ana_lie = *ana;
        words.take();
        return {};
    }
    const auto told = parse_break(words.peek());
    if (!told || words.peek().find(':') != std::string_view::npos) {
        return words.expected("what to lie about; `fio-mpath target --help` lists it");
    }
    words.take();
    action.misdeed = told->what;
    action.count = 1;
    return {};
}

Result<void> resize_argument(Words& words, Action& action, const Setting& setting) {
    const ScriptContext& context = setting.context;
    const auto size = parse_size(words.peek());
    if (!size) {
        return words.expected("a size such as 128M");
    }
    if (*size == 0 || *size % context.block_size != 0 || *size > context.most_bytes) {
        return failure(EINVAL,
                       "size {} is not a multiple of the block size {} up to {}, four times what the "
                       "namespaces have at the start",
                       words.peek(), context.block_size, context.most_bytes);
    }
    words.take();
    action.number = *size;
    return {};
}

Result<void> async_arguments(Words& words, Action& action, const Setting& /*setting*/) {
    if (!words.take("logout")) {
        return words.expected("logout");
    }
    action.duration = kLeaveWithin;
    if (words.peek().find_first_of("0123456789") == 0) {
        const auto duration = parse_duration(words.peek());
        if (!duration) {
            return words.expected("a duration such as 2s");
        }
        words.take();
        action.duration = *duration;
    }
    return {};
}

Result<void> identity_argument(Words& words, Action& action, const Setting& /*setting*/) {
    if (words.done()) {
        return words.expected("a text to derive the identity from");
    }
    action.word = words.take();
    return {};
}

// What stands before an action, and what behind it.
enum Allowed : unsigned {
    kNothing = 0,
    kGroup = 1U << 0,
    kController = 1U << 1,
    kQueue = 1U << 2,
    kCommand = 1U << 3,
    kCount = 1U << 4,
    kStatusBits = 1U << 5,
    kNvmeOnly = 1U << 6,
    kIscsiOnly = 1U << 7,
    kConnections = kController | kQueue,
    kCommands = kConnections | kGroup | kCommand | kCount,
};

struct ActionName {
    std::string_view name;
    ActionKind kind;
    Arguments arguments;
    unsigned allowed;
    bool lasts;
    std::string_view command; ///< what it is about if no command is named; empty: everything
    std::string_view form;
    std::string_view text;
};

constexpr std::array kActions = {
    ActionName{"ana", ActionKind::ana, ana_arguments, kGroup, true, "", "ana STATE [no-event]",
               "ANA state; hosts are sent an event unless no-event is said"},
    ActionName{"drop", ActionKind::drop, no_arguments, kConnections, false, "", "drop",
               "reset the connections (RST)"},
    ActionName{"close", ActionKind::close, no_arguments, kConnections, false, "", "close",
               "close the connections in order (FIN)"},
    ActionName{"refuse-connects", ActionKind::refuse_connects, no_arguments, kNothing, true, "",
               "refuse-connects", "connection attempts are refused (ECONNREFUSED)"},
    ActionName{"down", ActionKind::down, no_arguments, kNothing, true, "", "down",
               "drop and refuse-connects in one"},
    ActionName{"reject-connects", ActionKind::reject_connects, reject_arguments,
               kQueue | kCount | kStatusBits, true, "connect", "reject-connects [STATUS]",
               "Connect commands are answered with this status (default: connect-busy)"},
    ActionName{"stall-reading", ActionKind::stall_reading, no_arguments, kConnections, true, "",
               "stall-reading", "nothing is read from the sockets; what came is taken up afterwards"},
    ActionName{"stall-writing", ActionKind::stall_writing, no_arguments, kConnections, true, "",
               "stall-writing", "nothing is sent; it is afterwards"},
    ActionName{"mute", ActionKind::mute, no_arguments, kCommands, true, "", "mute",
               "commands are carried out and never answered, not later either"},
    ActionName{"delay", ActionKind::delay, duration_argument, kCommands, true, "io", "delay DURATION",
               "I/O commands are carried out that much later"},
    ActionName{"fail", ActionKind::fail, status_argument, kCommands | kStatusBits, true, "io", "fail STATUS",
               "commands are not carried out but answered with this status"},
    ActionName{"busy", ActionKind::fail, busy_arguments, kCommands | kStatusBits, true, "io", "busy",
               "fail namespace-not-ready"},
    ActionName{"flip", ActionKind::flip_header, flip_arguments, kCommands, true, "io", "flip header|data",
               "a bit of the next answer's PDU header or data is wrong, behind the digest's back"},
    ActionName{"split", ActionKind::split, bytes_argument, kConnections, true, "", "split N",
               "N bytes are sent at a time"},
    ActionName{"split-data", ActionKind::split_data, bytes_argument, kConnections, true, "", "split-data N",
               "C2HData PDUs have at most N bytes of data"},
    ActionName{"reorder", ActionKind::reorder, no_arguments, kConnections, true, "", "reorder",
               "answers leave in random order, the data of several reads by turns"},
    ActionName{"lie", ActionKind::lie, lie_arguments, kCommands | kNvmeOnly, true, "io", "lie WHAT",
               "do wrong what --break knows to the next command, or say something impossible in the ANA log"},
    ActionName{"resize", ActionKind::resize, resize_argument, kGroup, false, "", "resize SIZE",
               "the namespaces' size, for all listeners; hosts of these are sent an event"},
    ActionName{"remove", ActionKind::remove, no_arguments, kGroup, true, "", "remove",
               "the namespaces are gone; hosts are sent an event"},
    ActionName{"identity", ActionKind::identity, identity_argument, kNothing, true, "", "identity TEXT",
               "the namespaces are other ones, with the identities that --device-id TEXT gives"},
    ActionName{"fatal", ActionKind::fatal, no_arguments, kController | kNvmeOnly, false, "", "fatal",
               "controllers say that they have failed (CSTS.CFS)"},
    ActionName{"reset", ActionKind::reset, no_arguments, kController | kNvmeOnly, false, "", "reset",
               "controllers reset themselves: I/O queues are gone, the admin queue stays, disabled"},
    ActionName{
        "hold-writes", ActionKind::hold_writes, hold_arguments, kCommands, true, "write",
        "hold-writes [DURATION]",
        "writes are not answered, and carried out that long (default 2s) after their connection is lost"},
    ActionName{"async", ActionKind::async_logout, async_arguments, kController | kIscsiOnly, false, "",
               "async logout [DURATION]",
               "iSCSI initiators are asked to log out, and dropped if they have not after DURATION (3s)"},
    ActionName{"ping", ActionKind::ping, no_arguments, kController | kIscsiOnly, false, "", "ping",
               "iSCSI initiators are sent a NOP-In that wants an answer"},
    ActionName{"heal", ActionKind::heal, no_arguments, kNothing, false, "", "heal",
               "everything is as at the start; sizes stay"},
};

std::string action_names() {
    std::string names;
    for (const ActionName& known : kActions) {
        names += names.empty() ? "" : ", ";
        names += known.name;
    }
    return names;
}

Result<void> check_spoken(const ActionName& known, const Spoken& spoken, const Scope& scope) {
    if ((known.allowed & kNvmeOnly) != 0 && spoken.iscsi) {
        return failure(EINVAL, "{} is for NVMe/TCP, and a listener named here speaks iSCSI", known.name);
    }
    if ((known.allowed & kIscsiOnly) != 0 && spoken.nvme) {
        return failure(EINVAL, "{} is for iSCSI, and a listener named here speaks NVMe/TCP", known.name);
    }
    if (scope.queue != kNoQueue && spoken.iscsi && !spoken.nvme) {
        return failure(EINVAL, "an iSCSI session has no queues, name the session instead: 'session N'");
    }
    const CommandFilter* command = scope.command;
    if (command != nullptr && ((spoken.nvme && !command->is_known_to_nvme() && !spoken.iscsi) ||
                               (spoken.iscsi && !command->is_known_to_iscsi() && !spoken.nvme))) {
        return failure(EINVAL, "{} has no command '{}'", spoken.nvme ? "NVMe" : "iSCSI", command->name);
    }
    return {};
}

Result<void> check_scope(const ActionName& known, const Scope& scope) {
    const auto wrong = [&](bool named, unsigned bit) { return named && (known.allowed & bit) == 0; };
    const char* what = wrong(scope.group != 0, kGroup)             ? "group"
                       : wrong(scope.controller != 0, kController) ? "controller"
                       : wrong(scope.queue != kNoQueue, kQueue)    ? "queue"
                       : wrong(scope.command != nullptr, kCommand) ? "command"
                                                                   : nullptr;
    if (what != nullptr) {
        return failure(EINVAL, "{} can't be told for one {}, leave '{}' out", known.name, what, what);
    }
    return {};
}

Result<void> parse_modifiers(Words& words, const ActionName& known, const Spoken& spoken, Action& action) {
    for (;;) {
        if (spoken.iscsi && !spoken.nvme && (words.peek() == "dnr" || words.peek() == "crd")) {
            return failure(EINVAL, "'{}' is for NVMe/TCP, and the listeners named here speak iSCSI",
                           words.peek());
        }
        if ((known.allowed & kStatusBits) != 0 && words.take("dnr")) {
            action.status.field |= nvme::Status::kDoNotRetry;
        } else if ((known.allowed & kStatusBits) != 0 && words.take("crd")) {
            const auto index = words.take_number<std::uint8_t>("1, 2 or 3: which of --crdt's delays");
            if (!index || *index > 3) {
                return index ? failure(EINVAL, "crd {} is none, there are 1, 2 and 3", *index)
                             : tl::unexpected(index.error());
            }
            action.status.field = static_cast<std::uint16_t>(action.status.field | *index << 11);
        } else if ((known.allowed & kCount) != 0 && words.take("count")) {
            const auto count = words.take_number<std::uint32_t>("how many commands, from 1");
            if (!count) {
                return tl::unexpected(count.error());
            }
            action.count = *count;
        } else {
            return {};
        }
    }
}

} // namespace

Result<Action> parse_action(Words& words, const ScriptContext& context, const Spoken& spoken,
                            const Scope& scope) {
    const std::size_t place = words.place();
    const auto* known = std::find_if(kActions.begin(), kActions.end(),
                                     [&](const ActionName& each) { return each.name == words.peek(); });
    if (known == kActions.end()) {
        return words.expected("an action (" + action_names() + ")");
    }
    words.take();
    Action action;
    action.kind = known->kind;
    auto fine = check_spoken(*known, spoken, scope);
    if (fine) {
        fine = known->arguments(words, action, {context, spoken});
    }
    if (fine) {
        fine = check_scope(*known, scope);
    }
    if (fine) {
        fine = parse_modifiers(words, *known, spoken, action);
    }
    if (!fine) {
        return tl::unexpected(fine.error());
    }
    const std::string_view usual = action.kind == ActionKind::lie_ana ? "ana-log" : known->command;
    action.usual_command = find_command_filter(usual);
    action.text = words.since(place);
    return action;
}

bool lasts(ActionKind kind) {
    return std::any_of(kActions.begin(), kActions.end(),
                       [kind](const ActionName& known) { return known.kind == kind && known.lasts; }) ||
           kind == ActionKind::flip_data || kind == ActionKind::lie_ana;
}

std::string describe_actions() {
    std::string text;
    for (const ActionName& known : kActions) {
        text += fmt::format("  {:<24}{}\n", known.form, known.text);
    }
    return text;
}

} // namespace mpath::target
