// SPDX-License-Identifier: GPL-2.0-only
#include "cli/target_words.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/duration.h"
#include "target/iscsi/chap.h"

namespace mpath::cli {

namespace {

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

void read_step(const std::string& text, std::uint32_t& value, std::string& fault) {
    const auto parsed = target::parse_step(text);
    if (parsed) {
        value = *parsed;
    } else if (fault.empty()) {
        fault = parsed.error().text;
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

/// --flip and --break hold for the listeners that have no such attributes.
Result<void> read_faults(const TargetWords& words, target::Options& options) {
    target::ListenerOptions wanted;
    for (const auto& text : words.flips) {
        if (auto fine = target::parse_flip(text, wanted.flips); !fine) {
            return failure_in("--flip", fine.error());
        }
    }
    if (!words.breach.empty()) {
        auto breach = target::parse_break(words.breach);
        if (!breach) {
            return failure_in("--break", breach.error());
        }
        wanted.breach = *breach;
    }
    for (auto& listener : options.listeners) {
        if (listener.flips.header == 0 && listener.flips.data == 0) {
            listener.flips = wanted.flips;
        }
        if (listener.breach.what == target::Misdeed::none) {
            listener.breach = wanted.breach;
        }
    }
    return {};
}

Result<void> read_choices(const TargetWords& words, target::Options& options) {
    if (words.no_digests || words.force_digests) {
        options.digests = words.no_digests ? target::Digests::refused : target::Digests::forced;
    }
    if (words.vary.empty()) {
        return {};
    }
    const char* end = words.vary.data() + words.vary.size();
    const auto [stop, fault] = std::from_chars(words.vary.data(), end, options.seed);
    if (fault != std::errc{} || stop != end) {
        return failure(EINVAL, "--vary {}: a seed is a whole number from 0", words.vary);
    }
    options.vary = true;
    return {};
}

/// "1s,500ms": CRDT1, CRDT2.
Result<void> read_retry_delays(const std::string& text, target::Options& options) {
    constexpr Nanoseconds kUnit = 100 * kMillisecond;
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size() && number < options.crdt.size(); ++number) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const auto delay = parse_duration(text.substr(begin, end - begin));
        if (!delay) {
            return failure_in("--crdt", delay.error());
        }
        if (*delay % kUnit != 0 || *delay / kUnit > std::numeric_limits<std::uint16_t>::max()) {
            return failure(EINVAL, "--crdt {}: retry delays are multiples of 100ms up to 6553.5s", text);
        }
        options.crdt[number] = static_cast<std::uint16_t>(*delay / kUnit);
        begin = end + 1;
    }
    return {};
}

Result<void> read_listeners(const TargetWords& words, target::Options& options) {
    options.ana_reporting = words.ana != "none";
    auto ana = target::parse_ana(options.ana_reporting ? words.ana : "optimized");
    if (!ana) {
        return tl::unexpected(ana.error());
    }
    for (const auto protocol : {target::Protocol::nvme_tcp, target::Protocol::iscsi}) {
        const bool iscsi = protocol == target::Protocol::iscsi;
        for (const auto& text : iscsi ? words.iscsi : words.listen) {
            auto listener = target::parse_listener(text, protocol);
            if (!listener) {
                return failure_in((iscsi ? "--iscsi " : "--listen ") + text, listener.error());
            }
            if (text.find(",ana=") == std::string::npos) {
                listener->ana = *ana;
            }
            options.listeners.push_back(std::move(*listener));
        }
    }
    if (options.listeners.empty()) {
        target::ListenerOptions& listener = options.listeners.emplace_back();
        listener.port = 4420;
        listener.ana = *ana;
    }
    return read_faults(words, options);
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

Result<void> read_chap(const TargetWords& words, target::ChapAccount& chap) {
    if (words.chap_secret_file.empty() != chap.user.empty()) {
        return failure(EINVAL, "--chap-user and --chap-secret-file need one another");
    }
    if (chap.user.empty()) {
        return {};
    }
    if (auto read = target::scsi::read_chap_secrets(words.chap_secret_file, chap); !read) {
        return failure_in("--chap-secret-file", read.error());
    }
    if (chap.own_user.empty()) {
        chap.own_user = words.options.iscsi.name;
    }
    return {};
}

void add_storage_options(CLI::App& app, TargetWords& words) {
    target::Options& options = words.options;
    app.add_option("--namespaces", options.namespaces, "how many, NSIDs from 1")->capture_default_str();
    app.add_option("--groups", options.groups,
                   "ANA groups, which take the namespaces by turns (default: one for each)");
    app.add_option("--size", words.size, "of each namespace; memory is taken when first written")
        ->capture_default_str();
    app.add_option("--block-size", words.block_size, "512 to 65536 bytes")->capture_default_str();
    app.add_flag("--null", options.null,
                 "store nothing: reads give a constant pattern, writes are discarded");
    app.add_flag("--read-only", options.read_only, "write protected: says so, and refuses writes and trims");
    app.add_option("--noiob", options.noiob,
                   "announce this I/O boundary (NOIOB), blocks; I/O across it works all the same");
    app.add_option("--npwg", options.preferred_write,
                   "announce this granularity and alignment of writes (NPWG, NPWA), blocks");
    app.add_option("--nows", options.optimal_write, "announce this size of writes (NOWS), blocks");
    app.add_flag("!--no-trim", options.trim, "no Dataset Management: neither announced nor accepted");
    app.add_option("--max-trim", options.max_trim, "blocks of one range (DMRSL); 0 = no limit");
    app.add_flag("!--no-write-zeroes", options.write_zeroes,
                 "no Write Zeroes: neither announced nor accepted");
    app.add_option("--max-write-zeroes", words.max_write_zeroes,
                   "bytes of one Write Zeroes (WZSL); 0 = no limit");
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

void add_limit_options(CLI::App& app, TargetWords& words) {
    target::Options& options = words.options;
    app.add_option("--mdts", words.mdts, "bytes of one transfer; 0 = no limit")->capture_default_str();
    app.add_option("--in-capsule", words.in_capsule, "bytes a command capsule has room for; 0 = none")
        ->capture_default_str();
    app.add_option("--max-h2c-data", words.max_h2c_data, "MAXH2CDATA: bytes of one H2CData PDU")
        ->capture_default_str();
    app.add_option("--queue-size", options.queue_size, "entries of the largest queue")->capture_default_str();
    app.add_option("--io-queues", options.io_queues, "I/O queues of an association")->capture_default_str();
    app.add_option("--controllers", options.controllers, "associations at a time; more are refused as busy")
        ->capture_default_str();
    app.add_option("--anatt", options.anatt, "ANA transition time to announce, seconds")->default_str("10");
    app.add_option(
        "--crdt", words.crdt,
        "up to three command retry delays to announce, which a script's `crd N` asks for: 500ms,2s");
}

void add_behaviour_options(CLI::App& app, TargetWords& words) {
    target::Options& options = words.options;
    app.add_flag("--enforce-kato,!--no-enforce-kato", options.enforce_kato,
                 "drop associations that are silent for longer than their KATO (default: on)");
    app.add_flag("--traffic-based-keep-alive", options.traffic_based_keep_alive,
                 "any command counts as a keep-alive, and CTRATT says so");
    app.add_flag("--demand-auth", options.demand_auth, "demand in-band authentication, which nobody passes");
    app.add_flag("--demand-tls", options.demand_tls,
                 "answer plaintext as a TLS endpoint would: alert and close");
    app.add_flag("--poll", options.poll, "spin instead of sleeping: a whole core, shortest response time");
    app.add_option("--exit-after", words.exit_after, "end after this many seconds");
    app.add_flag("--until-stdin-closes", words.until_stdin_closes, "end when stdin is closed");
    app.add_option("--ready-file", words.ready_file, "write what is printed at the start to this file, too");
}

void add_discovery_options(CLI::App& app, TargetWords& words) {
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

void add_iscsi_options(CLI::App& app, TargetWords& words) {
    target::IscsiOptions& options = words.options.iscsi;
    app.add_option("--target-name", options.name, "iSCSI name of the target")->capture_default_str();
    app.add_option("--max-burst", words.max_burst, "MaxBurstLength: bytes of one R2T or sequence of Data-In")
        ->capture_default_str();
    app.add_option("--first-burst", words.first_burst, "FirstBurstLength: bytes sent unasked")
        ->capture_default_str();
    app.add_option("--max-receive", words.max_receive, "MaxRecvDataSegmentLength: bytes of one PDU")
        ->capture_default_str();
    app.add_flag("--initial-r2t,!--no-initial-r2t", options.initial_r2t,
                 "take no data unasked but immediate data (default: off)");
    app.add_flag("--immediate-data,!--no-immediate-data", options.immediate_data,
                 "take data with commands (default: on)");
    app.add_flag("--power-on-attention,!--no-power-on-attention", options.power_on_attention,
                 "a session's first command finds that the target was switched on (6/29/00; default: on)");
    app.add_option("--chap-user", options.chap.user,
                   "let only this user log in, by CHAP; discovery sessions are let in all the same");
    app.add_option("--chap-secret-file", words.chap_secret_file,
                   "its first line is that user's secret; the second, if there is one, the target's own");
    app.add_option("--chap-target-user", options.chap.own_user,
                   "what the target calls itself by CHAP (default: its iSCSI name)");
}

/// What a controller may choose in moving data.
void add_transfer_options(CLI::App& app, TargetWords& words) {
    target::Options& options = words.options;
    app.add_option("--r2t-size", words.r2t_size, "bytes asked for with one R2T, or random; 0 = all")
        ->capture_default_str();
    app.add_option("--max-r2t", options.max_r2t,
                   "R2Ts at a time for one command, as far as the host allows (MAXR2T)")
        ->capture_default_str();
    app.add_option(
           "--c2h-size", words.c2h_size,
           "bytes of one C2HData PDU, or random; 0 = the whole transfer. A number that is no multiple of 4 "
           "is taken, too")
        ->capture_default_str();
    app.add_option("--segment", words.segment, "bytes of one send to the socket, or random; 0 = no limit")
        ->capture_default_str();
    app.add_option("--cpda", options.cpda, "alignment asked for: dwords, 0's based")->default_str("0");
    app.add_flag("--success-flag,!--no-success-flag", options.success_flag,
                 "end reads without a response capsule where the host allows it (default: on)");
    CLI::Option* refuse =
        app.add_flag("--no-digests", words.no_digests, "refuse digests (default: as asked)");
    app.add_flag("--force-digests", words.force_digests,
                 "use both digests unasked, which a host has to refuse")
        ->excludes(refuse);
    app.add_flag("--reorder", options.reorder,
                 "answer in random order, and send the data of several reads by turns");
    app.add_option(
        "--vary", words.vary,
        "SEED: choose at random wherever the standard leaves a choice: sizes, R2Ts at a time, alignment "
        "and padding, MAXH2CDATA, the SUCCESS flag, order, segments. The same seed gives the "
        "same choices to the n-th connection of a listener");
}

/// What no controller may do.
void add_fault_options(CLI::App& app, TargetWords& words) {
    app.add_option(
           "--flip", words.flips,
           "header:N or data:N, on listeners without flip=: flip a bit of the N-th PDU's header, or "
           "of the N-th C2HData PDU's data, behind the digest's back; counted for each I/O connection "
           "from 1")
        ->allow_extra_args(false);
    app.add_option("--break", words.breach,
                   "WHAT[:N], on listeners without break=: do this wrong on each I/O connection, to the N-th "
                   "(default: first) command that it can be done to; the list is below");
    app.add_flag("--garbage", words.options.garbage, "send bytes that are no PDU after ICResp");
    app.add_option("--script", words.script, "do what this file of statements says (docs/target.md)");
    CLI::Option* control =
        app.add_option("--control", words.control,
                       "take statements of `fio-mpath target-ctl` at this unix socket (default: one in "
                       "$XDG_RUNTIME_DIR/fio-mpath or /tmp/fio-mpath-UID)");
    app.add_flag("--no-control", words.no_control, "take none")->excludes(control);
    app.add_option("--fault-log", words.fault_log,
                   "write to this file what was done to which listener and when, a line of JSON each");
}

} // namespace

void add_target_options(CLI::App& app, TargetWords& words) {
    app.add_option(
           "--listen", words.listen,
           "ADDRESS:PORT[,name=NAME][,ana=STATE][,delay=DURATION][,flip=WHAT:N][,break=WHAT[:N]], once "
           "for each path; port 0 takes any (default: 127.0.0.1:4420)")
        ->allow_extra_args(false);
    app.add_option(
           "--iscsi", words.iscsi,
           "the same, for an iSCSI portal, which is an ALUA target port group of its own; ana= may be one of "
           "ALUA's states (standby, unavailable, offline, transitioning), and there is no break=")
        ->allow_extra_args(false);
    app.add_option("--ana", words.ana,
                   "state of the listeners that have no ana= of their own, or none: no ANA reporting at all")
        ->capture_default_str();
    app.add_flag("--allow-remote", words.options.allow_remote,
                 "allow addresses that other hosts can reach; there is no access control");
    add_storage_options(app, words);
    add_limit_options(app, words);
    add_transfer_options(app, words);
    add_behaviour_options(app, words);
    add_fault_options(app, words);
    add_discovery_options(app, words);
    add_iscsi_options(app, words);
}

Result<target::Options> read_target_words(const TargetWords& words) {
    target::Options options = words.options;
    std::string fault;
    read_size(words.size, options.size, fault);
    read_size(words.block_size, options.block_size, fault);
    read_size(words.mdts, options.mdts, fault);
    read_size(words.in_capsule, options.in_capsule, fault);
    read_size(words.max_h2c_data, options.max_h2c_data, fault);
    read_size(words.max_write_zeroes, options.max_write_zeroes, fault);
    read_size(words.max_burst, options.iscsi.max_burst, fault);
    read_size(words.first_burst, options.iscsi.first_burst, fault);
    read_size(words.max_receive, options.iscsi.max_receive, fault);
    read_step(words.r2t_size, options.r2t_size, fault);
    read_step(words.c2h_size, options.c2h_size, fault);
    read_step(words.segment, options.segment, fault);
    if (!fault.empty()) {
        return failure(EINVAL, "{}", fault);
    }
    auto fine = read_identities(words.identify_by, options);
    if (fine) {
        fine = read_choices(words, options);
    }
    if (fine) {
        fine = read_retry_delays(words.crdt, options);
    }
    if (fine) {
        fine = read_listeners(words, options);
    }
    if (fine) {
        fine = read_chap(words, options.iscsi.chap);
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

} // namespace mpath::cli
