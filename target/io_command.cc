// SPDX-License-Identifier: GPL-2.0-only
#include "target/io_command.h"

#include <bit>

namespace mpath::target {

namespace {

using nvme::Status;
using nvme::StatusCode;

IoPlan refuse_io(StatusCode code, bool do_not_retry = true) {
    return {.status = Status(code, do_not_retry)};
}

/// Which status a group in this state answers I/O with; success: none.
StatusCode refusal_of(nvme::AnaState state) {
    switch (state) {
    case nvme::AnaState::inaccessible:
        return StatusCode::ana_inaccessible;
    case nvme::AnaState::persistent_loss:
        return StatusCode::ana_persistent_loss;
    case nvme::AnaState::change:
        return StatusCode::ana_transition;
    default:
        return StatusCode::success;
    }
}

/// All but Flush, which every controller has.
bool is_known(std::uint8_t opcode, const Options& options) {
    switch (opcode) {
    case nvme::io_opcode::kRead:
    case nvme::io_opcode::kWrite:
        return true;
    case nvme::io_opcode::kWriteZeroes:
        return options.write_zeroes;
    case nvme::io_opcode::kDatasetManagement:
        return options.trim;
    default:
        return false;
    }
}

bool is_inside(const Namespace& space, std::uint64_t first, std::uint64_t count) {
    return first <= space.blocks() && count <= space.blocks() - first;
}

/// Read, Write and Write Zeroes.
IoPlan plan_blocks(Namespace& space, const Options& options, const nvme::Sqe& sqe) {
    const auto command = std::bit_cast<nvme::RwCommand>(sqe);
    const std::uint64_t count = command.nlb + 1ULL;
    if (!is_inside(space, command.slba, count)) {
        return refuse_io(StatusCode::lba_out_of_range);
    }
    IoPlan plan{.space = &space,
                .offset = command.slba << space.block_shift(),
                .length = count << space.block_shift()};
    if (sqe.opcode == nvme::io_opcode::kWriteZeroes) {
        if (options.max_write_zeroes != 0 && plan.length > options.max_write_zeroes) {
            return refuse_io(StatusCode::invalid_field);
        }
        return plan;
    }
    if (options.mdts != 0 && plan.length > options.mdts) {
        return refuse_io(StatusCode::invalid_field);
    }
    if (command.sgl.length != plan.length) {
        return refuse_io(StatusCode::data_sgl_length_invalid);
    }
    if (sqe.opcode == nvme::io_opcode::kWrite) {
        plan.from_host = static_cast<std::uint32_t>(plan.length);
    }
    return plan;
}

IoPlan plan_deallocate(Namespace& space, const nvme::Sqe& sqe) {
    const std::uint32_t ranges = (sqe.cdw10 & 0xff) + 1;
    const auto length = static_cast<std::uint32_t>(ranges * sizeof(nvme::DsmRange));
    if (sqe.sgl.length != length) {
        return refuse_io(StatusCode::data_sgl_length_invalid);
    }
    return {.space = &space, .length = length, .from_host = length};
}

} // namespace

IoPlan plan_io(const Subsystem& subsystem, const Listener& listener, const nvme::Sqe& sqe) {
    const bool is_flush = sqe.opcode == nvme::io_opcode::kFlush;
    Namespace* space = subsystem.find_namespace(sqe.nsid, listener);
    if (space == nullptr && !(is_flush && sqe.nsid == nvme::kNsidAll)) {
        return refuse_io(StatusCode::invalid_namespace);
    }
    const nvme::AnaState state =
        space == nullptr ? listener.options.ana.ana : listener.ana_state(subsystem.group_of(sqe.nsid));
    if (const StatusCode code = refusal_of(state); code != StatusCode::success) {
        return refuse_io(code, false);
    }
    if (is_flush) {
        return {.space = space};
    }
    const Options& options = subsystem.options();
    if (options.metadata != 0) {
        return refuse_io(StatusCode::invalid_field); // metadata is announced, but there is nowhere to keep it
    }
    if (!is_known(sqe.opcode, options)) {
        return refuse_io(StatusCode::invalid_opcode);
    }
    if (options.read_only && sqe.opcode != nvme::io_opcode::kRead) {
        return refuse_io(StatusCode::namespace_write_protected);
    }
    switch (sqe.opcode) {
    case nvme::io_opcode::kRead:
    case nvme::io_opcode::kWrite:
    case nvme::io_opcode::kWriteZeroes:
        return plan_blocks(*space, options, sqe);
    default:
        return plan_deallocate(*space, sqe);
    }
}

Status deallocate(Namespace& space, std::span<const nvme::DsmRange> ranges, std::uint32_t max_blocks) {
    for (const auto& range : ranges) {
        if (max_blocks != 0 && range.blocks > max_blocks) {
            return Status(StatusCode::command_size_limit_exceeded, true);
        }
        if (!is_inside(space, range.slba, range.blocks)) {
            return Status(StatusCode::lba_out_of_range, true);
        }
        space.zero(range.slba << space.block_shift(), std::uint64_t{range.blocks} << space.block_shift());
    }
    return Status();
}

} // namespace mpath::target
