// SPDX-License-Identifier: GPL-2.0-only
#include "target/iscsi/node.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace mpath::target::scsi {

namespace {

// Addressing methods of SAM-5, the upper two bits of a LUN.
constexpr unsigned kPeripheral = 0;
constexpr unsigned kFlat = 1;
constexpr std::uint32_t kFirstFlat = 256;

} // namespace

std::uint32_t nsid_of(const iscsi::Lun& lun) {
    const unsigned method = lun[0] >> 6;
    const bool single_level =
        std::all_of(lun.begin() + 2, lun.end(), [](std::uint8_t byte) { return byte == 0; });
    if (!single_level || method > kFlat || (method == kPeripheral && lun[0] != 0)) {
        return 0;
    }
    return ((std::uint32_t{lun[0]} & 0x3f) << 8 | lun[1]) + 1;
}

iscsi::Lun lun_of(std::uint32_t nsid) {
    const std::uint32_t number = nsid - 1;
    iscsi::Lun lun{};
    lun[0] = static_cast<std::uint8_t>(number < kFirstFlat ? 0 : kFlat << 6 | number >> 8);
    lun[1] = static_cast<std::uint8_t>(number);
    return lun;
}

std::uint16_t Node::tag_of(const Listener& portal) const {
    return static_cast<std::uint16_t>(std::find(portals_.begin(), portals_.end(), &portal) -
                                      portals_.begin() + 1);
}

std::shared_ptr<Session> Node::open_session(InitiatorPort port, bool discovery, Listener& listener,
                                            const Terms& terms) {
    for (const auto& session : sessions_) {
        if (session->port() == port && &session->listener() == &listener &&
            session->is_discovery() == discovery) {
            session->end();
        }
    }
    sweep();
    if (sessions_.size() >= options().controllers * std::size_t{options().io_queues}) {
        return nullptr;
    }
    do {
        last_tsih_ = last_tsih_ == std::numeric_limits<std::uint16_t>::max()
                         ? 1
                         : static_cast<std::uint16_t>(last_tsih_ + 1);
    } while (has_session(last_tsih_));
    auto session = sessions_.emplace_back(std::make_shared<Session>(
        last_tsih_, std::move(port), discovery, listener, terms, subsystem_.namespace_count()));
    if (options().iscsi.power_on_attention) {
        session->raise_all(Attention::power_on);
    }
    return session;
}

bool Node::has_session(std::uint16_t tsih) const {
    return std::any_of(sessions_.begin(), sessions_.end(),
                       [tsih](const auto& session) { return session->tsih() == tsih && !session->ended(); });
}

std::size_t Node::sessions_of(const Listener& listener) const {
    return static_cast<std::size_t>(
        std::count_if(sessions_.begin(), sessions_.end(), [&](const auto& session) {
            return &session->listener() == &listener && !session->ended() && !session->is_discovery();
        }));
}

void Node::sweep() {
    std::erase_if(sessions_, [](const auto& session) { return session->ended(); });
}

std::string Node::targets_text(std::string_view which, const std::string& local) const {
    std::string text;
    if (which != "All" && !which.empty() && which != options().iscsi.name) {
        return text;
    }
    append_key(text, "TargetName", options().iscsi.name);
    for (const Listener* portal : portals_) {
        const std::string& own = portal->options.address;
        const bool everywhere = own == "0.0.0.0" || own == "::";
        const std::string address =
            everywhere ? fmt::format("{}:{}", local, portal->options.port) : portal->address;
        append_key(text, "TargetAddress", fmt::format("{},{}", address, tag_of(*portal)));
    }
    return text;
}

} // namespace mpath::target::scsi
