// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/sense.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace mpath::iscsi {
namespace {

std::uint8_t at(std::span<const std::byte> bytes, std::size_t place) {
    return place < bytes.size() ? std::to_integer<std::uint8_t>(bytes[place]) : 0;
}

/// Response codes; what is in descriptor format has no structure here.
constexpr unsigned kFixed = 0x70;
constexpr unsigned kFixedDeferred = 0x71;
constexpr unsigned kDescriptors = 0x72;
constexpr unsigned kDescriptorsDeferred = 0x73;

constexpr std::uint16_t code(std::uint8_t asc, std::uint8_t ascq) {
    return static_cast<std::uint16_t>(asc << 8 | ascq);
}

struct Meaning {
    std::uint16_t code;
    std::string_view text;
};

/// The additional sense codes that paths and disks are seen to send. SPC-4, annex F.
constexpr std::array kMeanings = {
    Meaning{code(0x04, 0x00), "logical unit not ready, cause not reportable"},
    Meaning{code(0x04, 0x01), "logical unit is becoming ready"},
    Meaning{code(0x04, 0x03), "logical unit not ready, manual intervention required"},
    Meaning{code(0x04, 0x0a), "logical unit not accessible, asymmetric access state transition"},
    Meaning{code(0x04, 0x0b), "logical unit not accessible, target port in standby state"},
    Meaning{code(0x04, 0x0c), "logical unit not accessible, target port in unavailable state"},
    Meaning{code(0x04, 0x12), "logical unit not ready, offline"},
    Meaning{code(0x0c, 0x00), "write error"},
    Meaning{code(0x11, 0x00), "unrecovered read error"},
    Meaning{code(0x20, 0x00), "invalid command operation code"},
    Meaning{code(0x21, 0x00), "logical block address out of range"},
    Meaning{code(0x24, 0x00), "invalid field in the command"},
    Meaning{code(0x25, 0x00), "logical unit not supported"},
    Meaning{code(0x26, 0x00), "invalid field in the parameter list"},
    Meaning{code(0x27, 0x00), "write protected"},
    Meaning{code(0x27, 0x07), "space allocation failed, write protect"},
    Meaning{code(0x29, 0x00), "power on, reset, or bus device reset occurred"},
    Meaning{code(0x29, 0x04), "device internal reset"},
    Meaning{code(0x29, 0x07), "I_T nexus loss occurred"},
    Meaning{code(0x2a, 0x01), "mode parameters changed"},
    Meaning{code(0x2a, 0x06), "asymmetric access state changed"},
    Meaning{code(0x2a, 0x07), "implicit asymmetric access state transition failed"},
    Meaning{code(0x2a, 0x09), "capacity data has changed"},
    Meaning{code(0x3f, 0x03), "inquiry data has changed"},
    Meaning{code(0x3f, 0x0e), "reported LUNs data has changed"},
    Meaning{code(0x44, 0x00), "internal target failure"},
    Meaning{code(0x47, 0x01), "data phase CRC error detected"},
    Meaning{code(0x47, 0x05), "protocol service CRC error"},
};

std::string_view status_word(std::uint8_t status) {
    switch (status) {
    case scsi_status::kGood:
        return "good";
    case scsi_status::kCheckCondition:
        return "check condition";
    case scsi_status::kConditionMet:
        return "condition met";
    case scsi_status::kBusy:
        return "busy";
    case scsi_status::kReservationConflict:
        return "reservation conflict";
    case scsi_status::kTaskSetFull:
        return "task set full";
    case scsi_status::kAcaActive:
        return "ACA active";
    case scsi_status::kTaskAborted:
        return "task aborted";
    default:
        return "unknown";
    }
}

ErrorClass class_of_not_ready(const Sense& sense) {
    if (const auto state = refused_for(sense)) {
        return state == AluaState::transitioning ? ErrorClass::ana_transition : ErrorClass::ana_inaccessible;
    }
    return code(sense.asc, sense.ascq) == code(0x04, 0x01) ? ErrorClass::busy : ErrorClass::io_error;
}

ErrorClass class_of_attention(const Sense& sense) {
    switch (code(sense.asc, sense.ascq)) {
    case code(0x04, 0x0a): // some targets tell of a transition this way
        return ErrorClass::ana_transition;
    case code(0x2a, 0x01):
    case code(0x2a, 0x06):
    case code(0x2a, 0x07):
        return ErrorClass::state_changed;
    default:
        return ErrorClass::unit_attention;
    }
}

ErrorClass class_of_sense(const Sense& sense) {
    // A deferred error is about an earlier command, which had been answered with success; this one was not
    // carried out. Sending it again, as Linux does, would hide that data was lost, unless none was.
    if (sense.deferred) {
        return sense.key == sense_key::kRecovered ? ErrorClass::unit_attention : ErrorClass::io_error;
    }
    switch (sense.key) {
    case sense_key::kRecovered: // the data is right, the device only had trouble with it
        return ErrorClass::none;
    case sense_key::kNotReady:
        return class_of_not_ready(sense);
    case sense_key::kUnitAttention:
        return class_of_attention(sense);
    case sense_key::kIllegalRequest: // of a unit that is not there through this port
        return is_unit_missing(sense) ? ErrorClass::path_error : ErrorClass::io_error;
    case sense_key::kAborted: // the device gave up, often for damaged data (47h, 4Bh); SPC-4 and Linux: again
        return ErrorClass::transport_error;
    default:
        return ErrorClass::io_error;
    }
}

} // namespace

