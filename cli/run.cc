// SPDX-License-Identifier: GPL-2.0-only
// fio-mpath run: a job file as it is, on paths.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "base/clock.h"
#include "cli/child_process.h"
#include "cli/command.h"
#include "cli/report_output.h"
#include "cli/run_folder.h"
#include "record/file.h"
#include "report/record_files.h"
#include "run/fio_options.h"
#include "run/job_file.h"
#include "run/transform.h"

namespace mpath::cli {

namespace {

namespace fs = std::filesystem;

struct RunWords {
    std::string job_file;
    std::vector<std::string> fio_options;
    std::string paths;
    std::vector<std::string> maps;
    std::vector<std::string> clients;
    std::string iopolicy;
    std::string steer;
    std::string path;
    int nr_io_queues = 0;
    int queue_size = 0;
    int min_paths = 0;
    bool hdr_digest = false;
    bool data_digest = false;
    bool discover = false;
    int repeat = 1;
    ReportOutput output;
    std::string keep;
    std::string fio = "fio";
    std::string engine;
};

constexpr const char* kRunFooter = R"(
Examples:
  a job file for a local disk, on two paths to a namespace:
    fio-mpath run --paths 'a=nvme+tcp://192.0.2.1/SUBNQN/1,b=nvme+tcp://192.0.2.2/SUBNQN/1' db.fio
  one that works on two disks, three times over, with fio's own options behind --:
    fio-mpath run --map /dev/sdb=nvme+tcp://192.0.2.1/SUBNQN/1 \
                  --map /dev/sdc=nvme+tcp://192.0.2.1/SUBNQN/2 --repeat 3 db.fio -- --runtime=60
  on two fio servers of this machine:
    fio-mpath run --client 127.0.0.1,8801 --client 127.0.0.1,8802 --paths '...' db.fio

The job file is read by fio's rules and stays as it is; fio gets a copy in which ioengine= and filename= are
replaced. Options of the other engine are left out with a note. A job that works on files is refused.
Options of the engine that have no name here go behind --, too: -- --keep_alive_tmo=10. Options behind -- are
defaults: what the job file says comes first.
The report goes to stdout after fio's own output; to stderr where that is JSON or terse. The exit status is
fio's; 1 if a job did no I/O.)";

// ---- what surrounds us

std::optional<std::string> environment_variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

run::FileKind kind_of_file(const std::string& name) {
    struct stat status {};
    if (::stat(name.c_str(), &status) != 0) {
        return run::FileKind::absent;
    }
    switch (status.st_mode & S_IFMT) {
    case S_IFBLK:
        return run::FileKind::block;
    case S_IFCHR:
        return run::FileKind::character;
    case S_IFREG:
        return run::FileKind::regular;
    case S_IFDIR:
        return run::FileKind::directory;
    default:
        return run::FileKind::other;
    }
}

Result<std::string> find_engine(const std::string& named) {
    if (!named.empty()) {
        std::error_code fault;
        const fs::path file = fs::canonical(named, fault);
        return fault ? failure(fault.value(), "--engine {}: {}", named, fault.message())
                     : Result<std::string>(file);
    }
    std::error_code fault;
    const fs::path folder = fs::read_symlink("/proc/self/exe", fault).parent_path();
    for (const char* place : {"fio-mpath.so", "../lib/fio-mpath.so", "../lib/fio-mpath/fio-mpath.so"}) {
        if (fs::exists(folder / place, fault)) {
            return fs::canonical(folder / place, fault).string();
        }
    }
    return failure(ENOENT, "fio-mpath.so is neither beside {} nor in ../lib; name it with --engine",
                   (folder / "fio-mpath").string());
}

/// Whether an fio server at this address sees the folders that we see. `ip:`, `ip6:` and `sock:` are fio's.
bool is_this_machine(std::string host) {
    for (const std::string_view kind : {"ip:", "ip6:"}) {
        host = host.starts_with(kind) ? host.substr(kind.size()) : host;
    }
    return host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("::1") ||
           host.starts_with("sock:");
}

// ---- one run

run::Wish wish_of(const RunWords& words, const std::string& engine, const run::FioOptions& fio) {
    run::Wish wish;
    wish.engine = engine;
    wish.maps = words.maps;
    wish.sections = fio.sections;
    if (!words.paths.empty()) {
        wish.paths = words.paths;
    }
    const auto add = [&](bool given, const char* name, std::string value) {
        if (given) {
            wish.engine_options.emplace_back(name, std::move(value));
        }
    };
    add(!words.path.empty(), "path", words.path);
    add(!words.iopolicy.empty(), "iopolicy", words.iopolicy);
    add(!words.steer.empty(), "steer", words.steer);
    add(words.nr_io_queues != 0, "nr_io_queues", std::to_string(words.nr_io_queues));
    add(words.queue_size != 0, "queue_size", std::to_string(words.queue_size));
    add(words.min_paths != 0, "min_paths", std::to_string(words.min_paths));
    add(words.hdr_digest, "hdr_digest", "1");
    add(words.data_digest, "data_digest", "1");
    add(words.discover, "discover", "1");
    return wish;
}

std::vector<std::string> fio_command(const RunWords& words, const std::string& engine,
                                     const std::string& job_file) {
    std::vector<std::string> command{words.fio};
    // Without the engine in front, fio would not know the engine's options.
    if (!words.fio_options.empty() && words.clients.empty()) {
        command.push_back("--ioengine=external:" + engine);
    }
    command.insert(command.end(), words.fio_options.begin(), words.fio_options.end());
    if (words.clients.empty()) {
        command.push_back(job_file);
    }
    for (const std::string& client : words.clients) {
        // fio gives a job file to the server named before it alone.
        command.insert(command.end(), {"--client=" + client, job_file});
    }
    return command;
}

struct Ended {
    int status = 0;
    report::Run run;
};

class Runner {
public:
    Runner(const RunWords& words, std::string engine, run::FioOptions fio, std::vector<run::Section> sections)
        : words_(words), engine_(std::move(engine)), fio_(std::move(fio)), sections_(std::move(sections)) {}

