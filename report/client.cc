// SPDX-License-Identifier: GPL-2.0-only
#include "report/client.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "record/text.h"
#include "record/units.h"

namespace mpath::report {
namespace {

using record::Maybe;

/// Sums of what grew between two intervals; a connection that began anew in between counts from 0 again.
struct Held {
    Nanoseconds time = 0; ///< of all intervals and connections together
    Maybe send_buffer_us;
    Maybe window_us;
    Maybe retransmits;
};

void add_growth(Maybe& sum, Maybe before, Maybe now) {
    if (now) {
        sum = sum.value_or(0) + (before && *before <= *now ? *now - *before : *now);
    }
}

using Connections = std::map<std::uint64_t, record::TcpSample>;

/// The first interval has no one before it: what its connections tell began before measuring did.
void add_interval(Held& held, Connections& before, const record::IntervalPath& path, Nanoseconds length) {
    for (const record::TcpSample& now : path.connections) {
        const auto [known, is_new] = before.try_emplace(now.queue, now);
        if (is_new) {
            continue;
        }
        held.time += length;
        add_growth(held.send_buffer_us, known->second.sndbuf_limited_us, now.sndbuf_limited_us);
        add_growth(held.window_us, known->second.rwnd_limited_us, now.rwnd_limited_us);
        add_growth(held.retransmits, known->second.retransmits, now.retransmits);
        known->second = now;
    }
}

std::optional<double> part_of(Maybe microseconds, Nanoseconds time) {
    return microseconds && time != 0 ? std::optional(std::min(1.0, static_cast<double>(*microseconds) * 1e3 /
                                                                       static_cast<double>(time)))
                                     : std::nullopt;
}

std::vector<Backpressure> backpressure_of(const Block& block) {
    std::map<std::string, Held> by_path;
    for (const Job* job : block.jobs()) {
        std::map<std::string, Connections> before;
        for (const record::Interval& interval : job->intervals) {
            for (const record::IntervalPath& path : interval.paths) {
                add_interval(by_path[path.name], before[path.name], path, interval.length);
            }
        }
    }
    std::vector<Backpressure> paths;
    for (const record::PathResult& path : block.report.result.paths) {
        const auto found = by_path.find(path.name);
        if (found != by_path.end() && found->second.time != 0) {
            const Held& held = found->second;
            paths.push_back({path.name, part_of(held.send_buffer_us, held.time),
                             part_of(held.window_us, held.time), held.retransmits});
        }
    }
    return paths;
}

std::string percent_text(double part) {
    return fmt::format("{:.1f} %", part * 100);
}

/// The largest of all paths.
std::optional<double> most(const std::vector<Backpressure>& paths,
                           std::optional<double> Backpressure::*part) {
    std::optional<double> largest;
    for (const Backpressure& path : paths) {
        largest = std::max(largest, path.*part); // an empty one is less than any other
    }
    return largest;
}

} // namespace

Client client_of(const Block& block) {
    Client client;
    const record::JobResult& job = block.report.result;
    const Maybe cpu = record::sum(job.cpu.user, job.cpu.system);
    std::uint64_t ios = 0;
    for (const record::OperationResult& operation : job.response.operations) {
        ios += operation.count();
    }
    if (cpu && job.measured() != 0 && job.jobs != 0) {
        client.cores_per_job =
            static_cast<double>(*cpu) / static_cast<double>(job.measured()) / static_cast<double>(job.jobs);
    }
    if (cpu && *cpu != 0) {
        client.user_part = static_cast<double>(*job.cpu.user) / static_cast<double>(*cpu);
    }
    if (cpu && ios != 0) {
        client.ns_per_io = static_cast<double>(*cpu) / static_cast<double>(ios);
    }
    client.paths = backpressure_of(block);
    return client;
}

std::string client_line(const Client& client) {
    if (!client.cores_per_job) {
        return "";
    }
    std::string text = fmt::format("client: {:.0f} % of a core per job", *client.cores_per_job * 100);
    if (client.user_part) {
        text += fmt::format(" ({:.0f} % of it user)", *client.user_part * 100);
    }
    if (client.ns_per_io) {
        text += fmt::format(", {} per I/O", record::format_time(*client.ns_per_io));
    }
    const auto buffer = most(client.paths, &Backpressure::by_send_buffer);
    const auto window = most(client.paths, &Backpressure::by_window);
    if (buffer || window) {
        text += fmt::format(
            "\n  sending was held back at most {} of the time by our buffer, {} by a target's window",
            buffer ? percent_text(*buffer) : record::kAbsent,
            window ? percent_text(*window) : record::kAbsent);
    }
    return text + "\n";
}

} // namespace mpath::report
