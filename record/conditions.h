// SPDX-License-Identifier: GPL-2.0-only
// Under which conditions a job measured: what nobody remembers a month later. An empty optional is "nobody
// knows", never a default.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "path/state.h"

namespace mpath::record {

struct PathConditions {
    std::string name;
    std::string address; ///< where the path leads to
    std::optional<std::string> local_address;
    std::optional<std::string> transport;      ///< "tcp"
    std::optional<std::string> protocol;       ///< "nvme-tcp", "iscsi"
    std::optional<std::string> subsystem;      ///< NQN; NVMe
    std::optional<std::string> target;         ///< name of the target; iSCSI
    std::optional<std::uint64_t> lun;          ///< iSCSI
    std::optional<std::uint64_t> portal_group; ///< its tag; iSCSI
    std::optional<std::string> device;         ///< DeviceIdentity::text()
    std::optional<std::string> model;
    std::optional<std::string> serial;
    std::optional<std::string> firmware;
    std::optional<std::uint64_t> device_bytes;
    std::optional<std::uint64_t> block_bytes; ///< of one LBA
    std::optional<std::uint64_t> group;       ///< number of the path group
    std::optional<PathState> state_at_start;
    std::optional<std::string> state_name; ///< at the start, where the protocol has another word for it
    std::optional<PathState> state_at_end;
    std::optional<std::uint64_t> io_queues;        ///< as negotiated
    std::optional<std::uint64_t> queue_size;       ///< entries of each, as negotiated
    std::optional<std::uint64_t> max_transfer;     ///< bytes of one command (MDTS); 0 = no limit
    std::optional<std::uint64_t> in_capsule_bytes; ///< data that fits into a command capsule
    std::optional<std::uint64_t> max_h2c_data;     ///< bytes of one H2CData PDU (MAXH2CDATA)
    std::optional<std::uint64_t> first_burst;      ///< bytes of a write sent unasked (FirstBurstLength)
    std::optional<std::uint64_t> max_burst;        ///< bytes of one sequence of data PDUs (MaxBurstLength)
    std::optional<std::uint64_t> max_send_data;    ///< bytes of one PDU to the target
    std::optional<std::uint64_t> max_receive_data; ///< bytes of one PDU from the target
    std::optional<bool> immediate_data;            ///< a write's command may carry data (ImmediateData)
    std::optional<bool> unsolicited_data;          ///< further data may follow it unasked (InitialR2T=No)
    std::optional<bool> header_digest;
    std::optional<bool> data_digest;
    std::optional<std::uint64_t> host_alignment;       ///< bytes, of data the target sends (HPDA)
    std::optional<std::uint64_t> controller_alignment; ///< bytes, of data sent to the target (CPDA)
    std::optional<std::uint64_t> max_r2t;              ///< R2Ts outstanding for one command (MAXR2T)
    std::optional<std::uint64_t> keep_alive_ms;

    bool operator==(const PathConditions&) const = default;
};

/// A range of block sizes in bytes, as fio's bs= and bsrange= give them.
struct BlockSizes {
    std::uint64_t min = 0;
    std::uint64_t max = 0;

    bool operator==(const BlockSizes&) const = default;
};

/// Of fio's options, those that decide what a number means.
struct Workload {
    std::optional<std::string> rw; ///< fio's word: "randread"
    std::optional<BlockSizes> read_blocks;
    std::optional<BlockSizes> write_blocks;
    std::optional<BlockSizes> trim_blocks;
    std::optional<std::uint64_t> iodepth;
    std::optional<std::uint64_t> rate_read; ///< bytes per second; empty: not limited
    std::optional<std::uint64_t> rate_write;
    std::optional<std::uint64_t> rate_trim;
    std::optional<std::uint64_t> rate_iops_read;
    std::optional<std::uint64_t> rate_iops_write;
    std::optional<std::uint64_t> rate_iops_trim;
    std::optional<std::uint64_t> compress_percent; ///< buffer_compress_percentage
    std::optional<std::uint64_t> dedupe_percent;   ///< dedupe_percentage
    std::optional<std::string> verify;             ///< fio's word; "none" when it does not verify

    bool operator==(const Workload&) const = default;
};

/// The schedule inside the run.
struct Steering {
    std::string schedule; ///< steer=, as it was given
    std::string order;    ///< steer_order=
    std::uint64_t settle_ns = 0;
    std::optional<std::uint64_t> seed; ///< with the order `shuffle`

    bool operator==(const Steering&) const = default;
};

struct Conditions {
    std::optional<std::string> fio_version;
    std::optional<std::string> engine_version;
    std::optional<std::string> kernel_version;
    std::optional<std::string> host;
    std::optional<std::uint64_t> server_port; ///< of the fio server that ran the job; empty: no server
    std::optional<std::string> host_nqn;
    std::optional<std::string> initiator;   ///< our iSCSI name; empty: no path is iSCSI
    std::optional<std::string> net_backend; ///< "io_uring"
    std::string iopolicy;
    std::string iopolicy_rules;                ///< whose semantics: "linux kernel"
    std::string iopolicy_scope;                ///< over what it balances: "job"
    std::optional<Steering> steering;          ///< empty: no schedule
    std::optional<std::uint64_t> associations; ///< controllers this job connected
    Workload workload;
    std::vector<PathConditions> paths;

    bool operator==(const Conditions&) const = default;
};

} // namespace mpath::record
