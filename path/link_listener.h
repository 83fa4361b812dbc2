// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "path/state.h"

namespace mpath {

/// Hears of a path from what looks after it: an NVMe association's admin queue, an iSCSI control session.
/// Called on the reactor's thread, from its run, or from the start() it was given to.
class LinkListener {
public:
    LinkListener() = default;
    LinkListener(const LinkListener&) = delete;
    LinkListener& operator=(const LinkListener&) = delete;
    virtual ~LinkListener() = default;

    /// The path's group has entered another state than the one last reported, at first PathFacts::state. Or
    /// refresh_state() asked: then the state is told even if it is the same, or could not be read. `name`:
    /// what the protocol calls it, where that is another word ("standby"); otherwise empty.
    virtual void on_path_state(PathState state, std::string_view name) noexcept = 0;
    /// The device was resized, and the facts' limits have what is true now; or it was removed, exchanged or
    /// formatted, and on_lost() follows.
    virtual void on_device_changed(std::string text) noexcept = 0;
    /// Something worth a line in the record: an asynchronous event, a log or answer that was refused.
    virtual void on_event(std::string text) noexcept = 0;
    /// The path is gone, without our doing; nothing follows. Connections that carry I/O notice on their own
    /// or not at all: close them.
    virtual void on_lost(const Error& error) noexcept = 0;
};

} // namespace mpath
