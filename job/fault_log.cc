// SPDX-License-Identifier: GPL-2.0-only
#include "job/fault_log.h"

#include <nlohmann/json.hpp>

#include "record/file.h"

namespace mpath::job {
namespace {

/// Two clocks that run on one host differ by the same amount at all times, but for corrections of its UTC.
constexpr Nanoseconds kLargestClockCorrection = kSecond;

bool same_clock(const Fault& fault, const record::Event& event) {
    const Nanoseconds apart = (fault.utc - fault.monotonic) - (event.utc - event.monotonic); // modulo 2^64
    return apart + kLargestClockCorrection <= 2 * kLargestClockCorrection;
}

std::optional<Fault> fault_from(std::string_view line) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) {
        return std::nullopt;
    }
    const auto time = [&](const char* name) {
        const auto found = json.find(name);
        return found != json.end() && found->is_number_unsigned() ? std::optional(found->get<Nanoseconds>())
                                                                  : std::nullopt;
    };
    const auto text = [&](const char* name) {
        const auto found = json.find(name);
        return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    const auto monotonic = time("monotonic");
    const auto utc = time("utc");
    const std::string address = text("address");
    const std::string phase = text("phase");
    if (!monotonic || !utc || address.empty()) {
        return std::nullopt;
    }
    return Fault{*monotonic, *utc, address, phase.empty() || phase == "begin"};
}

} // namespace

Result<std::vector<Fault>> read_fault_log(const std::string& file) {
    const auto text = record::read_all(file);
    if (!text) {
        return failure(text.error().code, "fault_log=: {}", text.error().text);
    }
    std::vector<Fault> faults;
    std::size_t line_number = 0;
    for (std::size_t begin = 0, end = 0; (end = text->find('\n', begin)) != std::string::npos;
         begin = end + 1) {
        ++line_number;
        auto fault = fault_from(std::string_view(*text).substr(begin, end - begin));
        if (!fault) {
            return failure(
                EINVAL,
                "fault_log=: {} line {} is no fault as fio-mpath target writes them, so the record "
                "has no detection times",
                file, line_number);
        }
        faults.push_back(std::move(*fault));
    }
    return faults;
}

std::optional<Nanoseconds> detection_of(std::span<const record::Event> events, std::size_t index,
                                        std::string_view address, std::span<const Fault> faults) {
    const record::Event& event = events[index];
    const bool is_loss = event.kind == record::EventKind::lost;
    if (!is_loss && event.kind != record::EventKind::state) {
        return std::nullopt;
    }
    Nanoseconds before = 0;
    for (const record::Event& other : events) {
        if (other.path == event.path && other.monotonic < event.monotonic) {
            before = std::max(before, other.monotonic);
        }
    }
    std::optional<Nanoseconds> latest;
    for (const Fault& fault : faults) {
        if (fault.address == address && (fault.begins || !is_loss) && fault.monotonic > before &&
            fault.monotonic <= event.monotonic && same_clock(fault, event)) {
            latest = std::max(latest, std::optional(fault.monotonic));
        }
    }
    return latest ? std::optional(event.monotonic - *latest) : std::nullopt;
}

} // namespace mpath::job
