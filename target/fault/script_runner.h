// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "base/clock.h"
#include "target/fault/command_observer.h"
#include "target/fault/fault_injector.h"
#include "target/fault/script.h"

namespace mpath::target {

/// Has the statements of scripts act when their time or their command comes, and ends what they were to do
/// for some time. Time is told, not read.
class ScriptRunner : public CommandObserver {
public:
    explicit ScriptRunner(FaultInjector& injector, std::uint64_t seed)
        : injector_(injector), generator_(seed) {}

    /// Those that are to act at once do. `status` is not its business.
    void load(const std::vector<Statement>& statements, Nanoseconds now);

    /// Does what is due.
    void run(Nanoseconds now);
    /// When run() is needed next; the end of time if nothing is due by time.
    [[nodiscard]] Nanoseconds next_due() const;

    /// Whether command_arrives() has to be called.
    [[nodiscard]] bool watches_commands() const { return watches_commands_; }
    void command_arrives(const Listener& listener, const Subject& subject, Nanoseconds now) override;

    /// Statements that will act yet.
    [[nodiscard]] std::size_t waiting() const { return entries_.size(); }
    /// Times that a statement has acted.
    [[nodiscard]] std::uint64_t acted_times() const { return acted_times_; }

private:
    static constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

    struct Entry {
        Statement statement;
        bool started = false; ///< the first command has come
        Nanoseconds due = kNever;
        std::uint64_t seen = 0; ///< commands that count
        std::uint32_t acted = 0;
        bool over = false;
    };
    struct Ending {
        Nanoseconds due;
        Activation activation;
        Action action;
        std::vector<std::size_t> listeners;
    };

    void act(const Statement& statement, Nanoseconds due, Nanoseconds now);
    void acted(Entry& entry);
    void counts(Entry& entry, const Listener& listener, const Subject& subject, Nanoseconds now);
    bool end_one(Nanoseconds now);
    bool begin_one(Nanoseconds now);
    void tidy();
    Nanoseconds pick(const DurationRange& range);
    std::size_t pick(std::size_t count);

    FaultInjector& injector_;
    std::mt19937_64 generator_;
    std::vector<Entry> entries_;
    std::vector<Ending> endings_;
    Activation last_activation_ = 0;
    std::uint64_t acted_times_ = 0;
    bool watches_commands_ = false;
};

} // namespace mpath::target
