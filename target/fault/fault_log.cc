// SPDX-License-Identifier: GPL-2.0-only
#include "target/fault/fault_log.h"

#include <cerrno>
#include <cstring>
#include <string_view>

#include <nlohmann/json.hpp>

namespace mpath::target {

Result<std::unique_ptr<FaultLog>> FaultLog::create(const std::string& file, const Clock& clock) {
    File opened(std::fopen(file.c_str(), "we"), std::fclose);
    if (opened == nullptr) {
        return failure(errno, "cannot write {}: {}", file, std::strerror(errno));
    }
    return std::unique_ptr<FaultLog>(new FaultLog(std::move(opened), clock));
}

void FaultLog::write(const Moment& moment, const Listener& listener, const Action& action,
                     const char* phase) {
    const std::string_view text = action.text;
    const std::size_t space = std::min(text.find(' '), text.size());
    nlohmann::ordered_json entry;
    entry["monotonic"] = moment.monotonic;
    entry["utc"] = moment.utc;
    entry["listener"] = listener.options.name;
    entry["address"] = listener.address;
    entry["action"] = text.substr(0, space);
    entry["detail"] = text.substr(std::min(space + 1, text.size()));
    entry["phase"] = phase;
    const std::string line =
        entry.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    std::fwrite(line.data(), 1, line.size(), file_.get());
    std::fflush(file_.get());
}

} // namespace mpath::target
