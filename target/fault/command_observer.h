// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "base/clock.h"
#include "target/fault/command_filter.h"

namespace mpath::target {

struct Listener;

/// Is told of each I/O command before anything is done about it.
class CommandObserver {
public:
    CommandObserver() = default;
    CommandObserver(const CommandObserver&) = delete;
    CommandObserver& operator=(const CommandObserver&) = delete;
    virtual ~CommandObserver() = default;

    virtual void command_arrives(const Listener& listener, const Subject& subject, Nanoseconds now) = 0;
};

} // namespace mpath::target
