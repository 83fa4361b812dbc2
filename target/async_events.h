// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <deque>
#include <set>

#include "nvme/wire/identify.h"
#include "nvme/wire/log_page.h"

namespace mpath::target {

/// What one host is to be told of, and has not been. NVM Express Base Specification, "Asynchronous Event
/// Request command": only what it enabled; and once it was told, not again until it has read the event's log
/// page (with RAE 0), as it will see there whatever happens until then.
class AsyncEvents {
public:
    /// Value of the Async Event Configuration feature.
    std::uint32_t configuration = 0;

    void ana_changed() { raise(nvme::AsyncEvent::kAnaChanged, nvme::async_event::kAnaChange); }
    void namespace_changed(std::uint32_t nsid) {
        changed_namespaces_.insert(nsid);
        raise(nvme::AsyncEvent::kNamespaceAttributeChanged, nvme::async_event::kNamespaceAttribute);
    }

    [[nodiscard]] bool any() const { return !waiting_.empty(); }
    /// Completion dw0 of the Async Event Request that tells of the oldest one. Precondition: any().
    std::uint32_t take() {
        const std::uint32_t dw0 = waiting_.front();
        waiting_.pop_front();
        return dw0;
    }

    /// For the Changed Namespace List: what has changed since it was read last.
    [[nodiscard]] const std::set<std::uint32_t>& changed_namespaces() const { return changed_namespaces_; }
    /// The host has read that log page and cleared its event.
    void log_read(std::uint8_t page) {
        if (page == nvme::log_page::kChangedNamespaces) {
            changed_namespaces_.clear();
            masked_ &= ~nvme::async_event::kNamespaceAttribute;
        } else if (page == nvme::log_page::kAna) {
            masked_ &= ~nvme::async_event::kAnaChange;
        }
    }

private:
    void raise(std::uint32_t dw0, std::uint32_t bit) {
        if ((configuration & bit) != 0 && (masked_ & bit) == 0) {
            masked_ |= bit;
            waiting_.push_back(dw0);
        }
    }

    std::deque<std::uint32_t> waiting_;
    std::uint32_t masked_ = 0; ///< bits of the configuration
    std::set<std::uint32_t> changed_namespaces_;
};

} // namespace mpath::target
