// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mpath::target {

/// The words of a statement, read from the front.
class Words {
public:
    /// Everything from a word that begins with '#' is a comment.
    explicit Words(std::string_view line) {
        for (std::size_t at = 0; at < line.size();) {
            const std::size_t begin = std::min(line.find_first_not_of(" \t\r", at), line.size());
            at = std::min(line.find_first_of(" \t\r", begin), line.size());
            if (begin == at || line[begin] == '#') {
                return;
            }
            words_.push_back(line.substr(begin, at - begin));
        }
    }

    [[nodiscard]] bool done() const { return next_ == words_.size(); }
    /// The next word; empty behind the end.
    [[nodiscard]] std::string_view peek(std::size_t ahead = 0) const {
        return next_ + ahead < words_.size() ? words_[next_ + ahead] : std::string_view();
    }
    std::string_view take() { return done() ? std::string_view() : words_[next_++]; }
    /// Takes the next word if it is this one.
    bool take(std::string_view word) {
        const bool is_it = !done() && words_[next_] == word;
        next_ += is_it ? 1 : 0;
        return is_it;
    }

    /// "expected WHAT, not 'WORD'", of the next word.
    [[nodiscard]] tl::unexpected<Error> expected(std::string_view what) const {
        return done() ? failure(EINVAL, "expected {} behind the last word", what)
                      : failure(EINVAL, "expected {}, not '{}'", what, peek());
    }
    template <typename T>
    Result<T> take_number(std::string_view what, std::uint64_t least = 1) {
        std::uint64_t number = 0;
        const std::string_view word = peek();
        const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (word.empty() || fault != std::errc{} || end != word.data() + word.size() || number < least ||
            number > std::numeric_limits<T>::max()) {
            return expected(what);
        }
        ++next_;
        return static_cast<T>(number);
    }

    /// Where the next word is, and the words from such a place to the next one, with single spaces.
    [[nodiscard]] std::size_t place() const { return next_; }
    [[nodiscard]] std::string since(std::size_t place) const {
        std::string text;
        for (; place < next_; ++place) {
            text += text.empty() ? "" : " ";
            text += words_[place];
        }
        return text;
    }

private:
    std::vector<std::string_view> words_;
    std::size_t next_ = 0;
};

} // namespace mpath::target
