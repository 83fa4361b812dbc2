// SPDX-License-Identifier: GPL-2.0-only
#include "target/fault/script_runner.h"

#include <algorithm>

namespace mpath::target {

namespace {

bool is_counted(Counted counted, const Subject& subject) {
    if (counted == Counted::commands) {
        return true;
    }
    return find_command_filter(counted == Counted::reads ? "read" : "write")->matches(subject);
}

} // namespace

// Not a std:: distribution: those may differ from library to library, and a seed should not.
Nanoseconds ScriptRunner::pick(const DurationRange& range) {
    const Nanoseconds width = range.most - range.least;
    return width == 0 ? range.least : range.least + generator_() % (width + 1);
}

std::size_t ScriptRunner::pick(std::size_t count) {
    return count == 1 ? 0 : generator_() % count;
}

void ScriptRunner::load(const std::vector<Statement>& statements, Nanoseconds now) {
    for (const Statement& statement : statements) {
        switch (statement.kind) {
        case Statement::Kind::forget:
            entries_.clear();
            break;
        case Statement::Kind::seed:
            generator_.seed(statement.seed);
            break;
        case Statement::Kind::fault:
            if (statement.when.at_once()) {
                act(statement, now, now);
            } else {
                entries_.push_back({.statement = statement});
            }
            break;
        default:
            break;
        }
    }
    tidy();
}

void ScriptRunner::act(const Statement& statement, Nanoseconds due, Nanoseconds now) {
    const Action& action = statement.actions[pick(statement.actions.size())];
    std::vector<std::size_t> listeners = statement.listeners;
    if (statement.any) {
        listeners = {statement.listeners[pick(statement.listeners.size())]};
    }
    const Activation activation = statement.duration ? ++last_activation_ : 0;
    if (statement.duration) {
        endings_.push_back({due + pick(*statement.duration), activation, action, listeners});
    }
    ++acted_times_;
    for (const std::size_t position : listeners) {
        injector_.begin(injector_.listener(position), action, statement.scope, activation, now);
    }
}

void ScriptRunner::acted(Entry& entry) {
    ++entry.acted;
    const When& when = entry.statement.when;
    entry.over = (!when.every && !when.repeats) || (when.times != 0 && entry.acted == when.times);
    entry.due = entry.over || !when.every ? kNever : entry.due + pick(*when.every);
}

bool ScriptRunner::end_one(Nanoseconds now) {
    const auto first = std::min_element(endings_.begin(), endings_.end(),
                                        [](const Ending& a, const Ending& b) { return a.due < b.due; });
    if (first == endings_.end() || first->due > now) {
        return false;
    }
    const Ending ending = std::move(*first);
    endings_.erase(first);
    for (const std::size_t position : ending.listeners) {
        injector_.end(injector_.listener(position), ending.action, ending.activation, now);
    }
    return true;
}

bool ScriptRunner::begin_one(Nanoseconds now) {
    const auto first = std::min_element(entries_.begin(), entries_.end(),
                                        [](const Entry& a, const Entry& b) { return a.due < b.due; });
    if (first == entries_.end() || first->due > now) {
        return false;
    }
    const Nanoseconds due = first->due;
    acted(*first);
    const Statement statement = first->statement;
    act(statement, due, now);
    return true;
}

/// In the order of time; what ends at the same time as something begins does so first.
void ScriptRunner::run(Nanoseconds now) {
    for (bool more = true; more;) {
        Nanoseconds next_beginning = kNever;
        for (const Entry& entry : entries_) {
            next_beginning = std::min(next_beginning, entry.due);
        }
        more = end_one(std::min(now, next_beginning)) || begin_one(now);
    }
    tidy();
}

Nanoseconds ScriptRunner::next_due() const {
    Nanoseconds next = kNever;
    for (const Entry& entry : entries_) {
        next = std::min(next, entry.due);
    }
    for (const Ending& ending : endings_) {
        next = std::min(next, ending.due);
    }
    return next;
}

void ScriptRunner::counts(Entry& entry, const Listener& listener, const Subject& subject, Nanoseconds now) {
    const Statement& statement = entry.statement;
    const bool is_its =
        std::any_of(statement.listeners.begin(), statement.listeners.end(),
                    [&](std::size_t position) { return &injector_.listener(position) == &listener; });
    if (!is_its || !statement.scope.covers(subject) || !is_counted(statement.when.counted, subject)) {
        return;
    }
    // The command after the last counted one is the first that finds it done.
    if (entry.seen == statement.when.commands) {
        entry.seen = 0;
        acted(entry);
        act(statement, now, now);
    }
    ++entry.seen;
}

void ScriptRunner::command_arrives(const Listener& listener, const Subject& subject, Nanoseconds now) {
    for (Entry& entry : entries_) {
        const When& when = entry.statement.when;
        if (when.commands != 0) {
            if (!entry.over) {
                counts(entry, listener, subject, now);
            }
        } else if (!entry.started) {
            entry.due = now + pick(when.at ? *when.at : *when.every);
        }
        entry.started = true;
    }
    run(now);
}

void ScriptRunner::tidy() {
    std::erase_if(entries_, [](const Entry& entry) { return entry.over; });
    watches_commands_ = std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
        return !entry.started || entry.statement.when.commands != 0;
    });
}

} // namespace mpath::target
