// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "iscsi/wire/pdu.h"
#include "iscsi/wire/scsi.h"
#include "tests/unit/iscsi_text/login_fixture.h"
#include "tests/unit/net/scripted_peer.h"

namespace mpath::iscsi::test {

using Bytes = std::vector<std::byte>;

/// How a command is answered.
struct Answer {
    std::uint8_t status = scsi_status::kGood;
    std::uint8_t key = 0; ///< with CHECK CONDITION
    std::uint8_t asc = 0;
    std::uint8_t ascq = 0;
    Bytes data{};
};

/// CHECK CONDITION.
inline Answer sense(std::uint8_t key, std::uint8_t asc, std::uint8_t ascq) {
    return {scsi_status::kCheckCondition, key, asc, ascq, {}};
}
inline Answer data(Bytes bytes) {
    return {scsi_status::kGood, 0, 0, 0, std::move(bytes)};
}

inline const Answer kPowerOn = sense(6, 0x29, 0x00);
inline const Answer kStatesChanged = sense(6, 0x2a, 0x06);
inline const Answer kCapacityChanged = sense(6, 0x2a, 0x09);
inline const Answer kLunsChanged = sense(6, 0x3f, 0x0e);
inline const Answer kInTransition = sense(2, 0x04, 0x0a);
inline const Answer kStandby = sense(2, 0x04, 0x0b);
inline const Answer kInvalidField = sense(5, 0x24, 0x00);
inline const Answer kNoUnit = sense(5, 0x25, 0x00);

Bytes inquiry_data(std::uint8_t peripheral = 0, std::uint8_t tpgs = 1);
/// A page of vital product data.
Bytes vpd(std::uint8_t page, const Bytes& body);
/// VPD 83h of a disk whose NAA 6 ends with `number`; with target port group 2 and relative port 7, unless
/// told otherwise.
Bytes identification(std::uint8_t number, bool group = true);
Bytes capacity_data(std::uint64_t blocks, std::uint32_t block_size = 512);

/// A target with one logical unit as plain data: what a test changes before the initiator connects is what it
/// finds. Serves one connection.
class FakeTarget {
public:
    struct Data {
        Bytes inquiry = inquiry_data();
        std::map<std::uint8_t, Bytes> pages = good_pages();
        Bytes capacity = capacity_data(2048);
        Bytes mode{4, std::byte{0}};
        AluaState state = AluaState::active_optimized;
        std::uint8_t transition_time = 0;       ///< of the extended header, seconds
        std::deque<Answer> attentions;          ///< with the next commands, one each
        std::map<std::uint8_t, Answer> refused; ///< opcodes and what they are answered with
        std::vector<std::uint8_t> silent;       ///< opcodes that are never answered
        bool pings_answered = true;
        bool logout_answered = true;
        /// Asked first for every command; called with lock held.
        std::function<std::optional<Answer>(const Cdb&)> answer;
        bool two_commands = false; ///< are all that it takes before open_window()
    };
    static std::map<std::uint8_t, Bytes> good_pages();

    FakeTarget() : FakeTarget(Data{}) {}
    explicit FakeTarget(Data data);

    [[nodiscard]] const net::SocketAddress& address() const { return peer_.address(); }
    /// Commands with this opcode that have arrived.
    [[nodiscard]] unsigned received(std::uint8_t opcode);
    [[nodiscard]] std::size_t commands();
    [[nodiscard]] unsigned logouts();
    /// Changes what the target is and says from now on.
    void set(const std::function<void(Data&)>& change);
    void send_async(std::uint8_t event, const Answer& sense = {});
    void open_window();
    void close();

private:
    void serve(Wire& wire);
    void log_in(Wire& wire);
    void move_window();
    void take_command(const ScsiCommand& command);
    Answer answer_to(const Cdb& cdb);
    Answer port_groups(bool extended) const;
    void send_response(const ScsiCommand& command, const Answer& answer);
    template <typename Pdu>
    void send_numbered(Pdu pdu, std::string segment = {}) {
        pdu.stat_sn = stat_sn_++;
        pdu.exp_cmd_sn = exp_cmd_sn_;
        pdu.max_cmd_sn = max_cmd_sn_;
        send_pdu(*wire_, pdu, std::move(segment));
    }

    std::mutex mutex_;
    Data data_;
    std::vector<Cdb> commands_;
    unsigned logouts_ = 0;
    std::uint32_t stat_sn_ = 0;
    std::uint32_t exp_cmd_sn_ = 0;
    std::uint32_t max_cmd_sn_ = 0;
    Wire* wire_ = nullptr;
    ScriptedPeer peer_; // last: its thread uses the rest
};

} // namespace mpath::iscsi::test
