// SPDX-License-Identifier: GPL-2.0-only
#include "run/transform.h"

#include <algorithm>

#include "run/foreign_engine.h"

namespace mpath::run {
namespace {

bool unset_or(const std::string& value, std::initializer_list<std::string_view> harmless) {
    return value.empty() || std::find(harmless.begin(), harmless.end(), value) != harmless.end();
}

/// Options of jobs that work on files of their own making.
struct FileOption {
    const char* name;
    std::initializer_list<std::string_view> harmless;
};

const FileOption file_options[] = {
    {"directory", {}},           {"opendir", {}},        {"nrfiles", {"1"}},     {"filename_format", {}},
    {"create_on_open", {"0"}},   {"create_only", {"0"}}, {"file_append", {"0"}}, {"unlink", {"0"}},
    {"unlink_each_loop", {"0"}}, {"fill_device", {"0"}}};

struct Job {
    const Section* section = nullptr;
    SectionOptions options;
    EngineKind engine = EngineKind::none;
    std::optional<DeviceName> device;
};

template <typename... Args>
tl::unexpected<Error> refuse(const Section& section, const Line& line, fmt::format_string<Args...> format,
                             Args&&... args) {
    return failure(EINVAL, "{}: [{}] {}", line.place(), section.name,
                   fmt::format(format, std::forward<Args>(args)...));
}

class Transformer {
public:
    Transformer(std::span<const Section> sections, const Wish& wish, const Surroundings& surroundings)
        : sections_(sections), wish_(wish), surroundings_(surroundings) {}

    Result<Transformed> run() {
        if (auto read = read_jobs(); !read) {
            return tl::unexpected(read.error());
        }
        auto map = DeviceMap::create(wish_.paths, wish_.maps, devices_);
        if (!map) {
            return tl::unexpected(map.error());
        }
        map_ = std::move(*map);
        auto job = jobs_.begin();
        for (const Section& section : sections_) {
            const bool is_job = job != jobs_.end() && job->section == &section;
            if (!section.is_global() && !is_job) {
                continue;
            }
            if (auto written = write(section, is_job ? &*job : nullptr); !written) {
                return tl::unexpected(written.error());
            }
            job += is_job ? 1 : 0;
        }
        return std::move(out_);
    }

private:
    // ---- what the jobs are

    Result<void> read_jobs() {
        SectionOptions globals;
        for (const Section& section : sections_) {
            SectionOptions options = globals;
            for (const Line& line : section.lines) {
                options.add(line, surroundings_.environment);
            }
            if (section.is_global()) {
                globals = std::move(options);
            } else if (is_wanted(section.name)) {
                Job job{&section, std::move(options), EngineKind::none, std::nullopt};
                if (auto fine = examine(job); !fine) {
                    return fine;
                }
                jobs_.push_back(std::move(job));
            }
        }
        if (jobs_.empty()) {
            return failure(EINVAL, "{}: there is no job to run",
                           sections_.empty() ? "the job file is empty" : sections_.front().heading.file);
        }
        return {};
    }

    [[nodiscard]] bool is_wanted(const std::string& name) const {
        return wish_.sections.empty() ||
               std::find(wish_.sections.begin(), wish_.sections.end(), name) != wish_.sections.end();
    }

    Result<void> examine(Job& job) {
        const Section& section = *job.section;
        const Setting* engine = job.options.find("ioengine");
        job.engine = kind_of_engine(engine == nullptr ? kDefaultEngine : std::string_view(engine->value));
        if (job.engine == EngineKind::none) {
            return refuse(section, engine->line,
                          "has ioengine={}, which does not stand for I/O to a block device; paths can serve "
                          "jobs of libaio, io_uring, posixaio, the sync family, sg, spdk and libiscsi",
                          engine->raw);
        }
        if (job.engine == EngineKind::ours) {
            return examine_label(job);
        }
        for (const FileOption& option : file_options) {
            const Setting* setting = job.options.find(option.name);
            if (setting != nullptr && !unset_or(setting->value, option.harmless)) {
                return refuse(section, setting->line,
                              "has {}={}, so it works on files; a file job is not run on a device",
                              option.name, setting->raw);
            }
        }
        return examine_device(job);
    }

    /// A job that is ours already: filename= is a label, if it is there at all.
    Result<void> examine_label(Job& job) {
        if (!job.options.filenames().empty()) {
            const Setting& last = job.options.filenames().back();
            note_device(job, {last.raw, last.value, false});
        }
        if (!wish_.paths && job.options.value("paths").empty() && !(job.device && is_mapped(*job.device))) {
            return refuse(*job.section, job.section->heading, "has no paths=; give them with --paths");
        }
        return {};
    }

    Result<void> examine_device(Job& job) {
        const Section& section = *job.section;
        std::vector<DeviceName> names;
        for (const Setting& setting : job.options.filenames()) {
            const std::vector<std::string> split = split_filename(setting.value);
            for (const std::string& name : split) {
                names.push_back({split.size() == 1 ? setting.raw : name, name, true});
            }
        }
        if (names.empty()) {
            return refuse(
                section, section.heading,
                "has no filename=, so fio would make files for it; a file job is not run on a device");
        }
        const Line& line = job.options.filenames().back().line;
        if (names.size() > 1) {
            std::string all;
            for (const DeviceName& name : names) {
                all += (all.empty() ? "" : ", ") + name.name;
            }
            return refuse(section, line,
                          "works on {} devices at once ({}), and a job has one device here; give each a "
                          "section of its own",
                          names.size(), all);
        }
        if (const char* why =
                why_no_device(names[0].name, job.engine, is_mapped(names[0]), surroundings_.kind_of_file)) {
            return refuse(section, line, "has filename={}, {}; a file job is not run on a device",
                          names[0].raw, why);
        }
        note_device(job, names[0]);
        return {};
    }

