// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/iscsi_control/fake_target.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mpath::iscsi::test {
namespace {

constexpr std::uint16_t kGroup = 2;
constexpr std::uint16_t kPort = 7;

template <typename T>
void append(Bytes& bytes, const T& value) {
    const auto more = std::as_bytes(std::span(&value, 1));
    bytes.insert(bytes.end(), more.begin(), more.end());
}

void append_designator(Bytes& page, std::uint8_t association, std::uint8_t type, const Bytes& value) {
    DesignatorHeader header;
    header.protocol_and_code_set = 1;
    header.association_and_type = static_cast<std::uint8_t>(association << 4 | type);
    header.length = static_cast<std::uint8_t>(value.size());
    append(page, header);
    page.insert(page.end(), value.begin(), value.end());
}

template <std::size_t Size>
std::array<char, Size> padded_text(std::string text) {
    text.resize(Size, ' ');
    std::array<char, Size> field{};
    std::copy(text.begin(), text.end(), field.begin());
    return field;
}

/// Sense data with its length, as a data segment.
std::string sense_segment(const Answer& sense) {
    FixedSense fixed;
    fixed.key = sense.key;
    fixed.asc = sense.asc;
    fixed.ascq = sense.ascq;
    std::string segment(2 + sizeof fixed, '\0');
    const Be16 length = std::uint16_t{sizeof fixed};
    std::memcpy(segment.data(), &length, sizeof length);
    std::memcpy(segment.data() + sizeof length, &fixed, sizeof fixed);
    return segment;
}

bool tells_attentions(std::uint8_t opcode) {
    return opcode != scsi_opcode::kInquiry && opcode != scsi_opcode::kReportLuns;
}

} // namespace

Bytes inquiry_data(std::uint8_t peripheral, std::uint8_t tpgs) {
    InquiryData inquiry;
    inquiry.peripheral = peripheral;
    inquiry.flags5 = static_cast<std::uint8_t>(tpgs << 4);
    inquiry.vendor = padded_text<8>("ACME");
    inquiry.product = padded_text<16>("RAMDISK");
    inquiry.revision = padded_text<4>("1.2");
    Bytes bytes;
    append(bytes, inquiry);
    return bytes;
}

Bytes vpd(std::uint8_t page, const Bytes& body) {
    VpdHeader header;
    header.page = page;
    header.length = static_cast<std::uint16_t>(body.size());
    Bytes bytes;
    append(bytes, header);
    bytes.insert(bytes.end(), body.begin(), body.end());
    return bytes;
}

Bytes identification(std::uint8_t number, bool group) {
    Bytes naa(16, std::byte{0});
    naa.front() = std::byte{0x60};
    naa.back() = std::byte{number};
    Bytes page;
    append_designator(page, designator_association::kLogicalUnit, designator_type::kNaa, naa);
    PortDescriptor port;
    port.relative_port = kPort;
    Bytes value;
    append(value, port);
    append_designator(page, designator_association::kTargetPort, designator_type::kRelativePort, value);
    if (group) {
        port.relative_port = kGroup;
        value.clear();
        append(value, port);
        append_designator(page, designator_association::kTargetPort, designator_type::kTargetPortGroup,
                          value);
    }
    return vpd(vpd_page::kIdentification, page);
}

Bytes capacity_data(std::uint64_t blocks, std::uint32_t block_size) {
    CapacityData capacity;
    capacity.last_lba = blocks - 1;
    capacity.block_length = block_size;
    capacity.alignment = std::uint16_t{0x8000}; // thin
    Bytes bytes;
    append(bytes, capacity);
    return bytes;
}