    /// Runs fio once; its files begin with `prefix`. Notes are told the first time.
    Result<Ended> run_once(const std::string& prefix) {
        run::Wish wish = wish_of(words_, engine_, fio_);
        wish.log_prefix = fio_.log_prefix ? "" : prefix;
        auto job_file = run::transform(sections_, wish, {environment_variable, kind_of_file});
        if (!job_file) {
            return tl::unexpected(job_file.error());
        }
        if (fio_.log_prefix) {
            job_file->log_prefixes.push_back(*fio_.log_prefix);
        }
        tell_once(job_file->notes);
        const std::string name = prefix + ".fio";
        std::ofstream file(name, std::ios::binary);
        if (!(file << job_file->text) || !file.flush()) {
            return failure(EIO, "{} can't be written", name);
        }
        const Nanoseconds started = clock_.utc();
        const auto status = run_in_foreground(fio_command(words_, engine_, name));
        if (!status) {
            return tl::unexpected(status.error());
        }
        auto jobs = report::find_jobs(job_file->log_prefixes, started);
        if (!jobs) {
            return tl::unexpected(jobs.error());
        }
        return Ended{*status, report::make_run(fs::path(prefix).filename(), std::move(*jobs))};
    }

private:
    void tell_once(const std::vector<std::string>& notes) {
        for (const std::string& note : has_told_ ? std::vector<std::string>() : notes) {
            fmt::print(stderr, "fio-mpath: note: {}\n", note);
        }
        has_told_ = true;
    }

