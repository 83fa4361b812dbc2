// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>

#include "base/duration.h"
#include "target/fault/action_parser.h"
#include "target/fault/script.h"
#include "target/fault/words.h"
#include "target/options.h"

namespace mpath::target {

namespace {

/// "2s" or "1s..3s"
Result<DurationRange> take_durations(Words& words) {
    const std::string_view word = words.peek();
    const std::size_t dots = word.find("..");
    const auto least = parse_duration(word.substr(0, dots));
    const auto most = dots == std::string_view::npos ? least : parse_duration(word.substr(dots + 2));
    if (!least || !most || *least > *most) {
        return words.expected("a time such as 500ms, or two such as 1s..3s");
    }
    words.take();
    return DurationRange{*least, *most};
}

std::optional<Counted> counted_of(std::string_view word) {
    if (word == "commands" || word == "command") {
        return Counted::commands;
    }
    if (word == "reads" || word == "read") {
        return Counted::reads;
    }
    if (word == "writes" || word == "write") {
        return Counted::writes;
    }
    return std::nullopt;
}

Result<void> take_count(Words& words, When& when) {
    const auto number = words.take_number<std::uint64_t>("a number from 1");
    if (!number) {
        return tl::unexpected(number.error());
    }
    const auto counted = counted_of(words.peek());
    if (!counted) {
        return words.expected("commands, reads or writes");
    }
    words.take();
    when.commands = *number;
    when.counted = *counted;
    return {};
}

Result<void> take_every(Words& words, When& when) {
    if (counted_of(words.peek(1))) {
        when.repeats = true;
        return take_count(words, when);
    }
    return take_durations(words).map([&](DurationRange period) { when.every = period; });
}

Result<void> take_when(Words& words, When& when) {
    Result<void> fine;
    if (words.take("after")) {
        fine = take_count(words, when);
    } else {
        if (words.take("at")) {
            fine = take_durations(words).map([&](DurationRange time) { when.at = time; });
        }
        if (fine && words.take("every")) {
            fine = take_every(words, when);
        }
    }
    if (!fine) {
        return fine;
    }
    if (when.at && when.commands != 0) {
        return failure(EINVAL, "'at' takes a time and 'every' counts commands, write two statements");
    }
    if (when.every && when.every->least == 0) {
        return failure(EINVAL, "'every' needs a time above 0");
    }
    if (words.take("times")) {
        const auto times = words.take_number<std::uint32_t>("how many times, from 1");
        if (!times) {
            return tl::unexpected(times.error());
        }
        if (!when.every && !when.repeats) {
            return failure(EINVAL, "'times' is for what happens every so often, add 'every'");
        }
        when.times = *times;
    }
    return {};
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        text += text.empty() ? "" : ", ";
        text += name;
    }
    return text;
}

Result<void> take_listeners(Words& words, const ScriptContext& context, Statement& statement) {
    if (words.done()) {
        return words.expected("a listener's name, several joined by '+', all or any");
    }
    std::string_view rest = words.take();
    if (rest == "any") {
        statement.any = true;
        rest = words.take("of") ? words.take() : "all";
    }
    if (rest == "all") {
        for (std::size_t i = 0; i < context.listeners.size(); ++i) {
            statement.listeners.push_back(i);
        }
        return {};
    }
    for (bool more = true; more;) {
        const std::size_t plus = rest.find('+');
        const std::string_view name = rest.substr(0, plus);
        const auto found = std::find(context.listeners.begin(), context.listeners.end(), name);
        if (found == context.listeners.end()) {
            return failure(EINVAL, "no listener is named '{}', there are {}", name,
                           joined(context.listeners));
        }
        statement.listeners.push_back(static_cast<std::size_t>(found - context.listeners.begin()));
        more = plus != std::string_view::npos;
        rest.remove_prefix(more ? plus + 1 : rest.size());
    }
    return {};
}

Result<void> take_command(Words& words, Scope& scope) {
    const std::string_view word = words.peek();
    const std::size_t slash = word.find('/');
    scope.command = find_command_filter(word.substr(0, slash));
    if (scope.command == nullptr) {
        return words.expected("a kind of command (" + command_filter_names() + ")");
    }
    if (slash != std::string_view::npos) {
        Words number(word.substr(slash + 1));
        const auto nth = number.take_number<std::uint32_t>("the how manyth command behind '/', from 1");
        if (!nth) {
            return tl::unexpected(nth.error());
        }
        scope.nth = *nth;
    }
    words.take();
    return {};
}

template <typename T>
Result<void> take_into(Words& words, std::string_view what, std::uint64_t least, T& value) {
    return words.take_number<T>(what, least).map([&](T number) { value = number; });
}

Result<void> take_scope(Words& words, const ScriptContext& context, Scope& scope) {
    Result<void> fine;
    while (fine) {
        if (words.take("group")) {
            fine = take_into(words, "an ANA group's number from 1", 1, scope.group);
            if (fine && scope.group > context.groups) {
                return failure(EINVAL, "there is no ANA group {}, there are 1 to {}", scope.group,
                               context.groups);
            }
        } else if (words.take("controller")) {
            fine = take_into(words, "a controller's ID from 1", 1, scope.controller);
        } else if (words.take("session")) {
            fine = take_into(words, "a session's number (TSIH) from 1", 1, scope.controller);
        } else if (words.take("queue")) {
            std::uint16_t queue = 0;
            fine = take_into(words, "a queue's ID from 0, the admin queue", 0, queue);
            scope.queue = queue;
        } else if (words.take("command")) {
            fine = take_command(words, scope);
        } else {
            return {};
        }
    }
    return fine;
}

Spoken spoken_by(const std::vector<std::size_t>& listeners, const ScriptContext& context) {
    Spoken spoken;
    for (const std::size_t position : listeners) {
        const bool iscsi =
            position < context.protocols.size() && context.protocols[position] == Protocol::iscsi;
        (iscsi ? spoken.iscsi : spoken.nvme) = true;
    }
    return spoken;
}

Result<void> take_actions(Words& words, const ScriptContext& context, Statement& statement) {
    const Spoken spoken = spoken_by(statement.listeners, context);
    do {
        auto action = parse_action(words, context, spoken, statement.scope);
        if (!action) {
            return tl::unexpected(action.error());
        }
        if (statement.duration && !lasts(action->kind)) {
            return failure(EINVAL, "'{}' is over at once, leave 'for' out", action->text);
        }
        statement.actions.push_back(std::move(*action));
    } while (words.take("or"));
    return words.done() ? Result<void>() : words.expected("the end of the statement");
}

Result<Statement> parse_statement(Words& words, const ScriptContext& context) {
    Statement statement;
    if (words.take("status")) {
        statement.kind = Statement::Kind::status;
    } else if (words.take("forget")) {
        statement.kind = Statement::Kind::forget;
    } else if (words.take("seed")) {
        statement.kind = Statement::Kind::seed;
        auto seed = take_into(words, "a number from 0", 0, statement.seed);
        if (!seed) {
            return tl::unexpected(seed.error());
        }
    }
    if (statement.kind != Statement::Kind::fault) {
        return words.done() ? Result<Statement>(statement) : words.expected("the end of the statement");
    }
    auto fine = take_when(words, statement.when);
    if (fine && words.take("for")) {
        fine = take_durations(words).map([&](DurationRange duration) { statement.duration = duration; });
    }
    if (fine && !words.take("on")) {
        fine = words.expected("at, every, after, for or on");
    }
    if (fine) {
        fine = take_listeners(words, context, statement);
    }
    if (fine) {
        fine = take_scope(words, context, statement.scope);
    }
    if (fine) {
        fine = take_actions(words, context, statement);
    }
    if (!fine) {
        return tl::unexpected(fine.error());
    }
    return statement;
}

} // namespace

Result<std::vector<Statement>> parse_script(std::string_view text, std::string_view name,
                                            const ScriptContext& context) {
    std::vector<Statement> statements;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        Words words(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (words.done()) {
            continue;
        }
        auto statement = parse_statement(words, context);
        if (!statement) {
            return failure_in(fmt::format("{}:{}", name, number), statement.error());
        }
        statements.push_back(std::move(*statement));
    }
    return statements;
}

} // namespace mpath::target