std::map<std::uint8_t, Bytes> FakeTarget::good_pages() {
    BlockLimits limits;
    limits.header.page = vpd_page::kBlockLimits;
    limits.header.length = static_cast<std::uint16_t>(sizeof limits - sizeof limits.header);
    limits.max_transfer = 1024;
    limits.max_unmap_blocks = 4096;
    limits.max_unmap_descriptors = 1;
    Bytes block_limits;
    append(block_limits, limits);
    Provisioning provisioning;
    provisioning.header.page = vpd_page::kProvisioning;
    provisioning.header.length = static_cast<std::uint16_t>(sizeof provisioning - sizeof provisioning.header);
    provisioning.flags5 = provisioning_flag::kUnmap;
    Bytes thin;
    append(thin, provisioning);
    Bytes serial;
    append(serial, padded_text<8>("  S-42"));
    return {{vpd_page::kSerial, vpd(vpd_page::kSerial, serial)},
            {vpd_page::kIdentification, identification(1)},
            {vpd_page::kBlockLimits, block_limits},
            {vpd_page::kProvisioning, thin}};
}

FakeTarget::FakeTarget(Data data) : data_(std::move(data)), peer_([this](Wire& wire) { serve(wire); }) {}

unsigned FakeTarget::received(std::uint8_t opcode) {
    const std::scoped_lock lock(mutex_);
    return static_cast<unsigned>(std::count_if(commands_.begin(), commands_.end(),
                                               [opcode](const Cdb& cdb) { return cdb[0] == opcode; }));
}

std::size_t FakeTarget::commands() {
    const std::scoped_lock lock(mutex_);
    return commands_.size();
}

unsigned FakeTarget::logouts() {
    const std::scoped_lock lock(mutex_);
    return logouts_;
}

void FakeTarget::set(const std::function<void(Data&)>& change) {
    const std::scoped_lock lock(mutex_);
    change(data_);
}

void FakeTarget::send_async(std::uint8_t event, const Answer& sense) {
    const std::scoped_lock lock(mutex_);
    AsyncMessage message;
    message.event = event;
    message.parameter3 = std::uint16_t{3};
    send_numbered(message, event == async_event::kScsi ? sense_segment(sense) : "");
}

void FakeTarget::open_window() {
    const std::scoped_lock lock(mutex_);
    data_.two_commands = false;
    move_window();
    NopIn nop;
    nop.stat_sn = stat_sn_;
    nop.exp_cmd_sn = exp_cmd_sn_;
    nop.max_cmd_sn = max_cmd_sn_;
    send_pdu(*wire_, nop, "");
}

void FakeTarget::close() {
    const std::scoped_lock lock(mutex_);
    wire_->end();
}

void FakeTarget::log_in(Wire& wire) {
    LoginPeer login(wire);
    login.let_in();
    const std::scoped_lock lock(mutex_);
    wire_ = &wire;
    exp_cmd_sn_ = login.request.cmd_sn;
    max_cmd_sn_ = exp_cmd_sn_ + 1;
    move_window();
    LoginResponse response = login.response(kOperationalToFull);
    response.max_cmd_sn = max_cmd_sn_;
    stat_sn_ = login.stat_sn;
    send_pdu(wire, response, "");
}

void FakeTarget::move_window() {
    if (!data_.two_commands) {
        max_cmd_sn_ = exp_cmd_sn_ + 7;
    }
}

void FakeTarget::serve(Wire& wire) {
    log_in(wire);
    Bhs header;
    while (wire.receive(std::as_writable_bytes(std::span(&header, 1)))) {
        std::vector<std::byte> segment(padded(header.data_length));
        wire.receive(segment);
        const std::scoped_lock lock(mutex_);
        switch (static_cast<Opcode>(header.opcode & kOpcodeMask)) {
        case Opcode::scsi_command:
            ++exp_cmd_sn_;
            move_window();
            take_command(std::bit_cast<ScsiCommand>(header));
            break;
        case Opcode::nop_out:
            if (data_.pings_answered) {
                NopIn pong;
                pong.task_tag = header.task_tag;
                send_numbered(pong);
            }
            break;
        case Opcode::logout:
            ++logouts_;
            if (data_.logout_answered) {
                LogoutResponse response;
                response.task_tag = header.task_tag;
                send_numbered(response);
            }
            break;
        default:
            break;
        }
    }
    const std::scoped_lock lock(mutex_);
    wire_ = nullptr;
}

