// SPDX-License-Identifier: GPL-2.0-only
// What a control session asks the logical unit itself: who it is, and its sizes and limits.
#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "iscsi/ask_luns.h"
#include "iscsi/block_command.h"
#include "iscsi/control_session.h"

namespace mpath::iscsi {
namespace {

constexpr std::size_t kInquirySize = 96;
constexpr std::size_t kVpdSize = 1024;
constexpr std::size_t kModeSize = 64;

} // namespace

/// Standard INQUIRY data, or a page of vital product data.
net::Task<Result<std::vector<std::byte>>> ControlSession::inquire(bool vital, std::uint8_t page,
                                                                  Nanoseconds deadline) {
    std::vector<std::byte> data(vital ? kVpdSize : kInquirySize);
    InquiryCdb command;
    command.vital = vital ? 1 : 0;
    command.page = page;
    command.allocation = static_cast<std::uint16_t>(data.size());
    const Result<CommandResult> done =
        co_await session_->succeed(cdb_of(command), Transfer::to_host, data, deadline, "INQUIRY");
    if (!done) {
        co_return tl::unexpected<Error>(done.error());
    }
    data.resize(done->moved);
    co_return std::move(data);
}

bool ControlSession::has_page(std::uint8_t page) const {
    return std::find(pages_.begin(), pages_.end(), page) != pages_.end();
}

/// Standard INQUIRY data of a disk; ENODEV: there is no unit. Some targets answer for it, some refuse.
net::Task<Result<InquiryFacts>> ControlSession::find_unit(Nanoseconds deadline) {
    const Result<std::vector<std::byte>> data = co_await inquire(false, 0, deadline);
    if (!data) {
        co_return tl::unexpected<Error>(data.error());
    }
    co_return parse_inquiry(*data);
}

/// "; there are: 0, 1", where the target says.
net::Task<std::string> ControlSession::other_units(Nanoseconds deadline) {
    const Result<std::vector<std::uint64_t>> luns = co_await report_luns(*session_, deadline);
    // Named: of two temporaries GCC 12 copies the wrong one byte by byte.
    std::string text;
    if (luns && !luns->empty()) {
        text = fmt::format("; there are: {}", fmt::join(*luns, ", "));
    }
    co_return text;
}

net::Task<Result<void>> ControlSession::identify(Nanoseconds deadline) {
    const Result<InquiryFacts> inquiry = co_await find_unit(deadline);
    if (!inquiry) {
        std::string others;
        if (inquiry.error().code == ENODEV) {
            others = co_await other_units(deadline);
        }
        co_return failure(inquiry.error().code, "LUN {}: {}{}", uri_.lun, inquiry.error().text, others);
    }
    facts_.model = inquiry->model;
    facts_.tpgs = inquiry->tpgs;
    const Result<std::vector<std::byte>> list = co_await inquire(true, vpd_page::kSupported, deadline);
    if (session_->closing()) {
        co_return tl::unexpected<Error>(list.error());
    }
    pages_ =
        list ? parse_vpd_pages(*list).value_or(std::vector<std::uint8_t>{}) : std::vector<std::uint8_t>{};
    if (has_page(vpd_page::kSerial)) {
        const Result<std::vector<std::byte>> serial = co_await inquire(true, vpd_page::kSerial, deadline);
        facts_.model.serial = serial ? parse_unit_serial(*serial) : "";
    }
    const Result<Identification> found = co_await read_identification(deadline);
    if (!found) {
        co_return tl::unexpected<Error>(found.error());
    }
    facts_.identity = found->identity;
    facts_.relative_port = found->relative_port.value_or(0);
    port_group_ = found->port_group;
    facts_.group = port_group_.value_or(0);
    co_return Result<void>{};
}

/// A unit without the page has no identity, which is no error here.
net::Task<Result<Identification>> ControlSession::read_identification(Nanoseconds deadline) {
    if (!has_page(vpd_page::kIdentification)) {
        co_return Identification{};
    }
    const Result<std::vector<std::byte>> page = co_await inquire(true, vpd_page::kIdentification, deadline);
    if (!page) {
        co_return tl::unexpected<Error>(page.error());
    }
    co_return parse_identification(*page);
}

/// Capacity and limits. A port that takes no I/O need not tell the capacity: then the limits stay as they
/// are.
net::Task<Result<void>> ControlSession::measure(Nanoseconds deadline) {
    UnitPages pages;
    if (has_page(vpd_page::kBlockLimits)) {
        const Result<std::vector<std::byte>> page = co_await inquire(true, vpd_page::kBlockLimits, deadline);
        pages.block_limits = page ? parse_block_limits(*page) : std::nullopt;
    }
    if (has_page(vpd_page::kProvisioning)) {
        const Result<std::vector<std::byte>> page = co_await inquire(true, vpd_page::kProvisioning, deadline);
        pages.provisioning = page ? parse_provisioning(*page) : std::nullopt;
    }
    std::array<std::byte, kModeSize> mode{};
    const Cdb mode_sense{scsi_opcode::kModeSense6, 0, 0x08, 0, static_cast<std::uint8_t>(mode.size())};
    const Result<CommandResult> sensed =
        co_await session_->execute(mode_sense, Transfer::to_host, mode, deadline, "MODE SENSE(6)");
    if (!sensed && session_->closing()) {
        co_return tl::unexpected<Error>(sensed.error());
    }
    if (sensed && sensed->good()) {
        pages.caching = parse_caching_mode(std::span(mode).first(sensed->moved));
    } else if (sensed && refused_for(sensed->sense)) {
        pages.caching.force_unit_access = true; // rather refused later than left out unnoticed
    }
    std::array<std::byte, sizeof(CapacityData)> capacity{};
    ReadCapacityCdb command;
    command.allocation = static_cast<std::uint32_t>(capacity.size());
    const Result<CommandResult> done = co_await session_->execute(cdb_of(command), Transfer::to_host,
                                                                  capacity, deadline, "READ CAPACITY(16)");
    if (!done) {
        co_return tl::unexpected<Error>(done.error());
    }
    if (refused_for(done->sense)) {
        pages.capacity.thin = true; // whether it trims, another path says; by which command, the pages do
        facts_.features = features_of(pages);
        co_return Result<void>{};
    }
    if (!done->good()) {
        co_return failure(EIO, "the target refuses READ CAPACITY(16) with {}", status_text(done->sense));
    }
    const Result<Capacity> size = parse_capacity(std::span(capacity).first(done->moved));
    if (!size) {
        co_return tl::unexpected<Error>(size.error());
    }
    pages.capacity = *size;
    facts_.limits = limits_of(pages);
    facts_.features = features_of(pages);
    co_return Result<void>{};
}

} // namespace mpath::iscsi
