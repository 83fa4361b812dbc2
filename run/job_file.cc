// SPDX-License-Identifier: GPL-2.0-only
#include "run/job_file.h"

namespace mpath::run {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";
constexpr std::string_view kInclude = "include";
constexpr int kDeepestInclude = 16;

std::string_view trim(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) {
        return {};
    }
    return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string_view without_comment(std::string_view line) {
    return trim(line.substr(0, line.find_first_of(";#")));
}

std::vector<Line> lines_of(const std::string& file, std::string_view text) {
    std::vector<Line> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back({std::string(text.substr(0, end)), file, lines.size() + 1});
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

class Reader {
public:
    explicit Reader(const ReadFile& read) : read_(read) {}

    Result<std::vector<Section>> sections(const std::string& name) {
        const auto text = read_(name);
        if (!text) {
            return tl::unexpected(text.error());
        }
        for (const Line& line : lines_of(name, *text)) {
            if (auto taken = take(line, 0); !taken) {
                return tl::unexpected(taken.error());
            }
        }
        return std::move(sections_);
    }

private:
    Result<void> take(const Line& line, int depth) {
        const std::string_view words = without_comment(line.text);
        if (line.text.size() > kLongestLine) {
            return failure(EINVAL, "{}: the line is longer than the {} bytes that fio reads", line.place(),
                           kLongestLine);
        }
        if (words.starts_with('[')) {
            return begin_section(line, words, depth);
        }
        if (sections_.empty()) {
            return words.empty()
                       ? Result<void>{}
                       : failure(EINVAL, "{}: '{}' stands before the first [section]", line.place(), words);
        }
        if (words.starts_with(kInclude)) {
            return include(line, words, depth);
        }
        sections_.back().lines.push_back(line);
        return {};
    }

    Result<void> begin_section(const Line& line, std::string_view words, int depth) {
        if (depth > 0) {
            return failure(EINVAL, "{}: an included file can't begin a section", line.place());
        }
        if (words.size() < 3 || words.back() != ']') {
            return failure(EINVAL, "{}: '{}' is no [section]", line.place(), words);
        }
        sections_.push_back({std::string(words.substr(1, words.size() - 2)), line, {}});
        return {};
    }

    Result<void> include(const Line& line, std::string_view words, int depth) {
        if (depth == kDeepestInclude) {
            return failure(ELOOP, "{}: included {} deep; a file must not include itself", line.place(),
                           kDeepestInclude);
        }
        const std::string name(trim(words.substr(std::min(words.size(), kInclude.size() + 1))));
        std::string file = name;
        auto text = read_(file);
        if (const std::size_t slash = line.file.rfind('/'); !text && slash != std::string::npos) {
            file = line.file.substr(0, slash + 1) + name;
            text = read_(file);
        }
        if (!text) {
            return failure(text.error().code, "{}: include {}: {}", line.place(), name, text.error().text);
        }
        for (const Line& included : lines_of(file, *text)) {
            if (auto taken = take(included, depth + 1); !taken) {
                return taken;
            }
        }
        return {};
    }

    const ReadFile& read_;
    std::vector<Section> sections_;
};

} // namespace

std::optional<Option> parse_option(std::string_view line) {
    const std::string_view words = without_comment(line);
    if (words.empty()) {
        return std::nullopt;
    }
    const std::size_t equals = words.find('=');
    if (equals == std::string_view::npos) {
        return Option{std::string(words), std::nullopt};
    }
    return Option{std::string(trim(words.substr(0, equals))), std::string(trim(words.substr(equals + 1)))};
}

Result<std::vector<Section>> read_job_file(const std::string& name, const ReadFile& read) {
    return Reader(read).sections(name);
}

} // namespace mpath::run
