// SPDX-License-Identifier: GPL-2.0-only
#include "job/job.h"

#include <algorithm>

#include "job/conditions.h"
#include "job/discover.h"
#include "job/mounted_device.h"

namespace mpath::job {
namespace {

/// For reaching a target and for everything it has to say before the first I/O.
constexpr Nanoseconds kConnectTimeout = 10 * kSecond;

/// The control block of this run: made for the first job, gone with the last.
Result<std::shared_ptr<live::ControlBlock>> run_block() {
    static std::weak_ptr<live::ControlBlock> current;
    if (auto block = current.lock()) {
        return block;
    }
    auto made = live::ControlBlock::create();
    if (!made) {
        return tl::unexpected<Error>(made.error());
    }
    auto block = std::make_shared<live::ControlBlock>(std::move(*made));
    current = block;
    return block;
}

/// A target that has no controller left does not know who takes them all; we do.
Error with_association_count(Error error, const live::ControlBlock* block, std::size_t own_paths) {
    if (error.code == EBUSY) {
        std::size_t count = own_paths;
        for (const live::JobSlot* job :
             block != nullptr ? block->jobs() : std::vector<const live::JobSlot*>{}) {
            count += job->path_count;
        }
        error.text += fmt::format(" (this run asks for {} associations so far, one per job and path)", count);
    }
    return error;
}

} // namespace

Job::Job(Options options, FioJob fio_job) : options_(std::move(options)), fio_job_(std::move(fio_job)) {}

Job::~Job() = default;

// ---- setup

Result<std::unique_ptr<Job>> Job::setup(Options options, FioJob fio_job) {
    std::unique_ptr<Job> job(new Job(std::move(options), std::move(fio_job)));
    if (auto prepared = job->prepare_connecting(); !prepared) {
        return tl::unexpected<Error>(prepared.error());
    }
    if (auto chosen = job->choose_paths(); !chosen) {
        return tl::unexpected<Error>(chosen.error());
    }
    if (auto planned = job->plan_steering(); !planned) {
        return tl::unexpected<Error>(planned.error());
    }
    auto block = run_block();
    if (!block) {
        return tl::unexpected<Error>(block.error());
    }
    job->block_ = std::move(*block);
    if (auto asked = job->ask_paths(); !asked) {
        return tl::unexpected<Error>(asked.error());
    }
    return job;
}

Result<void> Job::prepare_connecting() {
    if (auto sockets = net::check(options_.socket); !sockets) {
        return sockets;
    }
    auto connect = connect_options({options_.hostnqn, options_.hostid, options_.initiator, options_.chap_user,
                                    options_.chap_secret_file});
    if (!connect) {
        return tl::unexpected<Error>(connect.error());
    }
    connect_options_ = std::move(*connect);
    const auto set = [this](auto& options) {
        options.io_queues = options_.nr_io_queues;
        options.queue_size = options_.queue_size;
        options.keep_alive_ms = options_.keep_alive_seconds * 1000;
        options.connect_timeout = kConnectTimeout;
        options.socket = options_.socket;
    };
    set(connect_options_.nvme);
    set(connect_options_.iscsi);
    connect_options_.nvme.pdu = options_.pdu;
    connect_options_.iscsi.header_digest = options_.pdu.header_digest;
    connect_options_.iscsi.data_digest = options_.pdu.data_digest;
    return {};
}

Result<void> Job::choose_paths() {
    auto list = all_paths();
    if (!list) {
        return tl::unexpected<Error>(list.error());
    }
    auto selection = parse_path_selection(options_.path.value_or("all"), *list);
    if (!selection) {
        return tl::unexpected<Error>(selection.error());
    }
    filter_ = selection->filter;
    for (const std::uint16_t index : selection->indices) {
        paths_.push_back((*list)[index]);
        path_names_.push_back(paths_.back().name);
    }
    return {};
}

/// Those of paths=, and with discover= those that were found.
Result<std::vector<PathSpec>> Job::all_paths() {
    auto listed = parse_path_list(options_.paths);
    if (!listed || !options_.discover) {
        return listed;
    }
    auto found = discover_paths(clock_, std::move(*listed), connect_options_);
    if (!found) {
        return tl::unexpected<Error>(found.error());
    }
    discovery_notes_ = std::move(found->notes);
    return std::move(found->list);
}

Result<void> Job::ask_paths() {
    std::vector<PathUri> uris;
    for (const PathSpec& path : paths_) {
        uris.push_back(path.uri);
    }
    auto facts = probe(clock_, uris, connect_options_);
    if (!facts) {
        return tl::unexpected<Error>(facts.error());
    }
    if (auto agreed = agree_on_device(*facts); !agreed) {
        return agreed;
    }
    if (auto free = check_not_in_use(); !free) {
        return free;
    }
    return add_slot(*facts);
}

Result<void> Job::agree_on_device(const std::vector<FoundFacts>& facts) {
    const PathFacts* first = nullptr;
    std::string first_name;
    const PathFacts* sized = nullptr; ///< the first that knows the device's size
    std::string sized_name;
    std::size_t usable = 0;
    std::vector<Error> errors;
    for (std::size_t i = 0; i < facts.size(); ++i) {
        const std::string& name = path_names_[i];
        if (!facts[i]) {
            const Error error = with_association_count(facts[i].error(), block_.get(), paths_.size());
            errors.push_back({error.code, fmt::format("path {}: {}", name, error.text)});
            continue;
        }
        const PathFacts& one = **facts[i];
        if (first == nullptr) {
            first = &one;
            first_name = name;
            identity_ = one.identity;
        } else if (one.identity != first->identity) {
            return failure(
                ENODEV,
                "paths {} and {} lead to different devices ({} and {}): give each device a job of its own",
                first_name, name, first->identity.text(), one.identity.text());
        }
        if (one.limits.size == 0) {
            // It takes no I/O now, and does not say (ALUA standby).
        } else if (sized == nullptr) {
            sized = &one;
            sized_name = name;
            limits_ = one.limits;
        } else if (one.limits.block_size != sized->limits.block_size ||
                   one.limits.size != sized->limits.size) {
            return failure(
                ENODEV,
                "paths {} and {} disagree about the device: {} blocks of {} bytes and {} blocks of {} bytes",
                sized_name, name, sized->limits.size / sized->limits.block_size, sized->limits.block_size,
                one.limits.size / one.limits.block_size, one.limits.block_size);
        }
        if (one.limits.size != 0) {
            limits_.can_trim = limits_.can_trim && one.limits.can_trim;
            limits_.can_write_zeroes = limits_.can_write_zeroes && one.limits.can_write_zeroes;
            limits_.read_only = limits_.read_only || one.limits.read_only;
        }
        if (is_usable(one.state)) {
            ++usable;
        } else {
            errors.push_back(
                {ENOLINK, fmt::format("path {} is {}", name,
                                      one.state_name.empty() ? to_string(one.state)
                                                             : std::string_view(one.state_name))});
        }
    }
    if (first != nullptr && facts.size() > 1 && first->identity.kind == DeviceIdentity::Kind::none) {
        return failure(ENODEV, "the device has no identity (UUID, NGUID, EUI64; VPD 83h), so nothing says "
                               "that its paths lead to the same one: "
                               "use one path");
    }
    if (usable < options_.min_paths) {
        return tl::unexpected<Error>(too_few_paths(usable, errors));
    }
    if (first != nullptr && sized == nullptr) {
        return failure(ENOLINK, "no path says how large the device is: all of them are out of use just now");
    }
    return {};
}

Error Job::too_few_paths(std::size_t usable, const std::vector<Error>& errors) const {
    std::string text;
    if (errors.size() == 1 && paths_.size() == 1 && discovery_notes_.empty()) {
        return errors.front();
    }
    text = usable == 0 ? "no usable path"
                       : fmt::format("{} of {} paths usable, min_paths={}", usable, paths_.size(),
                                     options_.min_paths);
    for (const Error& error : errors) {
        text += fmt::format("; {}", error.text);
    }
    for (const std::string& note : discovery_notes_) {
        text += fmt::format("; {}", note);
    }
    return {errors.empty() ? EINVAL : errors.front().code, text};
}

Result<void> Job::check_not_in_use() const {
    if (!fio_job_.does[1] && !fio_job_.does[2]) {
        return {};
    }
    if (options_.allow_mounted_write) {
        return {};
    }
    if (const auto use = describe_use(find_local_devices(identity_))) {
        return failure(EBUSY,
                       "{}; writing to it past the kernel would destroy what is there: stop using it, or set "
                       "allow_mounted_write=1",
                       *use);
    }
    return {};
}

Result<void> Job::add_slot(const std::vector<FoundFacts>& facts) {
    live::JobDescription description;
    description.thread_number = fio_job_.thread_number;
    description.group_id = fio_job_.group_id;
    description.group_reporting = fio_job_.group_reporting;
    description.name = fio_job_.name;
    description.iopolicy = options_.iopolicy;
    for (const PathSpec& path : paths_) {
        description.paths.push_back({path.name, address_of(path.uri)});
    }
    describe_steering(description);
    auto slot = block_->add_job(description);
    if (!slot) {
        return tl::unexpected<Error>(slot.error());
    }
    slot_ = *slot;
    for (const std::string& note : discovery_notes_) {
        slot_->events.add(clock_.now(), clock_.utc(), record::kNoPath, record::EventKind::refused, note);
    }
    for (std::size_t i = 0; i < facts.size(); ++i) {
        live::PathSlot& path = slot_->path(i);
        if (!facts[i]) {
            slot_->events.add(clock_.now(), clock_.utc(), static_cast<std::uint16_t>(i),
                              record::EventKind::refused, facts[i].error().text);
            continue;
        }
        const PathFacts& one = **facts[i];
        path.device.set(one.identity.text());
        path.model.set(one.model.model);
        path.serial.set(one.model.serial);
        path.firmware.set(one.model.firmware);
        path.set_state(one.state);
        if (one.reports_state) {
            path.group.set(one.group);
        }
    }
    return {};
}

// ---- the job

Result<void> Job::start(const volatile bool& terminate) {
    auto reactor =
        net::make_reactor(clock_, 4 * static_cast<unsigned>(paths_.size()) * options_.nr_io_queues);
    if (!reactor) {
        return tl::unexpected<Error>(reactor.error());
    }
    reactor_ = std::move(*reactor);
    reactor_->set_busy_poll(options_.busy_poll);
    std::vector<PathUri> uris;
    for (const PathSpec& path : paths_) {
        uris.push_back(path.uri);
    }
    keeper_ = std::make_unique<Keeper>(
        clock_, std::move(uris), connect_options_, slot_->events, options_.interval,
        [this] {
            if (Recorder* recorder = active_recorder_.load(std::memory_order_acquire)) {
                recorder->checkpoint();
            }
        },
        options_.life, JobDevice{identity_, limits_.block_size, limits_.size});
    auto connections = keeper_->connect();
    if (!connections) {
        return tl::unexpected<Error>(connections.error());
    }
    return attach(std::move(*connections), terminate);
}

Result<void> Job::attach(std::vector<Result<std::unique_ptr<PathConnection>>> connections,
                         const volatile bool& terminate) {
    EngineOptions engine;
    engine.iodepth = fio_job_.iodepth;
    engine.interval = options_.interval;
    engine.io_timeout = options_.io_timeout;
    engine.most_time = fio_job_.runtime == 0 ? 0 : fio_job_.ramp + fio_job_.runtime;
    engine.retry.dnr_fails_over = options_.dnr_fails_over;
    PathCare& care = *this;
    engine.steer_settle = options_.steer_settle;
    engine.steer = steer_plan();
    engine_ = std::make_unique<IoEngine>(clock_, *reactor_, *slot_, keeper_->news(), care, terminate,
                                         std::move(engine));
    engine_->paths().set_filter(filter_);
    std::vector<Error> errors;
    std::vector<std::shared_ptr<const PathFacts>> facts;
    for (std::size_t i = 0; i < connections.size(); ++i) {
        Result<std::unique_ptr<PathConnection>>& connection = connections[i];
        facts.push_back(connection ? (*connection)->facts() : nullptr);
        if (!connection) {
            const Error error = with_association_count(connection.error(), block_.get(), 0);
            errors.push_back({error.code, fmt::format("path {}: {}", path_names_[i], error.text)});
        }
        add_path(static_cast<std::uint16_t>(i), std::move(connection));
    }
    if (const std::size_t usable = engine_->paths().usable(); usable < options_.min_paths) {
        return tl::unexpected<Error>(too_few_paths(usable, errors));
    }
    begin();
    return options_.log_prefix ? start_record(facts) : Result<void>{};
}

/// One that could not be connected is there all the same: the keeper goes on trying.
void Job::add_path(std::uint16_t index, Result<std::unique_ptr<PathConnection>> connection) {
    const WriteOptions writes{fio_job_.syncs_writes, options_.write_zeroes};
    auto path = make_path(paths_[index].uri, index, limits_, writes, *reactor_, engine_->completions(),
                          engine_->listener());
    io_paths_.push_back(path.get());
    engine_->add_path(path_names_[index], std::move(path));
    if (connection) {
        const std::vector<PathSocket> sockets = connect_path(index, **connection);
        sockets_.insert(sockets_.end(), sockets.begin(), sockets.end());
    }
}

std::vector<PathSocket> Job::connect_path(std::uint16_t index, PathConnection& connection) {
    const PathFacts& facts = *connection.facts();
    std::vector<PathSocket> sockets;
    for (const ConnectionSocket& socket : connection.sockets()) {
        sockets.push_back({index, socket.number, socket.fd, socket_cookie(socket.fd)});
    }
    Path& path = *io_paths_[index];
    path.set_state(facts.state);
    slot_->path(index).set_state(facts.state);
    engine_->paths().set_reports_state(index, facts.reports_state);
    engine_->paths().set_write_hold(index, write_hold(facts));
    path.attach(connection);
    return sockets;
}

Nanoseconds Job::write_hold(const PathFacts& facts) const {
    return options_.hold_writes.value_or(fio_job_.verify.has_value()) ? facts.quiet_after_loss : 0;
}

void Job::report_lost(std::uint16_t path, std::string cause) {
    keeper_->report_lost(path, std::move(cause));
}

void Job::refresh_state(std::uint16_t path) {
    keeper_->refresh_state(path);
}

void Job::reattach(std::uint16_t path, std::unique_ptr<PathConnection> connection) {
    const std::vector<PathSocket> sockets = connect_path(path, *connection);
    if (recorder_) {
        recorder_->replace_sockets(path, sockets);
    }
}

Result<void> Job::start_record(const std::vector<std::shared_ptr<const PathFacts>>& facts) {
    record::Conditions conditions = job_conditions(fio_job_, engine_->paths().policy(),
                                                   connect_options_.nvme.host.nqn, reactor_->backend());
    std::uint64_t associations = 0;
    for (std::size_t i = 0; i < facts.size(); ++i) {
        conditions.paths.push_back(path_conditions(paths_[i], facts[i].get()));
        associations += facts[i] ? 1 : 0;
    }
    conditions.associations = associations;
    const bool any_iscsi = std::any_of(paths_.begin(), paths_.end(), [](const PathSpec& path) {
        return std::holds_alternative<iscsi::Uri>(path.uri);
    });
    if (any_iscsi) {
        conditions.initiator = connect_options_.iscsi.initiator_name;
    }
    conditions.steering = steering_conditions();
    auto recorder = Recorder::create(clock_, *options_.log_prefix, *slot_, std::move(conditions),
                                     std::move(sockets_), options_.fault_log);
    if (!recorder) {
        return tl::unexpected<Error>(recorder.error());
    }
    recorder_ = std::move(*recorder);
    active_recorder_.store(recorder_.get(), std::memory_order_release);
    return {};
}

Result<void> Job::stop() {
    if (engine_) {
        if (slot_->counters.ended_at.get() == 0) {
            engine_->set_accounting(false);
        }
        engine_->close();
        engine_->publish();
    }
    if (keeper_) {
        keeper_->stop();
    }
    slot_->phase.set_release(static_cast<std::uint64_t>(live::JobPhase::ended));
    active_recorder_ = nullptr;
    Result<void> recorded = recorder_ ? recorder_->finish() : Result<void>{};
    recorder_.reset();
    io_paths_.clear();
    engine_.reset();
    reactor_.reset();
    keeper_.reset();
    return recorded;
}

} // namespace mpath::job
