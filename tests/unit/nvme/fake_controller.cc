// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/nvme/fake_controller.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace mpath::nvme::test {

FakeController::FakeController(Data data)
    : data_(std::move(data)), peer_([this](Wire& wire) { serve(wire); }) {}

unsigned FakeController::received(std::uint8_t opcode) {
    const std::scoped_lock lock(mutex_);
    return static_cast<unsigned>(std::count_if(commands_.begin(), commands_.end(),
                                               [opcode](const Sqe& sqe) { return sqe.opcode == opcode; }));
}

std::uint32_t FakeController::last_cc() {
    const std::scoped_lock lock(mutex_);
    return cc_;
}

std::vector<Sqe> FakeController::commands() {
    const std::scoped_lock lock(mutex_);
    return commands_;
}

void FakeController::change_ana(std::vector<std::byte> log) {
    const std::scoped_lock lock(mutex_);
    data_.ana_log = std::move(log);
    events_.push_back(AsyncEvent::kAnaChanged);
    send_event();
}

void FakeController::change_ana_during_read(std::vector<std::byte> log) {
    const std::scoped_lock lock(mutex_);
    log_after_read_ = std::move(log);
}

void FakeController::set(const std::function<void(Data&)>& change) {
    const std::scoped_lock lock(mutex_);
    change(data_);
}

void FakeController::raise(std::uint32_t dw0) {
    const std::scoped_lock lock(mutex_);
    events_.push_back(dw0);
    send_event();
}

void FakeController::close() {
    const std::scoped_lock lock(mutex_);
    wire_->end();
}

void FakeController::serve(Wire& wire) {
    wire.receive<IcReq>();
    IcResp ic_resp;
    ic_resp.common.type = static_cast<std::uint8_t>(PduType::ic_resp);
    ic_resp.common.hlen = sizeof ic_resp;
    ic_resp.common.plen = sizeof ic_resp;
    ic_resp.maxh2cdata = 131072;
    wire.send_value(ic_resp);
    {
        const std::scoped_lock lock(mutex_);
        wire_ = &wire;
    }
    CapsuleCmd capsule;
    while (wire.receive(std::as_writable_bytes(std::span(&capsule, 1)))) {
        std::vector<std::byte> data(capsule.common.plen - sizeof capsule);
        wire.receive(data);
        const std::scoped_lock lock(mutex_);
        commands_.push_back(capsule.sqe);
        handle(wire, capsule.sqe);
    }
    const std::scoped_lock lock(mutex_);
    wire_ = nullptr;
}

void FakeController::handle(Wire& wire, const Sqe& sqe) {
    if (std::find(data_.silent.begin(), data_.silent.end(), sqe.opcode) != data_.silent.end()) {
        return;
    }
    if (const auto refused = data_.refused.find(sqe.opcode); refused != data_.refused.end()) {
        return complete(wire, sqe, refused->second);
    }
    switch (sqe.opcode) {
    case kFabricsOpcode:
        return handle_fabrics(wire, sqe);
    case admin_opcode::kIdentify:
        return handle_identify(wire, sqe);
    case admin_opcode::kGetLogPage:
        return handle_log_page(wire, sqe);
    case admin_opcode::kSetFeatures:
        return complete(wire, sqe, Status(), sqe.cdw10 == feature::kNumberOfQueues ? data_.queues : 0);
    case admin_opcode::kAsyncEventRequest:
        request_ = sqe;
        return send_event();
    default:
        return complete(wire, sqe, Status());
    }
}

void FakeController::handle_fabrics(Wire& wire, const Sqe& sqe) {
    const auto get = std::bit_cast<PropertyGetCommand>(sqe);
    switch (static_cast<FabricsType>(get.fctype)) {
    case FabricsType::connect:
        return complete(wire, sqe, Status(), 1);
    case FabricsType::property_set:
        cc_ = static_cast<std::uint32_t>(std::bit_cast<PropertySetCommand>(sqe).value);
        return complete(wire, sqe, Status());
    case FabricsType::property_get: {
        std::uint64_t value = data_.vs;
        if (get.offset == property::kCap) {
            value = data_.cap;
        } else if (get.offset == property::kCsts) {
            const bool shut = data_.shuts_down && (cc_ & cc::kShutdownMask) != 0;
            value = (data_.ready ? csts::kReady : 0) | (data_.fatal ? csts::kFatal : 0) |
                    (shut ? csts::kShutdownComplete : 0);
        }
        return complete(wire, sqe, Status(), value);
    }
    default:
        return complete(wire, sqe, Status(StatusCode::invalid_opcode));
    }
}

