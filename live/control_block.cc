// SPDX-License-Identifier: GPL-2.0-only
#include "live/control_block.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <type_traits>
#include <utility>

#include "live/process.h"

namespace mpath::live {

namespace {

/// Settings that commands from outside may add to those a job knows when it is set up.
constexpr std::uint32_t kSpareSettings = 30;
constexpr std::size_t kSlotAlignment = 4096;

static_assert(std::is_trivially_default_constructible_v<JobSlot> && std::is_trivially_copyable_v<JobSlot>);
static_assert(std::is_trivially_default_constructible_v<PathSlot> && std::is_trivially_copyable_v<PathSlot>);
static_assert(sizeof(JobSlot) % alignof(PathSlot) == 0 &&
              sizeof(PathSlot) % alignof(record::OperationSet) == 0);

constexpr std::size_t round_up(std::size_t value, std::size_t to) {
    return (value + to - 1) / to * to;
}

std::uint32_t settings_for(const JobDescription& job) {
    const auto known = static_cast<std::uint32_t>(std::max<std::size_t>(job.settings.size(), 1));
    return std::min(known + 1 + kSpareSettings, kMaxSettings);
}

void name_settings(JobSlot& slot, const JobDescription& job) {
    slot.settings[kFirstSetting].name.set(job.iopolicy);
    slot.settings[kFirstSetting].policy.set(job.iopolicy);
    slot.settings[kFirstSetting].paths.set(kAllPaths);
    slot.settings[kTransitionSetting].name.set(record::kTransition);
    std::uint32_t named = 0;
    for (const JobDescription::SettingName& setting : job.settings) {
        SettingSlot& to = slot.settings[named];
        to.name.set(setting.name);
        to.policy.set(setting.policy);
        to.paths.set(setting.paths);
        named += named == kFirstSetting ? 2 : 1;
    }
    slot.settings_named.set_release(std::max(named, kTransitionSetting + 1));
    slot.transition_kept.set(job.steered ? 1 : 0);
}

/// Makes [offset, offset + length) of the file real memory.
Result<void> grow(int fd, const std::string& file, std::size_t offset, std::size_t length) {
    int code = 0;
    do {
        code = ::posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(length));
    } while (code == EINTR);
    if (code != 0) {
        return failure(
            code, "{}: {} more KiB for the counters of a job: {}; free some of /dev/shm or run fewer jobs",
            file, length / 1024, reason_of(code));
    }
    return {};
}

} // namespace

Result<ControlBlock> ControlBlock::create(const std::string& directory) {
    const auto self = this_process();
    if (!self) {
        return tl::unexpected(self.error());
    }
    remove_stale_blocks(directory, *self);

    std::string file = directory + "/" + block_name(*self);
    UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.valid()) {
        return failure(errno, "the control block {} can't be made: {}", file, reason_of(errno));
    }
    const auto grown = grow(fd.get(), file, 0, kSlotAlignment);
    if (!grown) {
        ::unlink(file.c_str());
        return tl::unexpected(grown.error());
    }
    void* memory =
        ::mmap(nullptr, kReservedBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
    if (memory == MAP_FAILED) {
        const int code = errno;
        ::unlink(file.c_str());
        return failure(code, "the control block {} needs {} GiB of addresses: {}; see ulimit -v", file,
                       kReservedBytes >> 30, reason_of(code));
    }
    ControlBlock block(std::move(file), std::move(fd), static_cast<std::byte*>(memory));
    BlockHeader& header = block.header();
    header.layout_version = kLayoutVersion;
    header.header_bytes = kSlotAlignment;
    header.owner_pid = self->pid;
    header.owner_start = self->start;
    std::atomic_ref(header.magic).store(kMagic, std::memory_order_release);
    return block;
}

ControlBlock::ControlBlock(std::string file, UniqueFd fd, std::byte* memory)
    : file_(std::move(file)), fd_(std::move(fd)), memory_(memory), used_(kSlotAlignment), owner_(::getpid()) {
}

ControlBlock::ControlBlock(ControlBlock&& other) noexcept
    : file_(std::move(other.file_)), fd_(std::move(other.fd_)),
      memory_(std::exchange(other.memory_, nullptr)), used_(other.used_), owner_(other.owner_) {}

ControlBlock::~ControlBlock() {
    if (memory_ == nullptr) {
        return;
    }
    ::munmap(memory_, kReservedBytes);
    if (owned()) {
        ::unlink(file_.c_str());
    }
}

bool ControlBlock::owned() const {
    return ::getpid() == owner_;
}

Result<JobSlot*> ControlBlock::add_job(const JobDescription& job) {
    const std::size_t paths_offset = sizeof(JobSlot);
    const std::size_t operations_offset = paths_offset + job.paths.size() * sizeof(PathSlot);
    const std::size_t setting_bytes = job.paths.size() * sizeof(record::OperationSet);
    const std::uint32_t setting_count = settings_for(job);
    // What is known from the start, as memory; the rest as a hole.
    const std::size_t used_settings = job.steered ? std::max<std::size_t>(job.settings.size(), 1) + 1 : 1;
    const std::size_t memory = operations_offset + used_settings * setting_bytes;
    const std::size_t bytes = round_up(operations_offset + setting_count * setting_bytes, kSlotAlignment);
    if (used_ + bytes > kReservedBytes) {
        return failure(
            E2BIG, "{}: the counters of job {} do not fit into the {} GiB of a control block; run fewer jobs",
            file_, job.name, kReservedBytes >> 30);
    }
    if (const auto grown = grow(fd_.get(), file_, used_, memory); !grown) {
        return tl::unexpected(grown.error());
    }
    if (::ftruncate(fd_.get(), static_cast<off_t>(used_ + bytes)) != 0) {
        return failure(errno, "{}: room for the settings of a job: {}", file_, reason_of(errno));
    }
    auto* slot = reinterpret_cast<JobSlot*>(memory_ + used_);
    slot->bytes = bytes;
    slot->thread_number = job.thread_number;
    slot->group_id = job.group_id;
    slot->group_reporting = job.group_reporting ? 1 : 0;
    slot->path_count = static_cast<std::uint32_t>(job.paths.size());
    slot->setting_count = setting_count;
    slot->paths_offset = static_cast<std::uint32_t>(paths_offset);
    slot->operations_offset = static_cast<std::uint32_t>(operations_offset);
    slot->name.set(job.name);
    slot->iopolicy.set(job.iopolicy);
    slot->start_set = job.start_set;
    slot->steered.set(job.steered ? 1 : 0);
    slot->start_delay.set(job.start_delay);
    slot->shuffle_seed.set(job.shuffle_seed);
    name_settings(*slot, job);
    for (std::size_t index = 0; index < job.paths.size(); ++index) {
        slot->path(index).name.set(job.paths[index].name);
        slot->path(index).address.set(job.paths[index].address);
    }
    used_ += bytes;
    std::atomic_ref(header().job_count).fetch_add(1, std::memory_order_release);
    return slot;
}

std::vector<const JobSlot*> ControlBlock::jobs() const {
    const std::vector<JobSlot*> found = slots();
    return {found.begin(), found.end()};
}

std::vector<JobSlot*> ControlBlock::slots() const {
    std::vector<JobSlot*> found;
    const std::uint64_t count = std::atomic_ref(header().job_count).load(std::memory_order_acquire);
    std::size_t offset = header().header_bytes;
    for (std::uint64_t index = 0; index < count; ++index) {
        auto* slot = reinterpret_cast<JobSlot*>(memory_ + offset);
        found.push_back(slot);
        offset += slot->bytes;
    }
    return found;
}

} // namespace mpath::live
