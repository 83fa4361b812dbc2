// SPDX-License-Identifier: GPL-2.0-only
// The language of fault scripts: text in, statements out. docs/target.md explains it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "target/fault/action.h"

namespace mpath::target {

/// A duration, or any between two.
struct DurationRange {
    Nanoseconds least = 0;
    Nanoseconds most = 0;
};

/// What the numbers of `after` and `every` count.
enum class Counted : std::uint8_t { commands, reads, writes };

/// When a statement acts. Without any of these: at once.
struct When {
    std::optional<DurationRange> at;    ///< from the first I/O command after the script was loaded
    std::optional<DurationRange> every; ///< from `at` or, without it, one period after that command
    std::uint64_t commands = 0;         ///< when so many have come; 0: time decides
    Counted counted = Counted::commands;
    bool repeats = false;    ///< each time that so many have come
    std::uint32_t times = 0; ///< at most; 0 = no limit

    [[nodiscard]] bool at_once() const { return !at && !every && commands == 0; }
};

struct Statement {
    enum class Kind : std::uint8_t { fault, status, forget, seed };

    Kind kind = Kind::fault;
    When when;
    std::optional<DurationRange> duration;
    std::vector<std::size_t> listeners; ///< by position
    bool any = false;                   ///< one of the listeners, another one each time
    Scope scope;
    std::vector<Action> actions; ///< one of them, another one each time
    std::uint64_t seed = 0;
};

/// What the listeners that a statement names speak.
struct Spoken {
    bool nvme = false;
    bool iscsi = false;
};

/// What a script may speak of.
struct ScriptContext {
    std::vector<std::string> listeners; ///< names
    std::vector<Protocol> protocols{};  ///< of the listeners; missing ones speak NVMe/TCP
    std::uint32_t groups = 1;           ///< ANA groups are 1 to this
    std::uint32_t block_size = 4096;    ///< of the namespaces, bytes
    std::uint64_t most_bytes = 0;       ///< a namespace can grow to
};

/// All statements of a text, or what is wrong with the first bad one: "NAME:LINE: ...".
Result<std::vector<Statement>> parse_script(std::string_view text, std::string_view name,
                                            const ScriptContext& context);

/// A line for each action: how it is written and what it does.
std::string describe_actions();

} // namespace mpath::target
