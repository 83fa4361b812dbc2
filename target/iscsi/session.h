// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "iscsi/wire/pdu.h"
#include "target/iscsi/negotiation.h"
#include "target/iscsi/outcome.h"
#include "target/listener.h"

namespace mpath::target::scsi {

class TaskSet;

/// What an initiator is to be told of a logical unit by CHECK CONDITION before its next command. In the order
/// they are told.
enum class Attention : std::uint8_t {
    power_on,
    bus_device_reset,
    commands_cleared,
    luns_changed,
    capacity_changed,
    access_state_changed,
};

Outcome outcome_of(Attention attention);

/// Who logs in.
struct InitiatorPort {
    std::string name;
    iscsi::Isid isid{};

    bool operator==(const InitiatorPort&) const = default;
};

/// One session: what an initiator port and a portal have in common (an I_T nexus). It has one connection, and
/// ends with it.
class Session {
public:
    Session(std::uint16_t tsih, InitiatorPort port, bool discovery, Listener& listener, const Terms& terms,
            std::size_t luns)
        : tsih_(tsih), port_(std::move(port)), discovery_(discovery), listener_(listener), terms_(terms),
          attentions_(luns) {}

    [[nodiscard]] std::uint16_t tsih() const { return tsih_; }
    [[nodiscard]] const InitiatorPort& port() const { return port_; }
    [[nodiscard]] bool is_discovery() const { return discovery_; }
    [[nodiscard]] Listener& listener() const { return listener_; }
    [[nodiscard]] const Terms& terms() const { return terms_; }

    /// Its connection has to close.
    void end() { ended_ = true; }
    [[nodiscard]] bool ended() const { return ended_; }

    /// `nsid`: of the logical unit.
    void raise(std::uint32_t nsid, Attention attention) {
        attentions_[nsid - 1] =
            static_cast<std::uint8_t>(attentions_[nsid - 1] | 1U << static_cast<unsigned>(attention));
    }
    void raise_all(Attention attention) {
        for (std::uint32_t nsid = 1; nsid <= attentions_.size(); ++nsid) {
            raise(nsid, attention);
        }
    }
    [[nodiscard]] bool has_attention(std::uint32_t nsid) const { return attentions_[nsid - 1] != 0; }
    /// The first of them, which is told now. Precondition: has_attention().
    Attention take_attention(std::uint32_t nsid);

    TaskSet* tasks = nullptr; ///< of its connection

private:
    std::uint16_t tsih_;
    InitiatorPort port_;
    bool discovery_;
    Listener& listener_;
    Terms terms_;
    bool ended_ = false;
    std::vector<std::uint8_t> attentions_; ///< of each logical unit, a bit for each
};

} // namespace mpath::target::scsi