    const RunWords& words_;
    std::string engine_;
    run::FioOptions fio_;
    std::vector<run::Section> sections_;
    SystemClock clock_;
    bool has_told_ = false;
};

/// Exit status: what a run that fio calls a success has to show.
int judge(const Ended& ended, const run::FioOptions& fio) {
    if (ended.status != 0 || !fio.runs_jobs) {
        return ended.status;
    }
    if (ended.run.jobs.empty()) {
        return complain("fio ended well, but no job left a record: nothing was measured");
    }
    int status = 0;
    for (const std::string& name : report::jobs_without_io(ended.run)) {
        status = complain(fmt::format("job {} did no I/O: nothing was measured", name));
    }
    return status;
}

/// Exit status: a setting that should have I/O and has none is an error, though fio thinks otherwise.
int tell(std::vector<report::Run> runs, const ReportOutput& output, std::FILE* out) {
    const report::Report report = report::make_report(std::move(runs));
    if (report.blocks.empty()) {
        return 0;
    }
    fmt::print(out, "\n");
    if (const auto written = write_report(report, output, out); !written) {
        return complain(written.error().text);
    }
    return report.has_errors() ? 1 : 0;
}

int run_job_file(const RunWords& words) {
    const auto fio = run::read_fio_options(words.fio_options);
    if (!fio) {
        return complain(fio.error().text);
    }
    const auto engine = find_engine(words.engine);
    if (!engine) {
        return complain(engine.error().text);
    }
    auto sections = run::read_job_file(words.job_file, record::read_all);
    if (!sections) {
        return complain(sections.error().text);
    }
    if (words.keep.empty() && !std::all_of(words.clients.begin(), words.clients.end(), is_this_machine)) {
        return complain(
            "records stay where the fio servers run; name a folder that all of them share with --keep");
    }
    const auto folder = RunFolder::create(words.keep);
    if (!folder) {
        return complain(folder.error().text);
    }
    ::setenv("MPATH_TABLE", "0", 1); // our report takes its place
    Runner runner(words, *engine, *fio, std::move(*sections));
    const std::string prefix = folder->prefix(words.job_file);
    std::vector<report::Run> runs;
    int status = 0;
    for (int i = 1; i <= words.repeat && status == 0; ++i) {
        auto ended = runner.run_once(words.repeat == 1 ? prefix : fmt::format("{}-r{}", prefix, i));
        if (!ended) {
            status = complain(ended.error().text);
            break;
        }
        status = judge(*ended, *fio);
        runs.push_back(std::move(ended->run));
    }
    const int told = tell(std::move(runs), words.output, fio->output_is_data ? stderr : stdout);
    return status != 0 ? status : told;
}

} // namespace

Command add_run(CLI::App& parent) {
    auto words = std::make_shared<RunWords>();
    CLI::App* app = parent.add_subcommand(
        "run", "Runs an existing fio job file, as it is, on given paths, and reports on each path");
    app->footer(kRunFooter);
    app->add_option("JOBFILE", words->job_file, "The job file")->required()->type_name("");
    app->add_option("FIO_OPTIONS", words->fio_options, "Options for fio itself, behind --")->type_name("");
    app->add_option("--paths", words->paths, "Paths to the device that the job file works on, as in paths=")
        ->type_name("PATHS");
    app->add_option("--map", words->maps,
                    "Paths to one of several devices, which the job file calls FILENAME; once for each")
        ->type_name("FILENAME=PATHS")
        ->allow_extra_args(false);
    app->add_option("--iopolicy", words->iopolicy,
                    "round-robin, queue-depth, numa, service-time, latency or preferred:NAME")
        ->type_name("POLICY");
    app->add_option("--steer", words->steer,
                    "Settings to visit in turn in each job: round-robin@10s,queue-depth@10s,path:a@10s")
        ->type_name("SCHEDULE");
    app->add_option("--path", words->path, "Which of the paths are used: names, indices, (non-)optimized")
        ->type_name("NAMES");
    app->add_option("--nr-io-queues", words->nr_io_queues, "I/O queues per path and job")
        ->check(CLI::Range(1, 1024))
        ->type_name("N");
    app->add_option("--queue-size", words->queue_size, "Entries of each I/O queue")
        ->check(CLI::Range(16, 1024))
        ->type_name("N");
    app->add_option("--min-paths", words->min_paths, "Don't start with fewer usable paths")
        ->check(CLI::Range(1, 1024))
        ->type_name("N");
    app->add_flag("--hdr-digest", words->hdr_digest, "CRC32C over the headers of PDUs");
    app->add_flag("--data-digest", words->data_digest, "CRC32C over the data of PDUs");
    app->add_flag("--discover", words->discover, "Ask the listed portals for all paths of the device");
    app->add_option("--client", words->clients,
                    "Let the fio server at HOST run the jobs; once for each server")
        ->type_name("HOST[,PORT]")
        ->allow_extra_args(false);
    app->add_option("--repeat", words->repeat, "Run N times, and report the spread as well")
        ->check(CLI::Range(1, 1000))
        ->type_name("N");
    add_report_options(*app, words->output);
    app->add_option("--keep", words->keep, "Leave records and the job file fio was given in this folder")
        ->type_name("DIR");
    app->add_option("--fio", words->fio, "The fio to run")->type_name("PROGRAM")->capture_default_str();
    app->add_option("--engine", words->engine, "The engine (default: beside fio-mpath, or in ../lib)")
        ->type_name("FILE");
    return {app, [words] { return run_job_file(*words); }};
}

} // namespace mpath::cli
