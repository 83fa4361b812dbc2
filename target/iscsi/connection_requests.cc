// SPDX-License-Identifier: GPL-2.0-only
// The second half of Connection: what is done about each kind of PDU.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <bit>

#include <fmt/format.h>

#include "target/iscsi/connection.h"

namespace mpath::target::scsi {

using iscsi::Opcode;
using StatSn = PduWriter::StatSn;
namespace reject_reason = iscsi::reject_reason;

namespace {

constexpr std::uint32_t kTextTag = 1;
constexpr std::uint32_t kPingTag = 2;
constexpr std::uint8_t kRecoveryNotSupported = 2;
constexpr std::uint8_t kNoSuchConnection = 1;

std::string_view text_of(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> bytes_of_text(std::string_view text) {
    return std::as_bytes(std::span(text));
}

} // namespace

/// The whole data of the PDU in hand, for later.
Payload Connection::keep(Then then) {
    then_ = then;
    kept_.resize(header_.data_length);
    return {kept_.data(), header_.data_length};
}

bool Connection::muted() {
    if (listener_.faults.empty() || listener_.faults.take(ActionKind::mute, subject_of(header_)) == nullptr) {
        return false;
    }
    ++listener_.counters.muted;
    return true;
}

bool Connection::takes_cmd_sn(Opcode opcode) const {
    switch (opcode) {
    case Opcode::scsi_command:
    case Opcode::task_management:
    case Opcode::text:
    case Opcode::logout:
    case Opcode::nop_out:
        return true;
    default:
        return false;
    }
}

tl::expected<bool, Fault> Connection::number_fits(Opcode opcode) {
    if (!takes_cmd_sn(opcode) || (header_.opcode & iscsi::kImmediate) != 0) {
        return true;
    }
    Numbers& numbers = writer_.numbers;
    const std::uint32_t number = std::bit_cast<iscsi::ScsiCommand>(header_).cmd_sn; // all have it there
    if (iscsi::comes_before(number, numbers.exp_cmd_sn) || iscsi::comes_before(numbers.max_cmd_sn, number)) {
        return false; // section 4.2.2.1: silently
    }
    if (number != numbers.exp_cmd_sn) { // with one connection, what is missing never comes
        return tl::unexpected(Fault{});
    }
    ++numbers.exp_cmd_sn;
    if (tasks_ != nullptr) {
        tasks_->update_window();
    } else {
        ++numbers.max_cmd_sn;
    }
    return true;
}

tl::expected<Payload, Fault> Connection::handle(Nanoseconds now) {
    const auto opcode = static_cast<Opcode>(header_.opcode & iscsi::kOpcodeMask);
    if (!logged_in_) {
        return opcode == Opcode::login ? keep(Then::login)
                                       : tl::expected<Payload, Fault>(tl::unexpected(Fault{}));
    }
    const auto fits = number_fits(opcode);
    if (!fits || !*fits) {
        return fits ? tl::expected<Payload, Fault>(Payload{}) : tl::unexpected(fits.error());
    }
    switch (opcode) {
    case Opcode::scsi_command:
        return handle_command(now);
    case Opcode::data_out:
        if (tasks_ == nullptr) {
            return tl::unexpected(Fault{});
        }
        then_ = Then::task;
        return tasks_->data_out(std::bit_cast<iscsi::DataOut>(header_), now);
    case Opcode::nop_out:
        return keep(Then::nop);
    case Opcode::text:
        return keep(Then::text);
    case Opcode::task_management:
        if (tasks_ == nullptr) {
            return tl::unexpected(Fault{});
        }
        answer_task_management(now);
        return Payload{};
    case Opcode::logout:
        answer_logout(now);
        return Payload{};
    case Opcode::snack:
        return tl::unexpected(Fault{reject_reason::kSnackReject, false});
    case Opcode::login:
        return tl::unexpected(Fault{});
    default:
        return tl::unexpected(Fault{reject_reason::kCommandNotSupported, false});
    }
}

tl::expected<Payload, Fault> Connection::handle_command(Nanoseconds now) {
    if (tasks_ == nullptr) {
        return tl::unexpected(Fault{});
    }
    Subsystem& subsystem = node_.subsystem();
    if (subsystem.observer != nullptr && (kind_of(header_) & request_kind::kIo) != 0) {
        subsystem.observer->command_arrives(listener_, subject_of(header_), now);
        if (!open()) {
            return Payload{}; // the connection did not live to see it
        }
    }
    then_ = Then::task;
    return tasks_->command(std::bit_cast<iscsi::ScsiCommand>(header_), now);
}

void Connection::answer_login(Nanoseconds now) {
    const auto request = std::bit_cast<iscsi::LoginRequest>(header_);
    if (muted()) {
        return;
    }
    Login::Answer answer;
    const Action* rejects = listener_.faults.empty()
                                ? nullptr
                                : listener_.faults.take(ActionKind::reject_connects, subject_of(header_));
    if (rejects != nullptr) {
        ++listener_.counters.failed;
        answer = Login::refuse(request, rejects->login_status);
    } else {
        answer = login_.take(request, text_of(kept_));
    }
    writer_.numbers.exp_cmd_sn = request.cmd_sn;
    writer_.numbers.max_cmd_sn =
        request.cmd_sn + std::min<std::uint32_t>(node_.options().queue_size, 32768) - 1;
    writer_.put(answer.header, StatSn::takes, bytes_of_text(answer.text));
    if (answer.header.status_class != 0) {
        ++listener_.counters.refused;
        linger(now);
    } else if (login_.session() != nullptr) {
        begin_session();
    }
}

void Connection::begin_session() {
    session_ = login_.session();
    logged_in_ = true;
    writer_.begin_full_feature(session_->terms());
    if (session_->is_discovery()) {
        ++listener_.counters.discoveries;
        return;
    }
    ++listener_.counters.associations;
    writer_.arm(listener_.options.flips);
    tasks_ = std::make_unique<TaskSet>(node_, *session_, writer_, variation_.get());
}

/// SendTargets; everything else was settled at login. An answer too long for the initiator's PDUs is fetched
/// piece by piece.
tl::expected<void, Fault> Connection::answer_text() {
    const auto request = std::bit_cast<iscsi::Text>(header_);
    if ((request.flags & iscsi::text_flag::kContinue) != 0) {
        return tl::unexpected(Fault{reject_reason::kCommandNotSupported, false});
    }
    if (request.target_tag == iscsi::kNoTag) {
        const auto keys = parse_text(text_of(kept_));
        if (!keys) {
            return tl::unexpected(Fault{reject_reason::kInvalidPduField, false});
        }
        pending_text_.clear();
        for (const auto& [key, value] : *keys) {
            const bool all_in_session = key == "SendTargets" && value == "All" && !session_->is_discovery();
            if (all_in_session) {
                append_key(pending_text_, key, "Reject");
            } else if (key == "SendTargets") {
                pending_text_ += node_.targets_text(value, local_address());
            } else {
                append_key(pending_text_, key, "NotUnderstood");
            }
        }
    } else if (request.target_tag != kTextTag || pending_text_.empty()) {
        return tl::unexpected(Fault{reject_reason::kInvalidPduField, false});
    }
    if (muted()) {
        return {};
    }
    const std::size_t length = std::min<std::size_t>(pending_text_.size(), writer_.terms().max_send);
    const bool last = length == pending_text_.size();
    iscsi::Text answer;
    answer.opcode = static_cast<std::uint8_t>(Opcode::text_response);
    answer.flags = last ? iscsi::kFinal : iscsi::text_flag::kContinue;
    answer.task_tag = request.task_tag;
    answer.target_tag = last ? iscsi::kNoTag : kTextTag;
    writer_.put(answer, StatSn::takes, bytes_of_text(std::string_view(pending_text_).substr(0, length)));
    pending_text_.erase(0, length);
    return {};
}

void Connection::answer_nop() {
    const auto request = std::bit_cast<iscsi::NopOut>(header_);
    if (request.task_tag == iscsi::kNoTag || muted()) {
        return;
    }
    const std::size_t length = std::min<std::size_t>(kept_.size(), writer_.terms().max_send);
    iscsi::NopIn answer;
    answer.lun = request.lun;
    answer.task_tag = request.task_tag;
    writer_.put(answer, StatSn::takes, std::span(kept_).first(length));
}

void Connection::answer_task_management(Nanoseconds now) {
    const auto request = std::bit_cast<iscsi::TaskManagement>(header_);
    if (muted()) {
        return;
    }
    iscsi::TaskManagementResponse answer;
    answer.task_tag = request.task_tag;
    answer.response = tasks_->manage(request);
    writer_.put(answer, StatSn::takes);
    const auto function = request.function & static_cast<std::uint8_t>(~iscsi::kFinal);
    if (function == iscsi::task_function::kTargetColdReset) {
        linger(now);
    }
}

void Connection::answer_logout(Nanoseconds now) {
    const auto request = std::bit_cast<iscsi::LogoutRequest>(header_);
    if (muted()) {
        return;
    }
    const auto reason = request.reason & static_cast<std::uint8_t>(~iscsi::kFinal);
    iscsi::LogoutResponse answer;
    answer.task_tag = request.task_tag;
    answer.response = reason == iscsi::logout_reason::kRecovery  ? kRecoveryNotSupported
                      : reason > iscsi::logout_reason::kRecovery ? kNoSuchConnection
                                                                 : std::uint8_t{0};
    writer_.put(answer, StatSn::takes);
    if (answer.response == 0) {
        ++listener_.counters.logouts;
        linger(now);
    }
}

void Connection::refuse(const Fault& fault, Nanoseconds now) {
    if (full_feature()) {
        iscsi::Reject answer;
        answer.reason = fault.reason;
        writer_.put(answer, StatSn::takes, std::as_bytes(std::span(&header_, 1)));
    }
    if (fault.ends) {
        ++listener_.counters.violations;
        linger(now);
    } else {
        ++listener_.counters.refused;
    }
}

void Connection::hear(News news, std::uint32_t group) {
    if (tasks_ == nullptr) {
        return;
    }
    const Attention attention = news == News::access_states ? Attention::access_state_changed
                                : news == News::capacity    ? Attention::capacity_changed
                                                            : Attention::luns_changed;
    const Subsystem& subsystem = node_.subsystem();
    for (std::uint32_t nsid = 1; nsid <= subsystem.namespace_count(); ++nsid) {
        // Who has lost a logical unit hears of it from those it still has.
        if (group == 0 || news == News::namespaces || subsystem.group_of(nsid) == group) {
            session_->raise(nsid, attention);
        }
    }
}

void Connection::ask_to_leave(Nanoseconds within, Nanoseconds now) {
    if (!full_feature()) {
        return;
    }
    iscsi::AsyncMessage message;
    message.event = iscsi::async_event::kLogoutRequest;
    message.parameter3 = static_cast<std::uint16_t>((within + kSecond - 1) / kSecond);
    writer_.put(message, StatSn::takes);
    ++listener_.counters.events;
    leave_by_ = now + within;
    flush();
}

void Connection::ping() {
    if (full_feature()) {
        iscsi::NopIn question;
        question.target_tag = kPingTag;
        writer_.put(question, StatSn::tells);
        flush();
    }
}

std::string Connection::local_address() const {
    sockaddr_storage storage{};
    socklen_t size = sizeof(storage);
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&storage), &size) != 0) {
        return {};
    }
    if (storage.ss_family == AF_INET6) {
        ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr, text.data(),
                    text.size());
        return fmt::format("[{}]", text.data());
    }
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr, text.data(), text.size());
    return text.data();
}

} // namespace mpath::target::scsi
