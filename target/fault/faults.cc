// SPDX-License-Identifier: GPL-2.0-only
#include "target/fault/faults.h"

#include <algorithm>

namespace mpath::target {

void Faults::add(const Action& action, const Scope& scope, Activation activation) {
    const bool takes_place = activation == 0 && action.count == 0 && scope.nth == 0;
    std::erase_if(active_, [&](const ActiveFault& fault) {
        return fault.spent || (takes_place && fault.activation == 0 && fault.left == 0 &&
                               fault.action.kind == action.kind && fault.scope == scope);
    });
    ActiveFault fault{.action = action, .scope = scope, .activation = activation, .left = action.count};
    if (scope.nth != 0) {
        fault.to_skip = scope.nth - 1;
        fault.left = std::max(1U, action.count);
    }
    active_.push_back(std::move(fault));
}

void Faults::end(Activation activation) {
    std::erase_if(active_, [activation](const ActiveFault& fault) { return fault.activation == activation; });
}

bool Faults::is_about(const ActiveFault& fault, ActionKind kind, const Subject& subject) {
    return fault.action.kind == kind && !fault.spent && fault.scope.covers(subject);
}

bool Faults::counts(ActiveFault& fault) {
    if (fault.to_skip != 0) {
        --fault.to_skip;
        return false;
    }
    fault.spent = fault.left == 1;
    fault.left -= fault.left != 0 ? 1 : 0;
    return true;
}

const Action* Faults::find(ActionKind kind, const Subject& subject) const {
    for (auto fault = active_.rbegin(); fault != active_.rend(); ++fault) {
        if (is_about(*fault, kind, subject)) {
            return &fault->action;
        }
    }
    return nullptr;
}

const Action* Faults::take(ActionKind kind, const Subject& subject) {
    return take_if(kind, subject, [](const Action&) { return true; });
}

bool Faults::has(ActionKind kind) const {
    return std::any_of(active_.begin(), active_.end(), [kind](const ActiveFault& fault) {
        return !fault.spent && fault.action.kind == kind;
    });
}

bool Faults::has_for_group(ActionKind kind, std::uint32_t group) const {
    return std::any_of(active_.begin(), active_.end(), [=](const ActiveFault& fault) {
        return fault.action.kind == kind && (fault.scope.group == 0 || fault.scope.group == group);
    });
}

std::string Faults::describe() const {
    std::string text;
    for (const ActiveFault& fault : active_) {
        if (!fault.spent) {
            text += (text.empty() ? "" : ", ") + fault.action.text;
        }
    }
    return text;
}

} // namespace mpath::target
