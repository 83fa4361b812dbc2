// SPDX-License-Identifier: GPL-2.0-only
// The operational keys of a login. RFC 7143, section 13.
#pragma once

#include <cstdint>
#include <string>

#include "target/iscsi/text.h"
#include "target/options.h"

namespace mpath::target::scsi {

/// What holds for a session; defaults are what holds unless a key says otherwise.
struct Terms {
    bool header_digest = false;
    bool data_digest = false;
    std::uint32_t max_send = 8192;    ///< MaxRecvDataSegmentLength of the initiator
    std::uint32_t max_receive = 8192; ///< ours
    std::uint32_t max_burst = 262144;
    std::uint32_t first_burst = 65536;
    std::uint32_t max_outstanding_r2t = 1;
    bool initial_r2t = true;
    bool immediate_data = true;
};

class Negotiation {
public:
    /// `options`: outlives it.
    explicit Negotiation(const Options& options) : options_(options) {}

    /// Answers one key, if it is of this stage and wants an answer. False: what is said can't be.
    bool answer(const std::string& key, const std::string& value, std::string& reply);
    /// Says what is ours to say unasked, once.
    void declare(std::string& reply);
    /// What has been agreed on.
    [[nodiscard]] Terms terms() const;

private:
    bool digest(const std::string& key, const std::string& offer, bool& agreed, std::string& reply) const;

    const Options& options_;
    Terms terms_;
    bool declared_ = false;
};

} // namespace mpath::target::scsi
