// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "target/fault/action.h"

namespace mpath::target {

/// One firing of a statement that ends; 0: of one that lasts until it is healed.
using Activation = std::uint64_t;

/// What is wrong with a listener just now.
class Faults {
public:
    /// Nothing is, and nothing has to be asked.
    [[nodiscard]] bool empty() const { return active_.empty(); }

    /// One without an end takes the place of another of its kind and scope.
    void add(const Action& action, const Scope& scope, Activation activation);
    /// Takes away what came with this activation.
    void end(Activation activation);
    void clear() { active_.clear(); }

    /// The newest of a kind that is about this; nullptr: there is none. Good until the next add() or end().
    [[nodiscard]] const Action* find(ActionKind kind, const Subject& subject) const;
    /// The same for one that counts the commands it is done to: this was one.
    const Action* take(ActionKind kind, const Subject& subject);
    /// The same, if its action is also one of these.
    template <typename Suits>
    const Action* take_if(ActionKind kind, const Subject& subject, Suits&& suits) {
        for (auto fault = active_.rbegin(); fault != active_.rend(); ++fault) {
            if (is_about(*fault, kind, subject) && suits(fault->action) && counts(*fault)) {
                return &fault->action;
            }
        }
        return nullptr;
    }
    [[nodiscard]] bool has(ActionKind kind) const;
    /// Whether there is one of a namespace's group that is `kind`.
    [[nodiscard]] bool has_for_group(ActionKind kind, std::uint32_t group) const;

    /// The texts of all, "mute, delay 5ms".
    [[nodiscard]] std::string describe() const;

private:
    struct ActiveFault {
        Action action;
        Scope scope;
        Activation activation = 0;
        std::uint32_t to_skip = 0;
        std::uint32_t left = 0; ///< 0: no limit
        bool spent = false;
    };

    static bool is_about(const ActiveFault& fault, ActionKind kind, const Subject& subject);
    static bool counts(ActiveFault& fault);

    std::vector<ActiveFault> active_;
};

} // namespace mpath::target
