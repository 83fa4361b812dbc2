// SPDX-License-Identifier: GPL-2.0-only
#include "run/foreign_engine.h"

#include <algorithm>
#include <array>

namespace mpath::run {
namespace {

struct KnownEngine {
    std::string_view name;
    EngineKind kind;
};

constexpr KnownEngine kEngines[] = {
    {"mpath", EngineKind::ours},
    {"fio-mpath", EngineKind::ours},
    {"libaio", EngineKind::asynchronous},
    {"io_uring", EngineKind::asynchronous},
    {"io_uring_cmd", EngineKind::asynchronous},
    {"linuxaio", EngineKind::asynchronous},
    {"posixaio", EngineKind::asynchronous},
    {"xnvme", EngineKind::asynchronous},
    {"sync", EngineKind::synchronous},
    {"psync", EngineKind::synchronous},
    {"vsync", EngineKind::synchronous},
    {"pvsync", EngineKind::synchronous},
    {"pvsync2", EngineKind::synchronous},
    {"sg", EngineKind::synchronous},
    {"libiscsi", EngineKind::addressed},
    {"spdk", EngineKind::addressed},
    {"spdk_nvme", EngineKind::addressed},
    {"spdk_bdev", EngineKind::addressed},
};

/// Options that say how an engine goes about its I/O.
constexpr std::string_view kEngineOptions[] = {
    // libaio, io_uring, pvsync2
    "userspace_reap", "cmdprio_percentage", "cmdprio_class", "cmdprio", "cmdprio_bssplit", "nowait", "hipri",
    "hipri_percentage", "fixedbufs", "registerfiles", "sqthread_poll", "sqthread_poll_cpu", "nonvectored",
    "uncached", "force_async", "cmd_type",
    // xnvme
    "xnvme_async", "xnvme_sync", "xnvme_admin", "xnvme_dev_nsid", "xnvme_dev_subnqn", "xnvme_iovec",
    "xnvme_be", "xnvme_mem",
    // SPDK
    "mem_size_mb", "mem_size", "shm_id", "enable_sgl", "sge_size", "disable_pcie_sgl_merge",
    "bit_bucket_data_len", "enable_vmd", "log_flags", "print_qid_mappings", "spdk_conf", "spdk_json_conf",
    "spdk_mem", "spdk_single_seg", "env_context", "spdk_tracing"};

/// Options about the block device of this host's kernel, which is not involved.
constexpr std::string_view kBlockLayerOptions[] = {
    "ioscheduler", "prio", "prioclass", "write_hint", "cgroup", "cgroup_weight", "cgroup_nodelete"};

/// Options that change what I/O is done, with the value at which they don't.
struct Meaningful {
    std::string_view name;
    std::string_view harmless;
    std::string_view why;
};

constexpr Meaningful kMeaningful[] = {
    {"readfua", "0", "reads with forced unit access can't be carried over; leave it out"},
    {"writefua", "0", "writes with forced unit access of the sg engine can't be carried over; see sync="},
    {"sg_write_mode", "write", "other commands than writes can't be carried over; leave it out"},
    {"digest_enable", "NONE", "SPDK's digests are --hdr-digest and --data-digest here; leave it out"},
    {"pi_act", "0", "protection information is not supported; leave it out"},
    {"pi_chk", "", "protection information is not supported; leave it out"},
    {"md_per_io_size", "", "metadata is not supported; leave it out"},
    {"apptag", "", "protection information is not supported; leave it out"},
    {"zone_append", "0", "zoned namespaces are not supported; leave it out"},
    {"initial_zone_reset", "0", "zoned namespaces are not supported; leave it out"},
};

template <std::size_t N>
bool contains(const std::string_view (&names)[N], std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// "external:/a/b/fio-mpath.so" -> "fio-mpath"; "libaio,userspace_reap" -> "libaio".
std::string_view bare_name(std::string_view ioengine) {
    constexpr std::string_view kExternal = "external:";
    if (ioengine.starts_with(kExternal)) {
        ioengine.remove_prefix(kExternal.size());
    }
    ioengine = ioengine.substr(ioengine.rfind('/') + 1);
    ioengine = ioengine.substr(0, ioengine.find(','));
    return ioengine.ends_with(".so") ? ioengine.substr(0, ioengine.size() - 3) : ioengine;
}

} // namespace

EngineKind kind_of_engine(std::string_view ioengine) {
    const std::string_view name = bare_name(ioengine);
    // Job files of ours take the engine's place from the environment; an unset variable leaves nothing.
    if (name.empty() && ioengine == "external:") {
        return EngineKind::ours;
    }
    const auto* const found = std::find_if(std::begin(kEngines), std::end(kEngines),
                                           [&](const KnownEngine& engine) { return engine.name == name; });
    return found == std::end(kEngines) ? EngineKind::none : found->kind;
}

Carried carry_option(std::string_view name, const std::optional<std::string>& value) {
    if (contains(kEngineOptions, name)) {
        return {Carry::drop, "it is about how another engine works"};
    }
    if (contains(kBlockLayerOptions, name)) {
        return {Carry::drop, "it is about this host's block layer, which is not involved"};
    }
    const auto* const found = std::find_if(std::begin(kMeaningful), std::end(kMeaningful),
                                           [&](const Meaningful& option) { return option.name == name; });
    if (found == std::end(kMeaningful)) {
        return {};
    }
    return value && *value == found->harmless ? Carried{Carry::drop, "it asks for nothing special"}
                                              : Carried{Carry::refuse, found->why};
}

} // namespace mpath::run
