// SPDX-License-Identifier: GPL-2.0-only
#pragma once

namespace mpath::iscsi {

/// By which commands a logical unit does what DeviceLimits says it can do.
struct ScsiFeatures {
    bool unmap = false;            ///< trims by UNMAP
    bool write_same_unmap = false; ///< trims by WRITE SAME(16) with UNMAP; used where UNMAP can't be
    /// Takes Force Unit Access. One that does not, and has no write cache, has no need of it.
    bool force_unit_access = false;

    bool operator==(const ScsiFeatures&) const = default;
};

} // namespace mpath::iscsi