void FakeController::handle_identify(Wire& wire, const Sqe& sqe) {
    switch (sqe.cdw10 & 0xff) {
    case cns::kController:
        return send_data(wire, sqe, std::as_bytes(std::span(&data_.controller, 1)));
    case cns::kNamespace:
        return send_data(wire, sqe, std::as_bytes(std::span(&data_.name_space, 1)));
    case cns::kNamespaceDescriptors:
        return send_data(wire, sqe, data_.descriptors);
    default: {
        std::vector<Le32> list;
        for (const std::uint32_t nsid : data_.nsids) {
            if (nsid > sqe.nsid) {
                list.emplace_back(nsid);
            }
        }
        return send_data(wire, sqe, std::as_bytes(std::span(list)));
    }
    }
}

void FakeController::handle_log_page(Wire& wire, const Sqe& sqe) {
    const auto page = static_cast<std::uint8_t>(sqe.cdw10);
    const std::size_t offset = sqe.cdw12;
    std::vector<std::byte> log;
    if (page == log_page::kAna) {
        log = data_.next_ana_log ? data_.next_ana_log() : data_.ana_log;
    }
    const bool unmasks = (sqe.cdw10 & kRetainAsyncEvent) == 0;
    if (unmasks) {
        std::erase(masked_, page);
    }
    if (page == log_page::kAna && log_after_read_) {
        data_.ana_log = std::move(*std::exchange(log_after_read_, std::nullopt));
        events_.push_back(AsyncEvent::kAnaChanged);
        send_event();
    }
    send_data(wire, sqe, log, offset);
    if (unmasks) {
        send_event();
    }
}

/// `data` from `offset` on, filled up with zeroes to what the command asks for.
void FakeController::send_data(Wire& wire, const Sqe& sqe, std::span<const std::byte> data,
                               std::size_t offset) {
    const std::size_t length = sqe.sgl.length;
    std::vector<std::byte> pdu(sizeof(C2hData) + length);
    C2hData header;
    header.common.type = static_cast<std::uint8_t>(PduType::c2h_data);
    header.common.flags = pdu_flag::kLastPdu | pdu_flag::kSuccess;
    header.common.hlen = header.common.pdo = sizeof header;
    header.common.plen = static_cast<std::uint32_t>(pdu.size());
    header.cccid = sqe.cid;
    header.datal = static_cast<std::uint32_t>(length);
    std::memcpy(pdu.data(), &header, sizeof header);
    if (offset < data.size()) {
        const auto part = data.subspan(offset, std::min(length, data.size() - offset));
        std::copy(part.begin(), part.end(), pdu.begin() + sizeof header);
    }
    wire.send(pdu);
}

void FakeController::complete(Wire& wire, const Sqe& sqe, Status status, std::uint64_t result) {
    CapsuleResp response;
    response.common.type = static_cast<std::uint8_t>(PduType::capsule_resp);
    response.common.hlen = sizeof response;
    response.common.plen = sizeof response;
    response.cqe.cid = sqe.cid;
    response.cqe.status = status.to_cqe();
    response.cqe.dw0 = static_cast<std::uint32_t>(result);
    response.cqe.dw1 = static_cast<std::uint32_t>(result >> 32);
    wire.send_value(response);
}

void FakeController::send_event() {
    if (!request_ || events_.empty() || wire_ == nullptr) {
        return;
    }
    const AsyncEvent event{events_.front()};
    if (std::find(masked_.begin(), masked_.end(), event.page()) != masked_.end()) {
        return;
    }
    masked_.push_back(event.page());
    events_.pop_front();
    complete(*wire_, *request_, Status(), event.dw0);
    request_.reset();
}

} // namespace mpath::nvme::test
