// SPDX-License-Identifier: GPL-2.0-only
// fio-mpath target: the embedded NVMe/TCP target.
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "base/clock.h"
#include "cli/command.h"
#include "target/server.h"

namespace mpath::cli {

namespace {

/// The command line's words, of which those with a form of their own are read after the parse.
struct Words {
    target::Options options;
    std::vector<std::string> listen;
    std::vector<std::string> discovery;
    std::vector<std::string> referrals;
    std::string ana = "optimized";
    std::string size = "256M";
    std::string block_size = "4096";
    std::string mdts = "1M";
    std::string in_capsule = "8k";
    std::string max_h2c_data = "1M";
    std::string r2t_size = "0";
    std::string c2h_size = "0";
    std::string identify_by = "uuid,nguid,eui64";
    std::string ready_file;
    double exit_after = 0;
    bool until_stdin_closes = false;
};

constexpr const char* kFooter = R"(
Examples:
  two paths, the second one slower and not preferred:
    fio-mpath target --listen 127.0.0.1:4420,name=a \
                     --listen 127.0.0.1:4421,name=b,ana=non-optimized,delay=200us
  as fast as it goes, storing nothing:
    fio-mpath target --listen 127.0.0.1:4420 --null --size 1T --poll

It says where it listens, a paths= line for each namespace, and `ready`; at its end, what each listener served.
All listeners show the same namespaces. Associations that are silent for longer than their keep-alive timeout
(rounded up to 100 ms, counted from the last Keep Alive received) are dropped.)";

/// Leaves the first fault's sentence in `fault`.
template <typename T>
void read_size(const std::string& text, T& value, std::string& fault) {
    const auto parsed = target::parse_size(text);
    if (parsed && *parsed <= std::numeric_limits<T>::max()) {
        value = static_cast<T>(*parsed);
    } else if (fault.empty()) {
        fault = parsed ? fmt::format("size {} is too large here", text) : parsed.error().text;
    }
}

Result<void> read_identities(const std::string& text, target::Options& options) {
    options.announce_uuid = options.announce_nguid = options.announce_eui64 = false;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        if (word == "uuid") {
            options.announce_uuid = true;
        } else if (word == "nguid") {
            options.announce_nguid = true;
        } else if (word == "eui64") {
            options.announce_eui64 = true;
        } else if (word != "none") {
            return failure(EINVAL, "'{}' is not an identity, there are uuid, nguid, eui64 and none", word);
        }
        begin = end + 1;
    }
    return {};
}

Result<void> read_listeners(const Words& words, target::Options& options) {
    auto ana = target::parse_ana(words.ana);
    if (!ana) {
        return tl::unexpected(ana.error());
    }
    for (const auto& text : words.listen) {
        auto listener = target::parse_listener(text);
        if (!listener) {
            return failure_in("--listen " + text, listener.error());
        }
        if (text.find(",ana=") == std::string::npos) {
            listener->ana = *ana;
        }
        options.listeners.push_back(std::move(*listener));
    }
    if (words.listen.empty()) {
        target::ListenerOptions& listener = options.listeners.emplace_back();
        listener.port = 4420;
        listener.ana = *ana;
    }
    return {};
}

Result<void> read_addresses(const std::vector<std::string>& texts, const char* option,
                            std::vector<target::ListenerOptions>& addresses) {
    for (const auto& text : texts) {
        auto address = target::parse_listener(text);
        if (!address) {
            return failure_in(fmt::format("{} {}", option, text), address.error());
        }
        addresses.push_back(std::move(*address));
    }
    return {};
}

Result<target::Options> read(const Words& words) {
    target::Options options = words.options;
    std::string fault;
    read_size(words.size, options.size, fault);
    read_size(words.block_size, options.block_size, fault);
    read_size(words.mdts, options.mdts, fault);
    read_size(words.in_capsule, options.in_capsule, fault);
    read_size(words.max_h2c_data, options.max_h2c_data, fault);
    read_size(words.r2t_size, options.r2t_size, fault);
    read_size(words.c2h_size, options.c2h_size, fault);
    if (!fault.empty()) {
        return failure(EINVAL, "{}", fault);
    }
    auto fine = read_identities(words.identify_by, options);
    if (fine) {
        fine = read_listeners(words, options);
    }
    if (fine) {
        fine = read_addresses(words.discovery, "--discovery", options.discovery.listeners);
    }
    if (fine) {
        fine = read_addresses(words.referrals, "--referral", options.discovery.referrals);
    }
    if (!fine) {
        return tl::unexpected(fine.error());
    }
    return options;
}

