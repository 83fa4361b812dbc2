// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/io_path.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "iscsi/block_command.h"
#include "iscsi/sense.h"
#include "iscsi/session.h"
#include "iscsi/uri.h"

namespace mpath::iscsi {
namespace {

constexpr std::uint64_t kMaxBlocks = (std::uint64_t{1} << 32) - 1;

} // namespace

std::vector<ConnectionSocket> ConnectedPath::sockets() const {
    std::vector<ConnectionSocket> all;
    for (const LoggedIn& session : sessions) {
        all.push_back({static_cast<std::uint16_t>(all.size() + 1), session.socket.get()});
    }
    return all;
}

class IoPath::IoSession final : public CommandQueue, private SessionClient {
public:
    IoSession(IoPath& path, LoggedIn logged_in, std::uint16_t commands)
        : path_(path), unmaps_(commands), session_(path.reactor_, std::move(logged_in), commands, *this) {}

    /// A session that ends gives its slots back one by one, while its commands are told lost.
    [[nodiscard]] bool accepts() const noexcept override {
        return !path_.leaving_ && !session_.closing() && !session_.full();
    }

    void submit(Request& request, std::uint32_t done, std::uint32_t length) noexcept override {
        const std::uint64_t lba = (request.offset + done) >> path_.block_shift_;
        const std::uint32_t blocks = length >> path_.block_shift_;
        switch (request.operation) {
        case Operation::read:
            send(block_command(scsi_opcode::kRead16, 0, lba, blocks), Transfer::to_host,
                 request.buffer + done, length, request);
            break;
        case Operation::write:
            if (path_.writes_.zeroes) {
                write_same(0, lba, blocks, request);
            } else {
                const bool force = path_.writes_.force_unit_access && path_.features_.force_unit_access;
                const std::uint8_t flags = force ? cdb_flag::kForceUnitAccess : 0;
                send(block_command(scsi_opcode::kWrite16, flags, lba, blocks), Transfer::to_target,
                     request.buffer + done, length, request);
            }
            break;
        case Operation::trim:
            if (path_.features_.unmap) {
                UnmapList& list = unmaps_[session_.next_slot()];
                list = UnmapList(lba, blocks);
                send(unmap_command(), Transfer::to_target, reinterpret_cast<std::byte*>(&list), sizeof list,
                     request);
            } else {
                write_same(cdb_flag::kUnmap, lba, blocks, request);
            }
            break;
        case Operation::flush:
            send(block_command(scsi_opcode::kSynchronizeCache16, 0, 0, 0), Transfer::none, nullptr, 0,
                 request);
            break;
        }
    }

    void flush() noexcept override { session_.flush(); }

    void close(const Error& reason) noexcept override {
        session_.close(reason, reason.code == 0 ? net::Stream::Ending::orderly : net::Stream::Ending::abort);
    }

    [[nodiscard]] bool idle() const noexcept { return session_.outstanding() == 0; }
    void log_out() noexcept {
        session_.close({ESHUTDOWN, "the target asked to log out"}, net::Stream::Ending::orderly);
    }

    [[nodiscard]] PathTraffic traffic() const noexcept override {
        return traffic_of(session_.statistics(), session_.wire_statistics());
    }

private:
    void send(const Cdb& cdb, Transfer transfer, std::byte* data, std::uint32_t length,
              Request& request) noexcept {
        session_.submit(cdb, path_.lun_, transfer, data, length, &request);
    }

    void write_same(std::uint8_t flags, std::uint64_t lba, std::uint32_t blocks, Request& request) noexcept {
        send(block_command(scsi_opcode::kWriteSame16, flags, lba, blocks), Transfer::to_target,
             path_.zeroes_.data(), static_cast<std::uint32_t>(path_.zeroes_.size()), request);
    }