Sense parse_sense(std::uint8_t status, std::span<const std::byte> bytes) noexcept {
    Sense sense{.status = status};
    if (status != scsi_status::kCheckCondition) {
        return sense;
    }
    const unsigned format = at(bytes, 0) & 0x7f;
    if (format == kFixed || format == kFixedDeferred) {
        constexpr std::size_t kLengthAt = offsetof(FixedSense, additional_length);
        bytes = bytes.first(std::min(bytes.size(), kLengthAt + 1 + at(bytes, kLengthAt)));
        sense.key = at(bytes, offsetof(FixedSense, key)) & 0x0f;
        sense.asc = at(bytes, offsetof(FixedSense, asc));
        sense.ascq = at(bytes, offsetof(FixedSense, ascq));
    } else if (format == kDescriptors || format == kDescriptorsDeferred) {
        sense.key = at(bytes, 1) & 0x0f;
        sense.asc = at(bytes, 2);
        sense.ascq = at(bytes, 3);
    }
    sense.deferred = format == kFixedDeferred || format == kDescriptorsDeferred;
    return sense;
}

ErrorClass classify(const Sense& sense) noexcept {
    switch (sense.status) {
    case scsi_status::kGood:
    case scsi_status::kConditionMet:
        return ErrorClass::none;
    case scsi_status::kCheckCondition:
        return class_of_sense(sense);
    case scsi_status::kBusy:
    case scsi_status::kTaskSetFull:
        return ErrorClass::busy;
    case scsi_status::kTaskAborted: // by another initiator
        return ErrorClass::aborted;
    default: // a reservation is the host's business: no other path would be let in
        return ErrorClass::io_error;
    }
}

std::optional<AluaState> refused_for(const Sense& sense) noexcept {
    const bool refused = sense.key == sense_key::kNotReady || sense.key == sense_key::kUnitAttention;
    if (sense.status != scsi_status::kCheckCondition || !refused || sense.asc != 0x04) {
        return std::nullopt;
    }
    switch (sense.ascq) {
    case 0x0a:
        return AluaState::transitioning;
    case 0x0b:
        return AluaState::standby;
    case 0x0c:
        return AluaState::unavailable;
    case 0x12:
        return AluaState::offline;
    default:
        return std::nullopt;
    }
}

Attention attention_of(const Sense& sense) noexcept {
    Attention attention;
    switch (code(sense.asc, sense.ascq)) {
    case code(0x2a, 0x01):
    case code(0x2a, 0x06):
    case code(0x2a, 0x07):
    case code(0x04, 0x0a):
    case code(0x04, 0x0b):
    case code(0x04, 0x0c):
    case code(0x04, 0x12):
        attention.state = true;
        break;
    case code(0x2a, 0x09):
        attention.capacity = true;
        break;
    case code(0x3f, 0x03):
    case code(0x3f, 0x0e):
    case code(0x25, 0x00):
        attention.identity = true;
        break;
    default: // after a reset everything may be another
        attention.state = attention.capacity = attention.identity = sense.asc == 0x29;
        break;
    }
    return attention;
}

std::string status_text(const Sense& sense) {
    if (sense.status != scsi_status::kCheckCondition) {
        return fmt::format("status {:02x}h ({})", sense.status, status_word(sense.status));
    }
    const std::string numbers =
        fmt::format("status {:02x}h, {}sense {:X}/{:02X}/{:02X}", sense.status,
                    sense.deferred ? "deferred " : "", sense.key, sense.asc, sense.ascq);
    const auto meaning = std::find_if(kMeanings.begin(), kMeanings.end(), [&sense](const Meaning& one) {
        return one.code == code(sense.asc, sense.ascq);
    });
    return meaning == kMeanings.end() ? numbers : fmt::format("{} ({})", numbers, meaning->text);
}

} // namespace mpath::iscsi
