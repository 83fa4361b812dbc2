// SPDX-License-Identifier: GPL-2.0-only
#include "job/conditions.h"

#include <sys/utsname.h>

#include "iscsi/session_facts.h"
#include "nvme/controller_facts.h"

namespace mpath::job {
namespace {

constexpr std::size_t kRead = 0;
constexpr std::size_t kWrite = 1;
constexpr std::size_t kTrim = 2;

std::optional<record::BlockSizes> block_sizes(const FioJob& job, std::size_t direction) {
    if (!job.does[direction]) {
        return std::nullopt;
    }
    return record::BlockSizes{job.min_block_size[direction], job.max_block_size[direction]};
}

/// fio's 0 means: not limited.
std::optional<std::uint64_t> limit(std::uint64_t rate) {
    return rate == 0 ? std::nullopt : std::optional(rate);
}

record::Workload workload(const FioJob& job) {
    record::Workload load;
    load.rw = job.rw;
    load.read_blocks = block_sizes(job, kRead);
    load.write_blocks = block_sizes(job, kWrite);
    load.trim_blocks = block_sizes(job, kTrim);
    load.iodepth = job.iodepth;
    load.rate_read = limit(job.rate[kRead]);
    load.rate_write = limit(job.rate[kWrite]);
    load.rate_trim = limit(job.rate[kTrim]);
    load.rate_iops_read = limit(job.rate_iops[kRead]);
    load.rate_iops_write = limit(job.rate_iops[kWrite]);
    load.rate_iops_trim = limit(job.rate_iops[kTrim]);
    load.compress_percent = job.compress_percentage;
    load.dedupe_percent = job.dedupe_percentage;
    load.verify = job.verify.value_or("none");
    return load;
}

void add(record::PathConditions& conditions, const nvme::ControllerFacts& facts) {
    conditions.max_transfer = facts.mdts;
    conditions.in_capsule_bytes = facts.in_capsule;
    conditions.max_h2c_data = facts.max_h2c_data;
    conditions.header_digest = facts.pdu.header_digest;
    conditions.data_digest = facts.pdu.data_digest;
    conditions.host_alignment = nvme::alignment_bytes(facts.pdu.hpda);
    conditions.controller_alignment = nvme::alignment_bytes(facts.cpda);
    conditions.max_r2t = facts.pdu.max_r2t;
    conditions.keep_alive_ms = facts.keep_alive_ms;
}

void add(record::PathConditions& conditions, const iscsi::SessionFacts& facts) {
    const iscsi::SessionParameters& parameters = facts.parameters;
    conditions.max_transfer = facts.limits.max_transfer;
    conditions.portal_group = facts.portal_group;
    conditions.first_burst = parameters.first_burst;
    conditions.max_burst = parameters.max_burst;
    conditions.max_send_data = parameters.max_send_data;
    conditions.max_receive_data = parameters.max_receive_data;
    conditions.immediate_data = parameters.immediate_data;
    conditions.unsolicited_data = !parameters.initial_r2t;
    conditions.header_digest = parameters.header_digest;
    conditions.data_digest = parameters.data_digest;
    conditions.max_r2t = parameters.max_outstanding_r2t;
    conditions.keep_alive_ms = facts.keep_alive_ms;
}

} // namespace

record::Conditions job_conditions(const FioJob& fio_job, const multipath::IoPolicy& policy,
                                  std::string_view host_nqn, std::string_view net_backend) {
    record::Conditions conditions;
    conditions.fio_version = fio_job.fio_version;
    conditions.engine_version = MPATH_VERSION;
    utsname system{};
    if (::uname(&system) == 0) {
        conditions.kernel_version = system.release;
        conditions.host = system.nodename;
    }
    if (fio_job.server_port != 0) {
        conditions.server_port = fio_job.server_port;
    }
    conditions.host_nqn = host_nqn;
    conditions.net_backend = net_backend;
    conditions.iopolicy = policy.name();
    conditions.iopolicy_rules = policy.semantics();
    conditions.iopolicy_scope = "job";
    conditions.workload = workload(fio_job);
    return conditions;
}

record::PathConditions path_conditions(const PathSpec& path, const PathFacts* facts) {
    record::PathConditions conditions;
    conditions.name = path.name;
    conditions.address = address_of(path.uri);
    conditions.transport = "tcp";
    conditions.protocol = protocol_of(path.uri);
    const bool is_nvme = std::holds_alternative<nvme::Uri>(path.uri);
    if (is_nvme) {
        conditions.subsystem = target_of(path.uri);
    } else {
        conditions.target = target_of(path.uri);
        conditions.lun = std::get<iscsi::Uri>(path.uri).lun;
    }
    if (facts == nullptr) {
        return conditions;
    }
    conditions.address = facts->address;
    conditions.local_address = facts->local_address;
    conditions.device = facts->identity.text();
    conditions.model = facts->model.model;
    conditions.serial = facts->model.serial;
    conditions.firmware = facts->model.firmware;
    conditions.device_bytes = facts->limits.size;
    conditions.block_bytes = facts->limits.block_size;
    if (facts->reports_state) {
        conditions.group = facts->group;
        conditions.state_at_start = facts->state;
    }
    if (!facts->state_name.empty()) {
        conditions.state_name = facts->state_name;
    }
    conditions.io_queues = facts->io_queues;
    conditions.queue_size = facts->queue_size;
    if (is_nvme) {
        add(conditions, static_cast<const nvme::ControllerFacts&>(*facts));
    } else {
        add(conditions, static_cast<const iscsi::SessionFacts&>(*facts));
    }
    return conditions;
}

} // namespace mpath::job
