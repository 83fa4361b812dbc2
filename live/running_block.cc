// SPDX-License-Identifier: GPL-2.0-only
#include "live/running_block.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "live/control_block.h"

namespace mpath::live {

namespace {

constexpr Nanoseconds kLockInterval = kMillisecond;

tl::unexpected<Error> of_another(const FoundBlock& found, uid_t user) {
    return failure(EPERM, "fio {} belongs to user {}; only that user can watch and steer it", found.owner.pid,
                   user);
}

tl::unexpected<Error> too_early(const FoundBlock& found) {
    return failure(EAGAIN, "fio {} is about to begin; try again", found.owner.pid);
}

Result<void> check_layout(const FoundBlock& found, const BlockHeader& header) {
    if (std::atomic_ref(const_cast<std::uint64_t&>(header.magic)).load(std::memory_order_acquire) != kMagic) {
        return too_early(found);
    }
    if (header.layout_version != kLayoutVersion) {
        return failure(ENOTSUP,
                       "fio {} runs another version of fio-mpath.so (its control block has layout {}, this "
                       "command knows {}); use the fio-mpath that was built with it",
                       found.owner.pid, header.layout_version, kLayoutVersion);
    }
    return {};
}

} // namespace

std::vector<FoundBlock> find_running_blocks(const std::string& directory, const ProcessId& self) {
    std::vector<FoundBlock> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
        const auto owner = owner_from_name(entry.path().filename().string());
        struct stat status {};
        if (!owner || owner->pid_namespace != self.pid_namespace || start_of(owner->pid) != owner->start ||
            ::lstat(entry.path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
            continue;
        }
        found.push_back({entry.path().string(), *owner, status.st_uid, status.st_uid == ::geteuid()});
    }
    std::sort(found.begin(), found.end(), [](const FoundBlock& a, const FoundBlock& b) {
        return std::tuple(a.owner.start, a.owner.pid) < std::tuple(b.owner.start, b.owner.pid);
    });
    return found;
}

BlockLock::~BlockLock() {
    if (fd_ >= 0) {
        ::flock(fd_, LOCK_UN);
    }
}

Result<RunningBlock> RunningBlock::open(const FoundBlock& found) {
    UniqueFd fd(::open(found.file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    struct stat status {};
    if (!fd.valid() || ::fstat(fd.get(), &status) != 0) {
        const int code = errno;
        if (code == ENOENT) {
            return failure(code, "fio {} has ended", found.owner.pid);
        }
        if (code == EACCES) {
            return of_another(found, found.user);
        }
        return failure(code, "the control block {} can't be opened: {}", found.file, reason_of(code));
    }
    if (!found.ours || status.st_uid != ::geteuid()) {
        return of_another(found, found.ours ? status.st_uid : found.user);
    }
    if (status.st_size < static_cast<off_t>(sizeof(BlockHeader))) {
        return too_early(found);
    }
    // As much as its owner reserved: jobs that are added later are there without another mapping.
    void* memory =
        ::mmap(nullptr, kReservedBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
    if (memory == MAP_FAILED) {
        const int code = errno;
        return failure(code, "the control block {} needs {} GiB of addresses: {}; see ulimit -v", found.file,
                       kReservedBytes >> 30, reason_of(code));
    }
    RunningBlock block(found, std::move(fd), static_cast<std::byte*>(memory));
    if (const auto known = check_layout(found, *static_cast<const BlockHeader*>(memory)); !known) {
        return tl::unexpected<Error>(known.error());
    }
    return block;
}

RunningBlock::RunningBlock(const FoundBlock& found, UniqueFd fd, std::byte* memory)
    : file_(found.file), owner_(found.owner), fd_(std::move(fd)), memory_(memory) {}

RunningBlock::RunningBlock(RunningBlock&& other) noexcept
    : file_(std::move(other.file_)), owner_(other.owner_), fd_(std::move(other.fd_)),
      memory_(std::exchange(other.memory_, nullptr)) {}

RunningBlock::~RunningBlock() {
    if (memory_ != nullptr) {
        ::munmap(memory_, kReservedBytes);
    }
}

bool RunningBlock::in_use() const {
    struct stat status {};
    return ::fstat(fd_.get(), &status) == 0 && status.st_nlink > 0 && start_of(owner_.pid) == owner_.start;
}

std::vector<JobSlot*> RunningBlock::jobs() const {
    std::vector<JobSlot*> found;
    auto& header = *reinterpret_cast<BlockHeader*>(memory_);
    struct stat status {};
    ::fstat(fd_.get(), &status);
    const auto size = static_cast<std::uint64_t>(status.st_size);
    const std::uint64_t count = std::atomic_ref(header.job_count).load(std::memory_order_acquire);
    std::uint64_t offset = header.header_bytes;
    while (found.size() < count && offset + sizeof(JobSlot) <= size) {
        auto* slot = reinterpret_cast<JobSlot*>(memory_ + offset);
        if (slot->bytes < sizeof(JobSlot) || slot->bytes > size - offset) {
            break; // not what a fio of this version wrote
        }
        found.push_back(slot);
        offset += slot->bytes;
    }
    return found;
}

Result<BlockLock> RunningBlock::lock(Nanoseconds patience) const {
    for (Nanoseconds waited = 0;; waited += kLockInterval) {
        if (::flock(fd_.get(), LOCK_EX | LOCK_NB) == 0) {
            return BlockLock(fd_.get());
        }
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return failure(errno, "the control block {} can't be locked: {}", file_, reason_of(errno));
        }
        if (waited >= patience) {
            return failure(EBUSY, "another command has been steering fio {} for {} s; see `fuser {}`",
                           owner_.pid, patience / kSecond, file_);
        }
        std::this_thread::sleep_for(std::chrono::nanoseconds(kLockInterval));
    }
}

Result<void> RunningBlock::make_room(const JobSlot& job, std::size_t setting) const {
    const auto* first = reinterpret_cast<const std::byte*>(&job.operations(0, setting));
    const std::size_t length = job.path_count * sizeof(record::OperationSet);
    int code = 0;
    do {
        code = ::posix_fallocate(fd_.get(), first - memory_, static_cast<off_t>(length));
    } while (code == EINTR);
    if (code != 0) {
        return failure(code,
                       "{}: {} more KiB for the counters of a further setting of job {}: {}; free some of "
                       "/dev/shm",
                       file_, length / 1024, job.name.get(), reason_of(code));
    }
    return {};
}

JobStanding standing_of(const JobSlot& job) {
    switch (static_cast<JobPhase>(job.phase.get_acquire())) {
    case JobPhase::prepared:
        return JobStanding::prepared;
    case JobPhase::ended:
        return JobStanding::ended;
    case JobPhase::running:
        break;
    }
    return start_of(job.pid.get()) == job.pid_start.get() ? JobStanding::running : JobStanding::killed;
}

} // namespace mpath::live
