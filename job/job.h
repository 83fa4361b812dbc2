// SPDX-License-Identifier: GPL-2.0-only
// One fio job from setup() in fio's parent to cleanup() in its own process or thread.
//
//   setup()  parent: paths parsed, asked what they lead to, compared; a slot in the control block
//   start()  job: keeper thread connects all paths; I/O engine takes their queues
//   stop()   job: paths disconnected, keeper joined, final numbers in the slot
//
// After a fork parent and job each hold a copy; what the parent wants to know later is in the slot.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "job/io_engine.h"
#include "job/keeper.h"
#include "job/options.h"
#include "job/path_list.h"
#include "job/probe.h"
#include "job/protocol.h"
#include "job/recorder.h"
#include "live/control_block.h"
#include "path/device.h"

namespace mpath::job {

class Job final : private PathCare {
public:
    static Result<std::unique_ptr<Job>> setup(Options options, FioJob fio_job);
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;
    ~Job() override;

    [[nodiscard]] const DeviceIdentity& identity() const noexcept { return identity_; }
    /// What holds on every path: the smallest size, trim only if all can.
    [[nodiscard]] const DeviceLimits& limits() const noexcept { return limits_; }

    Result<void> start(const volatile bool& terminate);
    /// Between start() and stop().
    [[nodiscard]] IoEngine& engine() noexcept { return *engine_; }
    Result<void> stop();

    [[nodiscard]] const live::JobSlot& slot() const noexcept { return *slot_; }
    /// For the paths of the slot, in its order.
    [[nodiscard]] const std::vector<std::string>& path_names() const noexcept { return path_names_; }

private:
    Job(Options options, FioJob fio_job);

    Result<void> prepare_connecting();
    Result<void> choose_paths();
    Result<std::vector<PathSpec>> all_paths();
    Result<void> ask_paths();
    Result<void> agree_on_device(const std::vector<FoundFacts>& facts);
    Result<void> check_not_in_use() const;
    Result<void> plan_steering();
    Result<void> add_slot(const std::vector<FoundFacts>& facts);
    void describe_steering(live::JobDescription& description) const;
    [[nodiscard]] std::vector<live::JobSlot*> steered_together() const;
    [[nodiscard]] std::optional<SteerPlan> steer_plan() const;
    [[nodiscard]] std::optional<record::Steering> steering_conditions() const;
    void begin() noexcept;
    Result<void> attach(std::vector<Result<std::unique_ptr<PathConnection>>> connections,
                        const volatile bool& terminate);
    void add_path(std::uint16_t index, Result<std::unique_ptr<PathConnection>> connection);
    std::vector<PathSocket> connect_path(std::uint16_t index, PathConnection& connection);
    [[nodiscard]] Nanoseconds write_hold(const PathFacts& facts) const;

    // PathCare
    void report_lost(std::uint16_t path, std::string cause) override;
    void refresh_state(std::uint16_t path) override;
    void reattach(std::uint16_t path, std::unique_ptr<PathConnection> connection) override;
    Result<void> start_record(const std::vector<std::shared_ptr<const PathFacts>>& facts);
    [[nodiscard]] Error too_few_paths(std::size_t usable, const std::vector<Error>& errors) const;

    Options options_;
    FioJob fio_job_;
    SystemClock clock_;
    std::vector<PathSpec> paths_;              ///< those that path= chose
    std::vector<std::string> discovery_notes_; ///< what discover= left out, and why
    multipath::StateFilter filter_ = multipath::StateFilter::any;
    std::vector<std::string> path_names_;
    std::optional<multipath::SteerSchedule> schedule_; ///< of steer=
    ConnectOptions connect_options_;
    DeviceIdentity identity_;
    DeviceLimits limits_;
    std::shared_ptr<live::ControlBlock> block_;
    live::JobSlot* slot_ = nullptr;

    std::unique_ptr<Keeper> keeper_;
    std::unique_ptr<net::Reactor> reactor_;
    std::unique_ptr<IoEngine> engine_;
    std::vector<Path*> io_paths_; ///< the engine's
    std::vector<PathSocket> sockets_;
    std::unique_ptr<Recorder> recorder_;
    std::atomic<Recorder*> active_recorder_{nullptr}; ///< for the keeper's thread
};

} // namespace mpath::job
