// SPDX-License-Identifier: GPL-2.0-only
// The numbers of a block as rows: what tables, CSV and pages are made of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/block.h"

namespace mpath::report {

/// One operation of one path in one setting. Response times are the path's: from dispatch to completion
/// there.
struct Row {
    std::string setting; ///< as in the record; empty: all settings and transitions together
    std::string path;    ///< name; empty: all paths together
    Operation operation = Operation::read;
    double seconds = 0; ///< what rates are over; 0: there are none (the transition)
    record::OperationResult result;
    std::optional<double> share; ///< 0 .. 1, of the I/Os of this operation in the setting; of a path alone

    [[nodiscard]] std::optional<double> iops() const;
    /// Bytes per second; empty for what moves none.
    [[nodiscard]] std::optional<double> bandwidth() const;
    /// Nanoseconds; empty without I/O.
    [[nodiscard]] std::optional<double> mean() const;
};

/// Setting by setting, path by path; operations without any I/O in a setting have no row there. A block with
/// one setting has its rows once, under the setting's name.
[[nodiscard]] std::vector<Row> rows_of(const Block& block);

} // namespace mpath::report
