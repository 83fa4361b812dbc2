// SPDX-License-Identifier: GPL-2.0-only
// Job files that exist only in a test.
#pragma once

#include <map>
#include <string>

#include "run/job_file.h"

namespace mpath::run {

inline ReadFile files(std::map<std::string, std::string> texts) {
    return [texts = std::move(texts)](const std::string& name) -> Result<std::string> {
        const auto found = texts.find(name);
        if (found == texts.end()) {
            return failure(ENOENT, "{} can't be read: no such file", name);
        }
        return found->second;
    };
}

inline std::vector<Section> sections_of(const std::string& text) {
    return read_job_file("job.fio", files({{"job.fio", text}})).value();
}

} // namespace mpath::run