    // SessionClient
    void on_command_done(const iscsi::CommandEnd& done) noexcept override {
        auto& request = *static_cast<Request*>(done.owner);
        path_.command_done(request, end_of(done, moves_blocks(request.operation)), path_.reactor_.arrival());
        if (path_.leaving_) {
            path_.leave_when_idle();
        }
    }
    void on_room() noexcept override { path_.has_room(path_.reactor_.arrival()); }
    void on_async(const AsyncEvent& event) noexcept override {
        switch (event.event) {
        case async_event::kLogoutRequest:
            path_.leaving_ = true;
            path_.leave_when_idle();
            break;
        case async_event::kDropConnection:
        case async_event::kDropAllConnections:
        case async_event::kTasksTerminated:
            close({ECONNRESET, "the target announced that it drops the connection"});
            break;
        default: // SCSI events come as unit attentions as well; the control session attends to the rest
            break;
        }
    }
    void on_session_closed(const Error& error) noexcept override {
        path_.queue_closed(error, path_.reactor_.arrival());
    }

    /// The data of others only says what to do: tgt counts that of an UNMAP as not moved.
    [[nodiscard]] bool moves_blocks(Operation operation) const noexcept {
        return operation == Operation::read || (operation == Operation::write && !path_.writes_.zeroes);
    }

    static mpath::CommandEnd end_of(const iscsi::CommandEnd& done, bool moves_blocks) noexcept {
        mpath::CommandEnd end;
        if (done.lost) {
            end.error = ErrorClass::path_down;
            end.maybe_executed = !done.unsent;
            return end;
        }
        if (done.status != scsi_status::kGood) {
            const Sense sense = parse_sense(done.status, done.sense);
            end.error = classify(sense);
            end.status = pack(sense);
        }
        const bool incomplete = moves_blocks && done.moved != done.asked;
        if (end.error == ErrorClass::none && (done.failed || done.damaged || incomplete)) {
            end.error = ErrorClass::transport_error; // success with data damaged or missing is none
        }
        return end;
    }

    IoPath& path_;
    std::vector<UnmapList> unmaps_; ///< one per slot: must stay until its command is done
    Session session_;
};

IoPath::IoPath(std::uint16_t index, std::uint64_t lun, const DeviceLimits& limits, WriteOptions writes,
               net::Reactor& reactor, RequestList& completions, PathListener& listener)
    : QueuedPath(index, completions, listener), lun_(to_wire(lun)),
      block_shift_(static_cast<unsigned>(std::countr_zero(limits.block_size))), writes_(writes),
      reactor_(reactor), zeroes_(limits.block_size) {
    set_limits(limits);
}

IoPath::~IoPath() = default;

void IoPath::set_limits(const DeviceLimits& limits) noexcept {
    const std::uint32_t transfer = whole_blocks(limits.max_transfer, block_shift_, kMaxBlocks);
    const std::uint32_t zeroes = whole_blocks(limits.max_write_zeroes, block_shift_, kMaxBlocks);
    CommandLimits all{};
    all[static_cast<std::size_t>(Operation::read)] = transfer;
    all[static_cast<std::size_t>(Operation::write)] = writes_.zeroes ? zeroes : transfer;
    all[static_cast<std::size_t>(Operation::trim)] = whole_blocks(limits.max_trim, block_shift_, kMaxBlocks);
    set_command_limits(all, limits.boundary);
}

void IoPath::attach(PathConnection& connection) {
    auto& connected = static_cast<ConnectedPath&>(connection);
    const SessionFacts& facts = connected.session();
    features_ = facts.features;
    if (facts.limits.size != 0) {
        set_limits(facts.limits);
    }
    leaving_ = false;
    sessions_.clear();
    std::vector<std::unique_ptr<CommandQueue>> queues;
    for (LoggedIn& session : connected.sessions) {
        auto queue = std::make_unique<IoSession>(*this, std::move(session), facts.queue_size);
        sessions_.push_back(queue.get());
        queues.push_back(std::move(queue));
    }
    use(std::move(queues));
}

void IoPath::leave_when_idle() noexcept {
    if (std::all_of(sessions_.begin(), sessions_.end(),
                    [](const auto* session) { return session->idle(); })) {
        for (IoSession* session : sessions_) {
            session->log_out();
        }
    }
}

std::string IoPath::status_text(std::uint32_t status) const {
    return iscsi::status_text(unpack(status));
}

} // namespace mpath::iscsi
