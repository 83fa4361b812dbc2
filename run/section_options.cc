// SPDX-License-Identifier: GPL-2.0-only
#include "run/section_options.h"

namespace mpath::run {

std::string expand(std::string_view text, const Environment& environment) {
    std::string out;
    while (!text.empty()) {
        const std::size_t begin = text.find("${");
        const std::size_t end = begin == std::string_view::npos ? begin : text.find('}', begin);
        if (end == std::string_view::npos) {
            return out.append(text);
        }
        out.append(text.substr(0, begin));
        out.append(environment(std::string(text.substr(begin + 2, end - begin - 2))).value_or(""));
        text.remove_prefix(end + 1);
    }
    return out;
}

void SectionOptions::add(const Line& line, const Environment& environment) {
    const auto option = parse_option(line.text);
    if (!option) {
        return;
    }
    const std::string name = option->name == "nr_files" ? "nrfiles" : option->name;
    Setting setting{option->value.value_or(""),
                    option->value ? expand(*option->value, environment) : std::string("1"), line};
    if (name == "filename") {
        filenames_.push_back(setting);
    }
    settings_.insert_or_assign(name, std::move(setting));
}

const Setting* SectionOptions::find(std::string_view name) const {
    const auto found = settings_.find(name);
    return found == settings_.end() ? nullptr : &found->second;
}

std::string SectionOptions::value(std::string_view name) const {
    const Setting* setting = find(name);
    return setting == nullptr ? "" : setting->value;
}

} // namespace mpath::run
