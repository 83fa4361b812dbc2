// SPDX-License-Identifier: GPL-2.0-only
#include "base/duration.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace mpath {

Result<Nanoseconds> parse_duration(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, Nanoseconds>, 6> kUnits{{{"ns", 1},
                                                                              {"us", kMicrosecond},
                                                                              {"ms", kMillisecond},
                                                                              {"s", kSecond},
                                                                              {"m", 60 * kSecond},
                                                                              {"h", 3600 * kSecond}}};
    double number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    if (fault == std::errc{} && std::isfinite(number) && number >= 0 && number < 1e9) {
        if (unit.empty() && number == 0) {
            return 0;
        }
        for (const auto& [name, nanoseconds] : kUnits) {
            if (unit == name) {
                return static_cast<Nanoseconds>(std::llround(number * static_cast<double>(nanoseconds)));
            }
        }
    }
    return failure(EINVAL, "'{}' is not a duration, write a number and ns, us, ms, s, m or h, such as 200us",
                   text);
}

} // namespace mpath