target::Server* serving = nullptr;

void stop_serving(int /*signal*/) {
    serving->stop();
}

void stop_on_signals(target::Server& server, double exit_after) {
    serving = &server;
    struct sigaction action {};
    action.sa_handler = stop_serving;
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGALRM}) {
        ::sigaction(number, &action, nullptr);
    }
    if (exit_after > 0) {
        itimerval timer{};
        timer.it_value.tv_sec = static_cast<time_t>(exit_after);
        timer.it_value.tv_usec =
            static_cast<suseconds_t>((exit_after - static_cast<double>(timer.it_value.tv_sec)) * 1e6);
        ::setitimer(ITIMER_REAL, &timer, nullptr);
    }
}

std::string ready_text(const target::Server& server) {
    std::string text;
    for (const auto& listener : server.listeners()) {
        if (listener->discovery_only) {
            text += fmt::format("discovery {} {}\n", listener->options.name, listener->address);
            continue;
        }
        text += fmt::format("listening {} {} {} delay {} us\n", listener->options.name, listener->address,
                            target::to_string(listener->options.ana),
                            static_cast<double>(listener->options.delay) / kMicrosecond);
    }
    for (std::uint32_t nsid = 1; nsid <= server.subsystem().namespace_count(); ++nsid) {
        text += fmt::format("paths={}\n", paths_of(server, nsid));
    }
    return text + "ready\n";
}

/// Whole or not at all: who waits for the file may read it as soon as it is there.
Result<void> write_file(const std::string& name, const std::string& text) {
    const std::string aside = name + ".new";
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(aside.c_str(), "w"), std::fclose);
    if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
        std::fflush(file.get()) != 0 || std::rename(aside.c_str(), name.c_str()) != 0) {
        return failure(errno, "cannot write {}: {}", name, std::strerror(errno));
    }
    return {};
}

void print_counters(const target::Server& server) {
    for (const auto& listener : server.listeners()) {
        const target::Counters& seen = listener->counters;
        fmt::print("served {} connections={} associations={} discoveries={} reads={} read_bytes={} writes={} "
                   "write_bytes={} "
                   "flushes={} deallocates={} write_zeroes={} refused={} violations={} expired={}\n",
                   listener->options.name, seen.connections, seen.associations, seen.discoveries, seen.reads,
                   seen.read_bytes, seen.writes, seen.write_bytes, seen.flushes, seen.deallocates,
                   seen.write_zeroes, seen.refused, seen.violations, seen.expired);
    }
}

int serve(const Words& words) {
    const auto options = read(words);
    if (!options) {
        return complain(options.error().text);
    }
    const SystemClock clock;
    auto server = target::Server::create(*options, clock);
    if (!server) {
        return complain(server.error().text);
    }
    stop_on_signals(**server, words.exit_after);
    if (words.until_stdin_closes) {
        if (auto watched = (*server)->stop_when_closed(STDIN_FILENO); !watched) {
            return complain("--until-stdin-closes needs a pipe or a terminal: " + watched.error().text);
        }
    }
    const std::string text = ready_text(**server);
    if (!words.ready_file.empty()) {
        if (auto written = write_file(words.ready_file, text); !written) {
            return complain(written.error().text);
        }
    }
    fmt::print("{}", text);
    std::fflush(stdout);
    (*server)->run();
    print_counters(**server);
    return 0;
}

void add_storage_options(CLI::App& app, Words& words) {
    target::Options& options = words.options;
    app.add_option("--namespaces", options.namespaces, "how many, NSIDs from 1")->capture_default_str();
    app.add_option("--size", words.size, "of each namespace; memory is taken when first written")
        ->capture_default_str();
    app.add_option("--block-size", words.block_size, "512 to 65536 bytes")->capture_default_str();
    app.add_flag("--null", options.null,
                 "store nothing: reads give a constant pattern, writes are discarded");
    app.add_option("--metadata", options.metadata,
                   "announce this many bytes of metadata per block, and refuse I/O");
    app.add_option("--pi", options.protection,
                   "announce this protection information type (needs --metadata 8)");
    app.add_option("--device-id", options.device_id,
                   "any text; targets told the same text show the same device (default: a random one)");
    app.add_option("--identify-by", words.identify_by, "identities to announce, or none")
        ->capture_default_str();
    app.add_option("--subnqn", options.subnqn, "NQN of the subsystem")->capture_default_str();
    app.add_option("--model", options.model, "model number")->capture_default_str();
    app.add_option("--serial", options.serial, "serial number")->capture_default_str();
    app.add_option("--firmware", options.firmware, "firmware revision")->capture_default_str();
}

