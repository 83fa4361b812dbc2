// SPDX-License-Identifier: GPL-2.0-only
#include <array>

#include <fmt/format.h>

#include "record/table.h"

namespace mpath::record {

std::string path_summary(const PathResult& path, Nanoseconds measured) {
    const std::string state = path.state ? fmt::format("\"{}\"", to_string(*path.state)) : "null";
    const std::string depth =
        measured == 0
            ? "null"
            : fmt::format("{:.2f}", static_cast<double>(path.depth.area) / static_cast<double>(measured));
    return fmt::format(R"({{"state":{},"depth":{},"requeues":{},"errors":{}}})", state, depth, path.requeues,
                       path.error_count());
}

std::string operation_summary(const OperationResult& operation) {
    const Moments& moments = operation.moments;
    if (moments.count == 0) {
        return "null";
    }
    struct Time {
        const char* name;
        std::uint64_t value;
        int dispensable; // the higher, the sooner it is given up when the value would be cut
    };
    const std::array times{Time{"mean", static_cast<std::uint64_t>(moments.mean()), 0},
                           Time{"p50", operation.percentile(50).value_or(0), 2},
                           Time{"p99", operation.percentile(99).value_or(0), 0},
                           Time{"p999", operation.percentile(99.9).value_or(0), 1},
                           Time{"max", moments.max, 0}};
    std::string object;
    for (int kept = 2; kept >= 0; --kept) {
        object = fmt::format(R"({{"ios":{},"bytes":{})", moments.count, moments.bytes);
        for (const Time& time : times) {
            if (time.dispensable <= kept) {
                object += fmt::format(R"(,"{}":{})", time.name, time.value);
            }
        }
        object += "}";
        if (object.size() <= kJobOptionBytes) {
            break;
        }
    }
    return object;
}

} // namespace mpath::record
