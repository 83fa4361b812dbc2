// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/io_path.h"

#include <bit>
#include <utility>

#include "nvme/queue.h"
#include "nvme/status_class.h"
#include "nvme/status_text.h"

namespace mpath::nvme {
namespace {

constexpr std::uint64_t kMaxBlocksPerRange = (std::uint64_t{1} << 32) - 1;

} // namespace

std::vector<ConnectionSocket> ConnectedPath::sockets() const {
    std::vector<ConnectionSocket> all;
    for (const ConnectedQueue& queue : queues) {
        all.push_back({queue.parameters.id, queue.socket.get()});
    }
    return all;
}

class IoPath::IoQueue final : public CommandQueue, private QueueClient {
public:
    IoQueue(IoPath& path, ConnectedQueue connected)
        : path_(path), ranges_(connected.parameters.size),
          queue_(path.reactor_, std::move(connected.socket), connected.parameters, *this) {}

    /// A queue that ends gives its slots back one by one, while its commands are told lost.
    [[nodiscard]] bool accepts() const noexcept override { return !queue_.closing() && !queue_.full(); }

    void flush() noexcept override { queue_.flush(); }

    void close(const Error& reason) noexcept override {
        queue_.close(reason, reason.code == 0 ? net::Stream::Ending::orderly : net::Stream::Ending::abort);
    }

    [[nodiscard]] PathTraffic traffic() const noexcept override {
        return traffic_of(queue_.statistics(), queue_.wire_statistics());
    }

    void submit(Request& request, std::uint32_t done, std::uint32_t length) noexcept override {
        RwCommand command;
        command.nsid = path_.nsid_;
        const std::uint64_t slba = (request.offset + done) >> path_.block_shift_;
        const std::uint32_t blocks = length >> path_.block_shift_;
        Transfer transfer = Transfer::none;
        std::byte* data = nullptr;
        switch (request.operation) {
        case Operation::read:
            command.opcode = io_opcode::kRead;
            command.slba = slba;
            command.nlb = static_cast<std::uint16_t>(blocks - 1);
            transfer = Transfer::to_host;
            data = request.buffer + done;
            break;
        case Operation::write:
            command.slba = slba;
            command.nlb = static_cast<std::uint16_t>(blocks - 1);
            if (path_.writes_.force_unit_access) {
                command.control = kForceUnitAccess;
            }
            if (path_.writes_.zeroes) {
                command.opcode = io_opcode::kWriteZeroes;
                length = 0;
            } else {
                command.opcode = io_opcode::kWrite;
                transfer = Transfer::to_controller;
                data = request.buffer + done;
            }
            break;
        case Operation::trim: {
            DsmRange& range = ranges_[queue_.next_slot()];
            range.attributes = 0;
            range.blocks = blocks;
            range.slba = slba;
            auto& dsm = reinterpret_cast<Sqe&>(command);
            dsm.opcode = io_opcode::kDatasetManagement;
            dsm.cdw10 = 0;
            dsm.cdw11 = kDsmDeallocate;
            transfer = Transfer::to_controller;
            data = reinterpret_cast<std::byte*>(&range);
            length = sizeof range;
            break;
        }
        case Operation::flush:
            command.opcode = io_opcode::kFlush;
            break;
        }
        queue_.submit(reinterpret_cast<const Sqe&>(command), transfer, data, length, &request);
    }

private:
    void on_command_done(const Completion& completion) noexcept override {
        CommandEnd end;
        if (completion.lost) {
            end.error = ErrorClass::path_down;
            end.maybe_executed = !completion.unsent;
        } else if (!completion.status.ok()) {
            end.error = classify(completion.status);
            end.status = completion.status.field;
            if (const unsigned delay = completion.status.crd(); delay != 0) {
                end.retry_after = path_.retry_delays_[delay - 1];
            }
        }
        path_.command_done(*static_cast<Request*>(completion.owner), end, path_.reactor_.arrival());
    }
    void on_sent() noexcept override { path_.has_room(path_.reactor_.arrival()); }
    void on_queue_closed(const Error& error) noexcept override {
        path_.queue_closed(error, path_.reactor_.arrival());
    }

    IoPath& path_;
    std::vector<DsmRange> ranges_; ///< one per slot: must stay until its command is done
    Queue queue_;
};

IoPath::IoPath(std::uint16_t index, std::uint32_t nsid, const DeviceLimits& limits, WriteOptions writes,
               net::Reactor& reactor, RequestList& completions, PathListener& listener)
    : QueuedPath(index, completions, listener), nsid_(nsid),
      block_shift_(static_cast<unsigned>(std::countr_zero(limits.block_size))), writes_(writes),
      reactor_(reactor) {
    set_limits(limits);
}

IoPath::~IoPath() = default;

void IoPath::set_limits(const DeviceLimits& limits) noexcept {
    const std::uint32_t transfer = whole_blocks(limits.max_transfer, block_shift_, kMaxBlocksPerCommand);
    const std::uint32_t zeroes = whole_blocks(limits.max_write_zeroes, block_shift_, kMaxBlocksPerCommand);
    CommandLimits all{};
    all[static_cast<std::size_t>(Operation::read)] = transfer;
    all[static_cast<std::size_t>(Operation::write)] = writes_.zeroes ? zeroes : transfer;
    all[static_cast<std::size_t>(Operation::trim)] =
        whole_blocks(limits.max_trim, block_shift_, kMaxBlocksPerRange);
    set_command_limits(all, limits.boundary);
}

void IoPath::attach(PathConnection& connection) {
    auto& connected = static_cast<ConnectedPath&>(connection);
    set_limits(connected.controller().limits);
    retry_delays_ = connected.controller().retry_delays;
    std::vector<std::unique_ptr<CommandQueue>> queues;
    for (ConnectedQueue& queue : connected.queues) {
        queues.push_back(std::make_unique<IoQueue>(*this, std::move(queue)));
    }
    use(std::move(queues));
}

std::string IoPath::status_text(std::uint32_t status) const {
    return nvme::status_text(Status(static_cast<std::uint16_t>(status)));
}

} // namespace mpath::nvme