    [[nodiscard]] bool is_mapped(const DeviceName& device) const {
        return std::any_of(wish_.maps.begin(), wish_.maps.end(), [&](const std::string& map) {
            return map.starts_with(device.raw + "=") || map.starts_with(device.name + "=");
        });
    }

    void note_device(Job& job, DeviceName device) {
        const auto known = std::find_if(devices_.begin(), devices_.end(),
                                        [&](const DeviceName& one) { return one.name == device.name; });
        if (known == devices_.end()) {
            devices_.push_back(device);
        } else {
            known->needs_paths = known->needs_paths || device.needs_paths;
        }
        job.device = std::move(device);
    }

    // ---- the file for fio

    Result<void> write(const Section& section, const Job* job) {
        add_line(fmt::format("[{}]", section.name));
        for (const Line& line : section.lines) {
            if (auto written = write_line(section, line); !written) {
                return written;
            }
        }
        return job == nullptr ? Result<void>{} : write_job(*job);
    }

    Result<void> write_line(const Section& section, const Line& line) {
        const auto option = parse_option(line.text);
        if (!option) {
            add_line(line.text);
            return {};
        }
        if (option->name == "ioengine") {
            add_line("ioengine=external:" + wish_.engine);
            return {};
        }
        if (option->name == "filename") {
            write_label(*option);
            return {};
        }
        if (option->name == "paths" &&
            (wish_.paths || expand(option->value.value_or(""), surroundings_.environment).empty())) {
            return {}; // every job gets its own, and fio refuses an empty one
        }
        const Carried carried = carry_option(
            option->name,
            option->value ? std::optional(expand(*option->value, surroundings_.environment)) : std::nullopt);
        switch (carried.carry) {
        case Carry::keep:
            add_line(line.text);
            return {};
        case Carry::drop:
            out_.notes.push_back(fmt::format("{}: [{}] {} is left out: {}", line.place(), section.name,
                                             option->name + "=" + option->value.value_or(""), carried.why));
            return {};
        case Carry::refuse:
            return refuse(section, line, "has {}={}: {}", option->name, option->value.value_or(""),
                          carried.why);
        }
        return {};
    }

    void write_label(const Option& option) {
        std::string label;
        for (const std::string& name :
             split_filename(expand(option.value.value_or(""), surroundings_.environment))) {
            label += (label.empty() ? "" : ":") + label_of(name);
        }
        add_line("filename=" + label);
    }

    Result<void> write_job(const Job& job) {
        const Section& section = *job.section;
        add_line("; what fio-mpath run was told");
        if (job.options.find("ioengine") == nullptr) {
            add_line("ioengine=external:" + wish_.engine);
        }
        if (const Setting* depth = job.options.find("iodepth");
            job.engine == EngineKind::synchronous && depth != nullptr && depth->value != "1") {
            // fio says so, too, when such an engine is given a depth.
            add_line("iodepth=1");
            out_.notes.push_back(fmt::format("{}: [{}] iodepth={} is 1, because its ioengine is synchronous",
                                             depth->line.place(), section.name, depth->raw));
        }
        const std::string* mapped = job.device ? map_.mapped(job.device->name) : nullptr;
        if (mapped != nullptr || wish_.paths) {
            if (auto added = add_option(section, "paths", mapped != nullptr ? *mapped : *wish_.paths);
                !added) {
                return added;
            }
        }
        for (const auto& [name, value] : wish_.engine_options) {
            if (auto added = add_option(section, name, value); !added) {
                return added;
            }
        }
        return write_log_prefix(job);
    }

    Result<void> write_log_prefix(const Job& job) {
        std::string prefix = job.options.value("mpath_log");
        if (prefix.empty() && !wish_.log_prefix.empty()) {
            prefix = wish_.log_prefix;
            if (auto added = add_option(*job.section, "mpath_log", prefix); !added) {
                return added;
            }
        }
        std::vector<std::string>& known = out_.log_prefixes;
        if (!prefix.empty() && std::find(known.begin(), known.end(), prefix) == known.end()) {
            known.push_back(prefix);
        }
        return {};
    }

    Result<void> add_option(const Section& section, const std::string& name, const std::string& value) {
        std::string line = name + "=" + value;
        if (value.find_first_of(";#\n") != std::string::npos || value.find("${") != std::string::npos) {
            return refuse(
                section, section.heading,
                "can't be given {}={}: in a job file ';' and '#' begin a comment and '${{' a variable; "
                "in an NQN they are written %3B, %23 and %24%7B",
                name, value);
        }
        if (line.size() > kLongestLine) {
            return refuse(section, section.heading, "can't be given {}=: it has {} bytes, and fio reads {}",
                          name, line.size(), kLongestLine);
        }
        add_line(line);
        return {};
    }

    void add_line(std::string_view line) {
        out_.text.append(line);
        out_.text += '\n';
    }

    std::span<const Section> sections_;
    const Wish& wish_;
    const Surroundings& surroundings_;
    std::vector<Job> jobs_;
    std::vector<DeviceName> devices_; ///< each once, in order of the file
    DeviceMap map_;
    Transformed out_;
};

} // namespace

Result<Transformed> transform(std::span<const Section> sections, const Wish& wish,
                              const Surroundings& surroundings) {
    return Transformer(sections, wish, surroundings).run();
}

} // namespace mpath::run
