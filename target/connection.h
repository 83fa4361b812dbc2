// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "target/frame.h"
#include "target/pdu_writer.h"
#include "target/queue.h"
#include "target/send_queue.h"
#include "target/served_connection.h"
#include "target/variation.h"

namespace mpath::target {

/// One TCP connection: takes the byte stream apart into PDUs and sends what they lead to.
///
/// A round is one receive, which may bring many PDUs, and one send of everything they were answered with.
/// Payload that has not arrived when its header is read is received straight to where it belongs.
///
/// It lingers after a fatal fault or a TermReq.
class Connection final : public ServedConnection {
public:
    Connection(UniqueFd socket, Subsystem& subsystem, Listener& listener);

    void on_readable(Nanoseconds now) override;
    void on_timer(Nanoseconds now) override;
    [[nodiscard]] Nanoseconds next_due() const override;

    [[nodiscard]] bool closed() const override { return ServedConnection::closed() || !queue_.alive(); }
    [[nodiscard]] Subject subject() const override { return queue_.subject(); }
    void resume(Nanoseconds now) override;

private:
    bool receive();
    void consume(Nanoseconds now);
    void take_payload(Nanoseconds now);
    void received_payload(std::span<const std::byte> bytes);
    /// Bytes of the PDU header taken from the front of `bytes`; 0: there is not enough yet, or no more
    /// wanted.
    std::size_t take_header(std::span<const std::byte> bytes, Nanoseconds now);
    tl::expected<Payload, Fault> handle(const Frame& frame, std::span<const std::byte> header,
                                        Nanoseconds now);
    tl::expected<Payload, Fault> handle_capsule(const Frame& frame, std::span<const std::byte> header,
                                                Nanoseconds now);
    tl::expected<Payload, Fault> handle_ic_req(std::span<const std::byte> header);
    void heard_term_req(const nvme::TermReq& request, Nanoseconds now);
    void refuse(const Fault& fault, std::span<const std::byte> offending, Nanoseconds now);
    void refuse_plaintext(Nanoseconds now);
    void linger(Nanoseconds now) override;
    void answer_round(Nanoseconds now);

    Subsystem& subsystem_;
    PduWriter writer_;
    Queue queue_;
    FrameRules rules_;

    std::unique_ptr<std::byte[]> staging_;
    std::size_t begin_ = 0; ///< staged bytes not yet consumed: [begin_, end_)
    std::size_t end_ = 0;
    bool in_payload_ = false;  ///< or in the digest behind it
    Payload payload_;          ///< what is left of it
    std::uint32_t digest_ = 0; ///< of what has come of it
};

} // namespace mpath::target
