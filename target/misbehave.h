// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "nvme/wire/command.h"
#include "target/io_command.h"
#include "target/misdeed.h"
#include "target/pdu_writer.h"

namespace mpath::target {

/// Which commands a misdeed can be done to.
enum class Victims : std::uint8_t { r2t_writes, reads, all };

/// Where the misdeed stands beside the command's proper answer.
enum class Place : std::uint8_t { in_r2ts, before, instead, after };

/// Counts a connection's commands up to the one that gets it.
class Misbehaviour {
public:
    explicit Misbehaviour(const Break& told) : what_(told.what), to_come_(told.at) {}

    /// Another of these commands; what to do wrong with it.
    Misdeed next(Victims kind);

private:
    Misdeed what_;
    std::uint32_t to_come_;
};

/// `misdeed`: not none.
Victims victims_of(Misdeed misdeed);
Place place_of(Misdeed misdeed);

/// Writes what is wrong. `cqe`: the proper completion of the command. Precondition: its place is not in_r2ts;
/// those are Queue's own.
void misbehave(Misdeed misdeed, PduWriter& writer, const nvme::Cqe& cqe, const IoPlan& plan);

} // namespace mpath::target
