// SPDX-License-Identifier: GPL-2.0-only
// A session's beginning, and how commands and the connection end. What comes is in session_receive.cc, what
// goes in session_send.cc, and what is neither a command nor its data in session_management.cc.
#include "iscsi/session.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace mpath::iscsi {

Session::Session(net::Reactor& reactor, LoggedIn logged_in, std::uint16_t commands, SessionClient& client)
    : reactor_(reactor), parameters_(logged_in.parameters), numbers_(logged_in.numbers), client_(client),
      head_size_(kBhsSize + (parameters_.header_digest ? kDigestSize : 0)),
      // Two headers, and what may lie between them.
      small_window_(2 * head_size_ + kDigestSize + 3), slots_(commands),
      r2ts_(slots_.size() * parameters_.max_outstanding_r2t),
      stream_(reactor, std::move(logged_in.socket), *this) {
    for (std::size_t i = slots_.size(); i-- > 0;) {
        slots_[i].tag = static_cast<std::uint32_t>(i);
        slots_[i].next = free_head_;
        free_head_ = static_cast<std::uint16_t>(i);
    }
    stream_.set_window(small_window_);
    stream_.start();
}

Session::~Session() = default;

void Session::answer(Slot& slot, const Answer& answer) noexcept {
    if (slot.transfer == Transfer::to_target) {
        if (slot.r2ts > 0) { // an early answer is legal: then nothing more of its data is sent
            drop_data(slot.tag & kSlotMask);
        }
        if (slot.batch > stream_.sent_batch()) {
            slot.failed = answer.failed;
            slot.status = answer.status;
            slot.residual = answer.residual;
            slot.sense_length = static_cast<std::uint8_t>(std::min(answer.sense.size(), slot.sense.size()));
            std::copy_n(answer.sense.begin(), slot.sense_length, slot.sense.begin());
            slot.answered = true;
            ++waiting_answers_;
            return;
        }
    }
    finish(slot, answer, false);
}

void Session::finish(Slot& slot, const Answer& answer, bool lost) noexcept {
    CommandEnd end;
    end.owner = slot.owner;
    end.lost = lost;
    end.asked = slot.length;
    if (lost) {
        const bool needs_data = slot.transfer == Transfer::to_target && slot.length > 0;
        end.unsent = slot.command_batch == stream_.open_batch() || (needs_data && slot.batch == 0);
    } else {
        end.failed = answer.failed;
        end.damaged = slot.damaged;
        end.status = answer.status;
        end.sense = answer.sense;
        end.moved = std::min(slot.moved, slot.length - std::min(answer.residual, slot.length));
    }
    if (slot.transfer == Transfer::to_host && slot.length >= kDirectFrom) {
        --large_reads_;
    }
    const std::uint32_t index = slot.tag & kSlotMask;
    slot.tag = (slot.tag + (1U << kSlotBits)) & kGenerationMask; // the next use has another generation
    slot.open = slot.answered = false;
    slot.next = free_head_;
    free_head_ = static_cast<std::uint16_t>(index);
    --outstanding_;
    client_.on_command_done(end);
}

bool Session::write_data_sent() const noexcept {
    return std::any_of(slots_.begin(), slots_.end(),
                       [](const Slot& slot) { return slot.open && slot.batch != 0; });
}

/// Which write was executed becomes unknown; the less of it can still arrive, the better: while the network
/// may hold a write's data the connection is reset.
void Session::break_off(std::string reason) noexcept {
    stream_.close({EPROTO, std::move(reason)},
                  write_data_sent() ? net::Stream::Ending::abort : net::Stream::Ending::orderly);
}

/// Ends the connection for what the target did. 0, for who takes bytes.
std::size_t Session::fault(std::string_view what) noexcept {
    ++statistics_.protocol_violations;
    break_off(fmt::format("the target broke the protocol: it sent {}", what));
    return 0;
}

/// The farewell goes out with a system call of its own, unless a batch is on its way: then it would land in
/// the middle of it. The session is over either way.
void Session::close(Error reason, net::Stream::Ending ending) noexcept {
    if (ending == net::Stream::Ending::orderly && !closing() && !stream_.sending() && !said_goodbye_) {
        std::array<std::byte, kBhsSize + kDigestSize> pdu;
        const LogoutRequest request = logout_request();
        std::memcpy(pdu.data(), &request, kBhsSize);
        store_digest(std::span(pdu).first(kBhsSize), pdu.data() + kBhsSize);
        [[maybe_unused]] const auto sent =
            ::send(stream_.fd(), pdu.data(), head_size_, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    stream_.close(std::move(reason), ending);
}

void Session::on_closed(const Error& error) noexcept {
    with_data_.clear();
    receiving_ = Receiving::pdu;
    note_window_opened();
    for (Slot& slot : slots_) {
        if (slot.open) {
            const Answer given{
                slot.failed, slot.status, slot.residual, {slot.sense.data(), slot.sense_length}};
            finish(slot, slot.answered ? given : Answer{}, !slot.answered);
        }
    }
    client_.on_session_closed(error);
}

} // namespace mpath::iscsi