void FakeTarget::take_command(const ScsiCommand& command) {
    commands_.push_back(command.cdb);
    const std::uint8_t opcode = command.cdb[0];
    if (std::find(data_.silent.begin(), data_.silent.end(), opcode) == data_.silent.end()) {
        send_response(command, answer_to(command.cdb));
    }
}

Answer FakeTarget::answer_to(const Cdb& cdb) {
    if (tells_attentions(cdb[0]) && !data_.attentions.empty()) {
        Answer attention = data_.attentions.front();
        data_.attentions.pop_front();
        return attention;
    }
    if (data_.answer) {
        if (auto answer = data_.answer(cdb)) {
            return *answer;
        }
    }
    if (const auto refused = data_.refused.find(cdb[0]); refused != data_.refused.end()) {
        return refused->second;
    }
    switch (cdb[0]) {
    case scsi_opcode::kInquiry: {
        if (cdb[1] == 0) {
            return data(data_.inquiry);
        }
        if (cdb[2] == vpd_page::kSupported) {
            Bytes list{std::byte{0}};
            for (const auto& [number, page] : data_.pages) {
                list.push_back(std::byte{number});
            }
            return data(vpd(vpd_page::kSupported, list));
        }
        const auto page = data_.pages.find(cdb[2]);
        return page == data_.pages.end() ? kInvalidField : data(page->second);
    }
    case scsi_opcode::kServiceActionIn16:
        return data(data_.capacity);
    case scsi_opcode::kModeSense6:
        return data(data_.mode);
    case scsi_opcode::kMaintenanceIn:
        return port_groups((cdb[1] & kExtendedHeader) != 0);
    case scsi_opcode::kReportLuns: {
        LunListHeader header;
        header.length = 16U;
        Bytes list;
        append(list, header);
        append(list, Lun{});
        append(list, Lun{0, 5});
        return data(list);
    }
    default:
        return {};
    }
}

/// Two groups: another port's, and ours.
Answer FakeTarget::port_groups(bool extended) const {
    Bytes bytes;
    constexpr std::uint32_t kGroups = 2 * (sizeof(PortGroup) + sizeof(PortDescriptor));
    if (extended) {
        ExtendedPortGroupsHeader header;
        header.length = std::uint32_t{kGroups + 4};
        header.transition_time = data_.transition_time;
        append(bytes, header);
    } else {
        append(bytes, Be32(kGroups));
    }
    for (const std::uint16_t id : {std::uint16_t{1}, kGroup}) {
        PortGroup group;
        group.id = id;
        group.state =
            id == kGroup ? static_cast<std::uint8_t>(static_cast<unsigned>(data_.state) | kPreferred) : 0;
        group.ports = 1;
        append(bytes, group);
        PortDescriptor port;
        port.relative_port = id == kGroup ? kPort : std::uint16_t{1};
        append(bytes, port);
    }
    return data(bytes);
}

void FakeTarget::send_response(const ScsiCommand& command, const Answer& answer) {
    const std::size_t length = std::min<std::size_t>(answer.data.size(), command.expected_length);
    if (length > 0) {
        DataIn pdu;
        pdu.flags = kFinal;
        pdu.task_tag = command.task_tag;
        pdu.target_tag = kNoTag;
        pdu.exp_cmd_sn = exp_cmd_sn_;
        pdu.max_cmd_sn = max_cmd_sn_;
        send_pdu(*wire_, pdu, std::string(reinterpret_cast<const char*>(answer.data.data()), length));
    }
    ScsiResponse response;
    response.task_tag = command.task_tag;
    response.status = answer.status;
    response.exp_data_sn = length > 0 ? 1U : 0U;
    if (length < command.expected_length) {
        response.flags |= residual_flag::kUnderflow;
        response.residual = static_cast<std::uint32_t>(command.expected_length - length);
    }
    const bool check = answer.status == scsi_status::kCheckCondition;
    send_numbered(response, check ? sense_segment(answer) : "");
}

} // namespace mpath::iscsi::test
