// SPDX-License-Identifier: GPL-2.0-only
#include "run/fio_options.h"

#include <algorithm>
#include <array>

namespace mpath::run {
namespace {

struct Word {
    std::string name;
    std::optional<std::string> value;
};

/// fio takes one dash for two.
std::optional<Word> option_word(const std::string& word) {
    if (word.size() < 2 || word[0] != '-') {
        return std::nullopt;
    }
    const std::size_t begin = word[1] == '-' ? 2 : 1;
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
        return Word{word.substr(begin), std::nullopt};
    }
    return Word{word.substr(begin, equals - begin), word.substr(equals + 1)};
}

Result<void> check(const std::string& name) {
    constexpr std::array kJobs{"name",    "ioengine", "filename",     "directory",
                               "opendir", "nrfiles",  "nr_files",     "filename_format",
                               "profile", "server",   "remote-config"};
    if (std::find(kJobs.begin(), kJobs.end(), name) != kJobs.end()) {
        return failure(EINVAL, "--{} is not for fio here: engine and devices are those of the job file",
                       name);
    }
    if (name == "client") {
        return failure(EINVAL, "--client goes before JOBFILE, so that the records of the servers are found");
    }
    if (name == "daemonize") {
        return failure(EINVAL, "--daemonize leaves nothing to wait for and to report on");
    }
    return {};
}

bool ends_before_jobs(const std::string& name) {
    constexpr std::array kNames{"parse-only", "showcmd", "help",    "h",       "version",
                                "v",          "cmdhelp", "enghelp", "crctest", "memcpytest"};
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

} // namespace

Result<FioOptions> read_fio_options(std::span<const std::string> words) {
    FioOptions options;
    bool format_is_data = false;
    bool to_file = false;
    bool may_be_value = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto word = option_word(words[i]);
        if (!word) {
            if (!may_be_value) {
                return failure(EINVAL, "'{}' behind -- is no option of fio; there is one job file, before --",
                               words[i]);
            }
            may_be_value = false;
            continue;
        }
        if (auto fine = check(word->name); !fine) {
            return tl::unexpected(fine.error());
        }
        may_be_value = !word->value;
        const std::string value = word->value.value_or(i + 1 < words.size() ? words[i + 1] : "");
        if (word->name == "section") {
            options.sections.push_back(value);
        } else if (word->name == "mpath_log") {
            options.log_prefix = value;
        } else if (word->name == "output-format") {
            format_is_data =
                value.find("json") != std::string::npos || value.find("terse") != std::string::npos;
        } else if (word->name == "minimal" || word->name == "m") {
            format_is_data = true;
        } else if (word->name == "output") {
            to_file = true;
        } else if (ends_before_jobs(word->name)) {
            options.runs_jobs = false;
        }
    }
    options.output_is_data = format_is_data && !to_file;
    return options;
}

} // namespace mpath::run
