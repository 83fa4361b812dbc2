// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "base/result.h"
#include "target/fault/action.h"
#include "target/fault/script.h"
#include "target/fault/words.h"

namespace mpath::target {

/// The action that the next words are. `scope`: of the statement, which has to be one that the action can
/// have. `spoken`: by its listeners, which have to know the action.
Result<Action> parse_action(Words& words, const ScriptContext& context, const Spoken& spoken,
                            const Scope& scope);

/// Whether it lasts, and so can end.
bool lasts(ActionKind kind);

} // namespace mpath::target
