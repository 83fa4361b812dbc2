// SPDX-License-Identifier: GPL-2.0-only
#include "net/wakeup.h"

#include <sys/eventfd.h>

#include <cstring>

namespace mpath::net {

Result<std::unique_ptr<Wakeup>> Wakeup::create(Reactor& reactor) {
    UniqueFd fd(::eventfd(0, EFD_CLOEXEC));
    if (!fd.valid()) {
        return failure(errno, "no event descriptor: {}", std::strerror(errno));
    }
    return std::unique_ptr<Wakeup>(new Wakeup(reactor, std::move(fd)));
}

Wakeup::Wakeup(Reactor& reactor, UniqueFd fd) : reactor_(reactor), fd_(std::move(fd)) {
    operation_.owner = this;
    operation_.done = woken;
    wait();
}

void Wakeup::wait() noexcept {
    reactor_.read(operation_, fd_.get(), &count_, sizeof count_);
}

void Wakeup::post(Task task) {
    {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
    }
    const std::uint64_t one = 1;
    // Can't fail but when the counter is full, and then the thread is about to be woken anyway.
    [[maybe_unused]] const auto written = ::write(fd_.get(), &one, sizeof one);
}

void Wakeup::woken(Operation& operation, int result) noexcept {
    auto& self = *static_cast<Wakeup*>(operation.owner);
    if (result == -ECANCELED) {
        return;
    }
    std::vector<Task> tasks;
    {
        const std::lock_guard lock(self.mutex_);
        tasks.swap(self.tasks_);
    }
    self.wait();
    for (const Task& task : tasks) {
        task();
    }
}

} // namespace mpath::net
