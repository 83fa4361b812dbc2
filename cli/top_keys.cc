// SPDX-License-Identifier: GPL-2.0-only
#include "cli/top_keys.h"

#include "multipath/io_policy.h"

namespace mpath::cli {

namespace {

using What = TopAction::What;

constexpr char kEscape = 0x1B;

bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

} // namespace

std::optional<TopAction> TopKeys::plain(char byte) {
    switch (byte) {
    case 'q':
        return TopAction{What::quit};
    case 'j':
    case '\t':
        return TopAction{What::next_job};
    case 'k':
        return TopAction{What::previous_job};
    case 's':
        return TopAction{What::schedule};
    case 'e':
        waits_ = Waits::enable;
        break;
    case 'd':
        waits_ = Waits::disable;
        break;
    default:
        break;
    }
    const auto policy = static_cast<std::size_t>(byte - '1');
    const auto names = multipath::io_policy_names();
    if (is_digit(byte) && byte != '0' && policy < names.size()) {
        if (names[policy].find(':') == std::string_view::npos) {
            return TopAction{What::policy, policy};
        }
        waits_ = Waits::preferred;
    }
    return TopAction{What::redraw};
}

std::optional<TopAction> TopKeys::press(char byte) {
    const Waits before = waits_;
    waits_ = Waits::nothing;
    if (byte == kEscape) {
        waits_ = Waits::escape;
        return TopAction{What::redraw};
    }
    switch (before) {
    case Waits::nothing:
        return plain(byte);
    case Waits::escape:
        if (byte == '[' || byte == 'O') {
            waits_ = Waits::sequence;
            return std::nullopt;
        }
        return plain(byte);
    case Waits::sequence:
        if (is_digit(byte) || byte == ';') { // with parameters, as of a key pressed with another
            waits_ = Waits::sequence;
            return std::nullopt;
        }
        return byte == 'A'   ? std::optional(TopAction{What::previous_job})
               : byte == 'B' ? std::optional(TopAction{What::next_job})
                             : std::nullopt;
    case Waits::enable:
    case Waits::disable:
    case Waits::preferred:
        break;
    }
    if (!is_digit(byte)) {
        return TopAction{What::redraw};
    }
    const What what = before == Waits::enable    ? What::enable
                      : before == Waits::disable ? What::disable
                                                 : What::preferred;
    return TopAction{what, 0, static_cast<std::size_t>(byte - '0')};
}

std::string TopKeys::prompt() const {
    switch (waits_) {
    case Waits::enable:
        return "enable which path? 0-9";
    case Waits::disable:
        return "disable which path? 0-9";
    case Waits::preferred:
        return "prefer which path? 0-9";
    default:
        return "";
    }
}

} // namespace mpath::cli
