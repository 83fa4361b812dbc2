// SPDX-License-Identifier: GPL-2.0-only
// What a job was asked to do, as the core keeps it: plugin/bridge.h has the meaning of every field.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "job/life_options.h"
#include "multipath/steer_schedule.h"
#include "net/socket_options.h"
#include "nvme/pdu_options.h"

namespace mpath::job {

struct Options {
    std::string paths;
    bool discover = false;
    std::optional<std::string> path;
    std::optional<std::string> hostnqn;
    std::optional<std::string> hostid;
    std::optional<std::string> initiator;
    std::optional<std::string> chap_user;
    std::optional<std::string> chap_secret_file;
    std::optional<std::string> log_prefix;
    std::uint32_t min_paths = 1;
    std::string iopolicy = "round-robin";
    std::optional<std::string> steer;
    Nanoseconds steer_settle = multipath::kDefaultSettle;
    std::uint16_t nr_io_queues = 1;
    std::uint16_t queue_size = 128;
    std::uint32_t keep_alive_seconds = 5;
    LifeOptions life{};
    Nanoseconds io_timeout = 30 * kSecond; ///< 0: none
    std::optional<bool> hold_writes;       ///< nothing: if the job verifies
    bool dnr_fails_over = false;
    std::optional<std::string> fault_log;
    net::SocketOptions socket{};
    nvme::PduOptions pdu{};
    multipath::SteerOrder steer_order = multipath::SteerOrder::abba;
    bool busy_poll = false;
    bool write_zeroes = false;
    Nanoseconds interval = kSecond;
    bool allow_mounted_write = false;
};

/// Index: plugin/bridge.h's directions.
template <typename T>
using PerDirection = std::array<T, 3>;

struct FioJob {
    std::string fio_version;
    std::string name;
    std::uint32_t thread_number = 1;
    std::uint32_t group_id = 0;
    bool group_reporting = false;
    std::uint32_t server_port = 0;
    std::uint32_t iodepth = 1;
    PerDirection<bool> does{};
    bool syncs_writes = false;
    std::string rw;
    std::optional<std::string> verify;
    PerDirection<std::uint64_t> min_block_size{};
    PerDirection<std::uint64_t> max_block_size{};
    PerDirection<std::uint64_t> rate{};
    PerDirection<std::uint32_t> rate_iops{};
    std::uint32_t compress_percentage = 0;
    std::uint32_t dedupe_percentage = 0;
    Nanoseconds runtime = 0; ///< 0: until all is done
    Nanoseconds ramp = 0;
    bool waits_for_earlier = false; ///< stonewall=: it begins the next set of jobs that start together
    Nanoseconds start_delay = 0;
    std::uint64_t random_seed = 0;
};

} // namespace mpath::job
