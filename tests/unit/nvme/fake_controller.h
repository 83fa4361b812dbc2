// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "nvme/wire/fabrics.h"
#include "nvme/wire/pdu.h"
#include "nvme/wire/status.h"
#include "tests/unit/net/scripted_peer.h"
#include "tests/unit/nvme/ana_log_bytes.h"
#include "tests/unit/nvme/identify_data.h"

namespace mpath::nvme::test {

using net::test::ScriptedPeer;
using net::test::Wire;

/// A controller's admin queue as plain data: what a test changes before the host connects is what the host
/// finds. Serves one admin connection.
class FakeController {
public:
    struct Data {
        std::uint64_t cap = 127 | (1ULL << 37) | (2ULL << 24); ///< MQES, NVM command set, TO of one second
        std::uint32_t vs = make_version(1, 4, 0);
        IdentifyController controller = good_controller();
        IdentifyNamespace name_space = good_namespace(); ///< of NSID 1
        std::vector<std::uint32_t> nsids{1};
        std::vector<std::byte> descriptors;
        std::vector<std::byte> ana_log = ana_log_bytes(1, {{1, 1, {1}}});
        std::uint32_t queues = 0x007f007f;      ///< allotted
        bool ready = true;                      ///< CSTS.RDY follows CC.EN
        bool fatal = false;                     ///< CSTS.CFS follows CC.EN
        bool shuts_down = true;                 ///< CSTS.SHST follows CC.SHN
        std::vector<std::uint8_t> silent;       ///< opcodes that are never answered
        std::map<std::uint8_t, Status> refused; ///< opcodes and what they are answered with
        /// What a Get Log Page (ANA) gives, in place of ana_log; called with lock held, one call per command.
        std::function<std::vector<std::byte>()> next_ana_log;
    };

    explicit FakeController(Data data);

    [[nodiscard]] const net::SocketAddress& address() const { return peer_.address(); }
    /// Commands with this opcode that have arrived.
    [[nodiscard]] unsigned received(std::uint8_t opcode);
    [[nodiscard]] std::uint32_t last_cc();
    [[nodiscard]] std::vector<Sqe> commands();

    /// The ANA log becomes `log`, and an event says so: as soon as it may (one request each, and not before
    /// the log was read without RAE).
    void change_ana(std::vector<std::byte> log);
    /// The same, at the worst moment: the next read of the log still gets the old one, and the event arrives
    /// before it does.
    void change_ana_during_read(std::vector<std::byte> log);
    /// Changes what the controller is and says from now on.
    void set(const std::function<void(Data&)>& change);
    /// An event of any other kind.
    void raise(std::uint32_t dw0);
    void close();

private:
    void serve(Wire& wire);
    void handle(Wire& wire, const Sqe& sqe);
    void handle_fabrics(Wire& wire, const Sqe& sqe);
    void handle_identify(Wire& wire, const Sqe& sqe);
    void handle_log_page(Wire& wire, const Sqe& sqe);
    void complete(Wire& wire, const Sqe& sqe, Status status, std::uint64_t result = 0);
    void send_data(Wire& wire, const Sqe& sqe, std::span<const std::byte> data, std::size_t offset = 0);
    void send_event();

    std::mutex mutex_;
    Data data_;
    std::uint32_t cc_ = 0;
    std::vector<Sqe> commands_;
    std::optional<Sqe> request_;       ///< the outstanding Asynchronous Event Request
    std::deque<std::uint32_t> events_; ///< not yet sent
    std::optional<std::vector<std::byte>> log_after_read_;
    std::vector<std::uint8_t> masked_; ///< log pages whose event waits for them to be read
    Wire* wire_ = nullptr;
    ScriptedPeer peer_;
};

} // namespace mpath::nvme::test
