// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "iscsi/wire/pdu.h"
#include "target/iscsi/login.h"
#include "target/iscsi/node.h"
#include "target/iscsi/pdu_writer.h"
#include "target/iscsi/task_set.h"
#include "target/send_queue.h"
#include "target/served_connection.h"
#include "target/variation.h"

namespace mpath::target::scsi {

/// One TCP connection with a portal: takes the byte stream apart into PDUs and sends what they lead to.
///
/// A round is one receive, which may bring many PDUs, and one send of everything they were answered with.
/// Data that has not arrived when its header is read is received straight to where it belongs.
///
/// It lingers after a fault or a logout.
class Connection final : public ServedConnection {
public:
    Connection(UniqueFd socket, Node& node, Listener& listener);
    ~Connection() override;

    void on_readable(Nanoseconds now) override;
    void on_timer(Nanoseconds now) override;
    [[nodiscard]] Nanoseconds next_due() const override;

    [[nodiscard]] bool closed() const override {
        return ServedConnection::closed() || (session_ != nullptr && session_->ended());
    }
    [[nodiscard]] Subject subject() const override;
    void resume(Nanoseconds now) override;
    void hear(News news, std::uint32_t group) override;
    void ask_to_leave(Nanoseconds within, Nanoseconds now) override;
    void ping() override;

private:
    /// What is done with a PDU's data once it is there.
    enum class Then : std::uint8_t { nothing, login, text, nop, task };

    [[nodiscard]] bool open() const { return phase_ == Phase::open; }
    [[nodiscard]] bool full_feature() const { return open() && logged_in_; }
    [[nodiscard]] Subject subject_of(const iscsi::Bhs& header) const;
    bool receive();
    void consume(Nanoseconds now);
    void take_data(Nanoseconds now);
    void received_data(std::span<const std::byte> bytes);
    std::size_t take_header(std::span<const std::byte> bytes, Nanoseconds now);
    void end_of_pdu(bool intact, Nanoseconds now);

    tl::expected<Payload, Fault> handle(Nanoseconds now);
    [[nodiscard]] bool takes_cmd_sn(iscsi::Opcode opcode) const;
    /// False: it came at a wrong time, and is passed over.
    tl::expected<bool, Fault> number_fits(iscsi::Opcode opcode);
    tl::expected<Payload, Fault> handle_command(Nanoseconds now);
    Payload keep(Then then);
    /// Whether a script has this request go unanswered.
    bool muted();

    void answer_login(Nanoseconds now);
    void begin_session();
    tl::expected<void, Fault> answer_text();
    void answer_nop();
    void answer_task_management(Nanoseconds now);
    void answer_logout(Nanoseconds now);
    void refuse(const Fault& fault, Nanoseconds now);

    void linger(Nanoseconds now) override;
    void answer_round(Nanoseconds now);
    [[nodiscard]] std::string local_address() const;

    Node& node_;
    PduWriter writer_;
    Login login_;
    std::shared_ptr<Session> session_; ///< nullptr: not logged in
    std::unique_ptr<TaskSet> tasks_;   ///< nullptr: not logged in, or for discovery
    bool logged_in_ = false;           ///< the login phase is over
    Nanoseconds leave_by_ = kNever;
    std::string pending_text_; ///< of an answer that did not fit one PDU

    std::unique_ptr<std::byte[]> staging_;
    std::size_t begin_ = 0; ///< staged bytes not yet consumed: [begin_, end_)
    std::size_t end_ = 0;
    iscsi::Bhs header_; ///< of the PDU in hand
    Then then_ = Then::nothing;
    std::vector<std::byte> kept_; ///< its data, if it is nobody else's
    bool in_data_ = false;        ///< or in the padding and the digest behind it
    Payload payload_;             ///< what is left of it
    std::uint32_t to_skip_ = 0;   ///< bytes behind it: what nobody wants, and padding
    std::uint32_t digest_ = 0;    ///< of what has come of it
};

} // namespace mpath::target::scsi