void add_limit_options(CLI::App& app, Words& words) {
    target::Options& options = words.options;
    app.add_option("--mdts", words.mdts, "bytes of one transfer; 0 = no limit")->capture_default_str();
    app.add_option("--in-capsule", words.in_capsule, "bytes a command capsule has room for; 0 = none")
        ->capture_default_str();
    app.add_option("--max-h2c-data", words.max_h2c_data, "MAXH2CDATA: bytes of one H2CData PDU")
        ->capture_default_str();
    app.add_option("--r2t-size", words.r2t_size, "bytes asked for with one R2T; 0 = all")
        ->capture_default_str();
    app.add_option("--c2h-size", words.c2h_size, "bytes of one C2HData PDU; 0 = the whole transfer")
        ->capture_default_str();
    app.add_option("--cpda", options.cpda, "alignment asked for: dwords, 0's based")->capture_default_str();
    app.add_flag("--success-flag,!--no-success-flag", options.success_flag,
                 "end reads without a response capsule where the host allows it (default: on)");
    app.add_option("--queue-size", options.queue_size, "entries of the largest queue")->capture_default_str();
    app.add_option("--io-queues", options.io_queues, "I/O queues of an association")->capture_default_str();
    app.add_option("--controllers", options.controllers, "associations at a time; more are refused as busy")
        ->capture_default_str();
    app.add_option("--anatt", options.anatt, "ANA transition time to announce, seconds")
        ->capture_default_str();
}

void add_behaviour_options(CLI::App& app, Words& words) {
    target::Options& options = words.options;
    app.add_flag("--enforce-kato,!--no-enforce-kato", options.enforce_kato,
                 "drop associations that are silent for longer than their KATO (default: on)");
    app.add_flag("--traffic-based-keep-alive", options.traffic_based_keep_alive,
                 "any command counts as a keep-alive, and CTRATT says so");
    app.add_flag("--demand-auth", options.demand_auth, "demand in-band authentication, which nobody passes");
    app.add_flag("--demand-tls", options.demand_tls,
                 "answer plaintext as a TLS endpoint would: alert and close");
    app.add_flag("--garbage", options.garbage, "send bytes that are no PDU after ICResp");
    app.add_flag("--poll", options.poll, "spin instead of sleeping: a whole core, shortest response time");
    app.add_option("--exit-after", words.exit_after, "end after this many seconds");
    app.add_flag("--until-stdin-closes", words.until_stdin_closes, "end when stdin is closed");
    app.add_option("--ready-file", words.ready_file, "write what is printed at the start to this file, too");
}

void add_discovery_options(CLI::App& app, Words& words) {
    target::DiscoveryOptions& options = words.options.discovery;
    app.add_option("--discovery", words.discovery,
                   "ADDRESS:PORT to serve the discovery service alone, as port 8009 does elsewhere; every "
                   "other listener serves it, too")
        ->allow_extra_args(false);
    app.add_option("--referral", words.referrals,
                   "ADDRESS:PORT of another discovery service, to refer to; once for each")
        ->allow_extra_args(false);
    app.add_flag("--discovery-duplicates", options.duplicates,
                 "name each listener twice, with two port IDs and DUPRETINFO");
    app.add_flag("--discovery-tls", options.tls, "say that the listeners require a secure channel (TREQ)");
    app.add_option("--genctr-moves", options.moves,
                   "how many reads of the log's beginning find it changed (GENCTR)")
        ->capture_default_str();
}

} // namespace

Command add_target(CLI::App& parent) {
    auto words = std::make_shared<Words>();
    CLI::App* app =
        parent.add_subcommand("target", "An NVMe/TCP target in memory with several paths, for trying "
                                        "out, dry runs and tests");
    app->footer(kFooter);
    app->add_option(
           "--listen", words->listen,
           "ADDRESS:PORT[,name=NAME][,ana=STATE][,delay=DURATION], once for each path; port 0 takes any "
           "(default: 127.0.0.1:4420)")
        ->allow_extra_args(false);
    app->add_option("--ana", words->ana, "state of the listeners that have no ana= of their own")
        ->capture_default_str();
    app->add_flag("--allow-remote", words->options.allow_remote,
                  "allow addresses that other hosts can reach; there is no access control");
    add_storage_options(*app, *words);
    add_limit_options(*app, *words);
    add_behaviour_options(*app, *words);
    add_discovery_options(*app, *words);
    return {app, [words] { return serve(*words); }};
}

} // namespace mpath::cli
