// SPDX-License-Identifier: GPL-2.0-only
// An initiator in a few lines: it says exactly the bytes a test wants said, over a socket pair, on the test's
// thread. And a target whose portals "a" and "b" scripts can be played to.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "iscsi/wire/pdu.h"
#include "iscsi/wire/scsi.h"
#include "target/fault/fault_injector.h"
#include "target/fault/script.h"
#include "target/fault/script_runner.h"
#include "target/iscsi/connection.h"
#include "target/iscsi/node.h"
#include "target/iscsi/text.h"
#include "target/subsystem.h"

namespace mpath::target::scsi {

using Bytes = std::vector<std::byte>;

/// `length` bytes that differ from their neighbours and from other seeds' ones.
Bytes pattern(std::size_t length, unsigned seed = 1);

class Initiator;

/// An iSCSI target with two portals, and the time, which stands still.
class Bench : private Premises {
public:
    explicit Bench(Options options = small());
    static Options small(); ///< one namespace of 4 MiB with blocks of 512 bytes; no power-on attention

    /// Plays statements; they have to be right.
    void play(std::string_view text);
    /// Why a statement is refused; empty: it is not.
    [[nodiscard]] std::string refusal(std::string_view text) const;
    /// Lets time go by, in one step.
    void wait(Nanoseconds time);
    void reaches(Initiator& initiator) { initiators_.push_back(&initiator); }

    std::unique_ptr<Subsystem> subsystem;
    std::unique_ptr<Node> node;
    Listener a;
    Listener b;
    Listener nvme; ///< "n", which serves nobody
    Nanoseconds now = kSecond;
    std::vector<bool> connects; ///< whether they were taken, at each change

private:
    void each_connection(const std::function<void(ServedConnection&)>& visit) override;
    void take_connects(Listener& changed, bool taken) override;

    ScriptContext context_;
    std::unique_ptr<FaultInjector> injector_;
    std::unique_ptr<ScriptRunner> script_;
    std::vector<Initiator*> initiators_;
};

/// A PDU from the target.
struct Pdu {
    iscsi::Bhs header;
    Bytes data;
    bool header_digest_right = true;
    bool data_digest_right = true;

    [[nodiscard]] iscsi::Opcode opcode() const { return static_cast<iscsi::Opcode>(header.opcode); }
    template <typename T>
    [[nodiscard]] T as() const {
        return std::bit_cast<T>(header);
    }
    [[nodiscard]] std::string text() const;
    [[nodiscard]] KeyValues keys() const;
};

/// How a SCSI command ended.
struct Ended {
    std::uint8_t status = 0xff; ///< ffh: not at all
    std::uint8_t key = 0;
    std::uint8_t asc = 0;
    std::uint8_t ascq = 0;
    Bytes data;
    std::uint8_t flags = 0; ///< residual_flag::, kFinal
    std::uint32_t residual = 0;
    unsigned data_pdus = 0;
    bool with_data = false; ///< the status came with the last data

    [[nodiscard]] bool good() const { return status == iscsi::scsi_status::kGood; }
    /// "6/29/00"
    [[nodiscard]] std::string sense() const;
};

/// Keys of a login, beside the names.
using Keys = std::vector<std::pair<std::string, std::string>>;

/// One connection with portal "a", unless told otherwise.
class Initiator {
public:
    explicit Initiator(Bench& bench) : Initiator(bench, bench.a) {}
    Initiator(Bench& bench, Listener& portal);

    void send(std::span<const std::byte> bytes);
    /// One PDU, padded and with the digests that were agreed on.
    template <typename T>
    void send_pdu(T pdu, std::span<const std::byte> data = {}) {
        pdu.data_length = static_cast<std::uint32_t>(data.size());
        send(sealed(std::bit_cast<iscsi::Bhs>(pdu), data));
    }
    [[nodiscard]] Bytes sealed(iscsi::Bhs header, std::span<const std::byte> data) const;
    /// The next PDU; nothing if none comes.
    std::optional<Pdu> receive();
    /// Nothing more will come: the target has closed its side.
    bool ended();

    /// One login request and its answer.
    std::optional<Pdu> login_step(iscsi::LoginStage current, std::optional<iscsi::LoginStage> next,
                                  const Keys& keys);
    /// From the operational stage to a session.
    void log_in(const Keys& keys = {}, bool discovery = false);
    /// Names, as the first request has them.
    [[nodiscard]] Keys names(bool discovery = false) const;

    /// A SCSI command with the next CmdSN; its tag.
    std::uint32_t command(const iscsi::Cdb& cdb, std::uint32_t expected = 0, std::uint8_t flags = 0,
                          std::span<const std::byte> immediate = {}, bool final = true);
    /// What it ends with. Answers R2Ts from `data`.
    Ended end_of(std::uint32_t tag, std::span<const std::byte> data = {});
    Ended run(const iscsi::Cdb& cdb, std::uint32_t expected = 0) {
        return end_of(command(cdb, expected, expected == 0 ? 0 : iscsi::command_flag::kRead));
    }
    Ended write(const iscsi::Cdb& cdb, std::span<const std::byte> data);
    void data_out(std::uint32_t tag, std::uint32_t target_tag, std::uint32_t data_sn, std::uint32_t offset,
                  std::span<const std::byte> data, bool final);
    std::uint8_t manage(std::uint8_t function, std::uint32_t referenced = iscsi::kNoTag,
                        std::uint32_t ref_cmd_sn = 0);

    Connection& connection() { return *connection_; }

    std::string name = "iqn.2025-01.io.test:initiator";
    iscsi::Isid isid{0x80, 1, 2, 3, 0, 1};
    std::uint32_t cmd_sn = 100;
    std::uint32_t exp_stat_sn = 0;
    std::uint32_t next_tag = 1;
    iscsi::Lun lun{};
    std::uint32_t last_max_cmd_sn = 0;
    std::uint32_t last_exp_cmd_sn = 0;
    bool header_digest = false;
    bool data_digest = false;
    std::vector<iscsi::R2t> r2ts; ///< that end_of() has answered

private:
    void pump();

    Bench& bench_;
    UniqueFd socket_;
    std::unique_ptr<Connection> connection_;
    Bytes received_;
    bool at_end_ = false;
};

iscsi::Cdb cdb(std::initializer_list<std::uint8_t> bytes);
iscsi::Cdb blocks_cdb(std::uint8_t opcode, std::uint64_t lba, std::uint32_t blocks, std::uint8_t flags = 0);
template <typename T>
iscsi::Cdb cdb_of(const T& descriptor) {
    iscsi::Cdb bytes{};
    std::memcpy(bytes.data(), &descriptor, sizeof(descriptor));
    return bytes;
}
template <typename T>
T read_at(const Bytes& bytes, std::size_t offset) {
    T structure{};
    if (offset + sizeof(T) <= bytes.size()) {
        std::memcpy(static_cast<void*>(&structure), bytes.data() + offset, sizeof(T));
    }
    return structure;
}

} // namespace mpath::target::scsi
