// SPDX-License-Identifier: GPL-2.0-only
// The engine without fio around it: a number of I/Os the way fio asks for them by default (commit after each,
// one completion at a time), on one thread. For callgrind: what two runs of different length differ by is the
// cost of the I/Os alone. It has no keeper thread, because valgrind runs one thread at a time.
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "job/io_engine.h"
#include "live/control_block.h"
#include "net/async.h"
#include "nvme/controller.h"
#include "nvme/io_path.h"

namespace {

using namespace mpath;

struct Load {
    std::vector<std::string> paths;
    std::uint64_t ios = 10000;
    std::uint32_t depth = 32;
    std::uint32_t block = 4096;
    bool write = false;
    bool header_digest = false;
    bool data_digest = false;
    std::string steer; ///< empty: no schedule
};

/// What a schedule keeps apart after a switch: short, because runs are.
constexpr Nanoseconds kSettle = 5 * kMillisecond;

template <typename T>
T value_or_die(Result<T> result) {
    if (!result) {
        fmt::print(stderr, "bench-instructions: {}\n", result.error().text);
        std::exit(1);
    }
    return std::move(*result);
}

nvme::ControllerOptions controller_options(const Load& load) {
    nvme::ControllerOptions options;
    options.host = value_or_die(nvme::host_identity(nullptr, nullptr));
    options.keep_alive_ms = 0; // nobody here to send one
    options.connect_timeout = 100 * kSecond;
    options.pdu.header_digest = load.header_digest;
    options.pdu.data_digest = load.data_digest;
    return options;
}

/// A path in trouble ends the benchmark.
class NoCare final : public job::PathCare {
public:
    void report_lost(std::uint16_t /*path*/, std::string cause) override { die(cause); }
    void refresh_state(std::uint16_t /*path*/) override { die("the state of a path changed"); }
    void reattach(std::uint16_t /*path*/, std::unique_ptr<PathConnection> /*connection*/) override {}

private:
    static void die(const std::string& cause) {
        fmt::print(stderr, "bench-instructions: {}\n", cause);
        std::exit(1);
    }
};

/// One job's worth of engine, its paths connected.
class Bench {
public:
    explicit Bench(const Load& load) : load_(load), buffers_(load.depth * std::size_t{load.block}) {
        live::JobDescription description;
        description.thread_number = 1;
        description.name = "bench";
        for (const std::string& path : load.paths) {
            description.paths.push_back({path, path});
        }
        description.iopolicy = "round-robin";
        std::optional<multipath::SteerSchedule> schedule;
        if (!load.steer.empty()) {
            schedule = value_or_die(multipath::parse_steer(load.steer, multipath::SteerOrder::abba, kSettle,
                                                           {description.iopolicy}, load.paths));
            description.steered = true;
            for (const multipath::Setting& setting : schedule->settings) {
                description.settings.push_back({setting.policy, setting.policy, setting.paths});
            }
        }
        live::JobSlot& slot = *value_or_die(block_.add_job(description));
        job::EngineOptions options;
        options.iodepth = load.depth;
        options.steer_settle = kSettle;
        if (schedule) {
            options.steer = job::SteerPlan{*schedule, job::StartClock(slot, {&slot})};
        }
        engine_ = std::make_unique<job::IoEngine>(clock_, *reactor_, slot, news_, care_, terminate_,
                                                  std::move(options));
        for (const std::string& path : load.paths) {
            add_path(path);
        }
        engine_->begin();
        engine_->set_accounting(true);
    }

    void run() {
        std::uint64_t begun = 0;
        for (; begun < std::min<std::uint64_t>(load_.depth, load_.ios); ++begun) {
            issue(static_cast<std::uint32_t>(begun));
        }
        for (std::uint64_t ended = 0; ended < load_.ios; ++ended) {
            engine_->getevents(1, 1);
            const Request& request = engine_->event(0);
            if (request.error != 0) {
                fmt::print(stderr, "bench-instructions: I/O error {}\n", request.error);
                std::exit(1);
            }
            engine_->account(request.index);
            if (begun < load_.ios) {
                issue(request.index);
                ++begun;
            }
        }
    }

    void end() {
        engine_->close();
        for (const auto& controller : controllers_) {
            net::run_until_done(*reactor_, controller->shutdown(clock_.now() + 10 * kSecond));
        }
    }

private:
    void add_path(const std::string& text) {
        const nvme::Uri uri = value_or_die(nvme::parse_uri(text));
        controllers_.push_back(value_or_die(net::run_until_done(
            *reactor_, nvme::Controller::connect(*reactor_, uri, controller_options(load_)))));
        nvme::Controller& controller = *controllers_.back();
        auto queues = value_or_die(
            net::run_until_done(*reactor_, controller.connect_io_queues(clock_.now() + 100 * kSecond)));
        blocks_ = controller.facts().limits.size / load_.block;
        auto path = std::make_unique<nvme::IoPath>(static_cast<std::uint16_t>(controllers_.size() - 1),
                                                   uri.nsid, controller.facts().limits, WriteOptions{},
                                                   *reactor_, engine_->completions(), engine_->listener());
        nvme::ConnectedPath connected(controller.facts(), std::move(queues));
        path->attach(connected);
        engine_->add_path(text, std::move(path));
    }

    void issue(std::uint32_t index) {
        engine_->queue(index, load_.write ? Operation::write : Operation::read,
                       buffers_.data() + index * std::size_t{load_.block}, random_() % blocks_ * load_.block,
                       load_.block);
        engine_->commit();
    }

    const Load& load_;
    SystemClock clock_;
    std::vector<std::byte> buffers_;
    live::ControlBlock block_ = value_or_die(live::ControlBlock::create());
    std::unique_ptr<net::Reactor> reactor_ = value_or_die(net::make_reactor(clock_, 64));
    job::PathNews news_{load_.paths.size()};
    NoCare care_;
    bool terminate_ = false;
    std::unique_ptr<job::IoEngine> engine_;
    std::vector<std::unique_ptr<nvme::Controller>> controllers_;
    std::uint64_t blocks_ = 0;
    std::minstd_rand random_{1};
};

} // namespace

int main(int argc, char** argv) {
    Load load;
    CLI::App app("A number of I/Os through the engine alone, to be counted by callgrind");
    app.add_option("--path", load.paths, "URI of a path; several times for several")->required();
    app.add_option("--ios", load.ios, "how many")->check(CLI::PositiveNumber);
    app.add_option("--depth", load.depth, "how many outstanding")->check(CLI::Range(1, 1024));
    app.add_option("--block", load.block, "bytes of each")->check(CLI::Range(512, 16 << 20));
    app.add_flag("--write", load.write, "write instead of read");
    app.add_option("--steer", load.steer, "a schedule, as the engine's option steer=");
    app.add_flag("--hdr-digest", load.header_digest);
    app.add_flag("--data-digest", load.data_digest);
    CLI11_PARSE(app, argc, argv);
    Bench bench(load);
    bench.run();
    bench.end();
    return 0;
}
