// SPDX-License-Identifier: GPL-2.0-only
// Everything the target can be told, with its defaults, and the readers of its text forms.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "target/access_state.h"
#include "target/misdeed.h"

namespace mpath::target {

/// For sizes: another one each time.
inline constexpr std::uint32_t kRandomSize = 0xffffffff;

/// How ICResp answers the host's wish for digests.
enum class Digests : std::uint8_t {
    as_asked,
    refused,
    forced, ///< both, asked for or not; a host has to refuse what it has not asked for
};

/// PDUs of an I/O connection to be sent with one bit wrong, counted from 1 behind the answer to Connect.
struct Flips {
    std::uint32_t header = 0; ///< of all PDUs: a bit of the header, after its digest was computed; 0 = none
    std::uint32_t data = 0;   ///< of the C2HData PDUs: a bit of the data; 0 = none
};

/// One address to listen on: a port of the subsystem, or a portal of the iSCSI target, which every namespace
/// is reached through.
struct ListenerOptions {
    std::string address = "127.0.0.1"; ///< numeric IPv4, or IPv6 without brackets
    std::uint16_t port = 0;            ///< 0: the kernel picks one
    std::string name;                  ///< empty: p0, p1, ... by position
    Protocol protocol = Protocol::nvme_tcp;
    AccessState ana;
    Nanoseconds delay = 0; ///< added to every I/O command's answer
    Flips flips;
    Break breach;
};

/// What the discovery service, which every listener serves, is to say.
struct DiscoveryOptions {
    std::vector<ListenerOptions> listeners; ///< further ones, which serve nothing else
    std::vector<ListenerOptions> referrals; ///< address and port of other discovery services
    bool duplicates = false;                ///< each port twice, with two port IDs and DUPRETINFO
    bool tls = false;                       ///< TREQ says that a secure channel is required
    std::uint32_t moves = 0;                ///< the log changes (GENCTR) at so many reads of its beginning
};

/// Who may log in over iSCSI, and what proves that the target is itself.
struct ChapAccount {
    std::string user; ///< empty: everybody may log in
    std::string secret;
    std::string own_user;
    std::string own_secret; ///< empty: the target proves nothing
};

/// What the portals of the iSCSI target have in common. Sizes in bytes, from 512 to 16 MiB - 1.
struct IscsiOptions {
    std::string name = "iqn.2025-01.io.fio-mpath:target";
    std::uint32_t max_receive = 256 * 1024; ///< MaxRecvDataSegmentLength
    std::uint32_t max_burst = 1U << 20;     ///< MaxBurstLength
    std::uint32_t first_burst = 256 * 1024; ///< FirstBurstLength
    bool initial_r2t = false;               ///< true: no unsolicited data but immediate data
    bool immediate_data = true;
    bool power_on_attention = true; ///< a session's first command finds that the target was just switched on
    ChapAccount chap;
};

struct Options { // NOLINT(clang-analyzer-optin.performance.Padding): in the order of meaning; there is one
    std::vector<ListenerOptions> listeners;
    DiscoveryOptions discovery;
    bool allow_remote = false; ///< addresses other than loopback

    IscsiOptions iscsi;

    std::string subnqn = "nqn.2025-01.io.fio-mpath:target";
    std::string model = "fio-mpath target";
    std::string serial = "MPATH0000001";
    std::string firmware = "1.0";

    std::uint32_t namespaces = 1;
    std::uint32_t groups = 0;          ///< ANA groups, which take the namespaces by turns; 0: one for each
    bool ana_reporting = true;         ///< false: Identify knows of no ANA, and there is no ANA log
    std::uint64_t size = 256ULL << 20; ///< bytes of each namespace
    std::uint32_t block_size = 4096;   ///< 512..65536, a power of two
    bool null = false;                 ///< no storage: reads give a constant pattern, writes are discarded
    std::uint16_t metadata = 0;        ///< announced bytes per block; a namespace with metadata refuses I/O
    std::uint8_t protection = 0;       ///< announced protection information type; needs metadata
    bool read_only = false;            ///< write protected
    std::uint16_t noiob = 0; ///< blocks of the announced I/O boundary; 0 = none. Crossing it is fine
    std::uint32_t preferred_write = 0; ///< NPWG and NPWA: blocks, at most 65536; 0 = not said
    std::uint32_t optimal_write = 0;   ///< NOWS: blocks, at most 65536; 0 = not said
    bool trim = true;                  ///< Dataset Management
    std::uint32_t max_trim = 0;        ///< DMRSL: blocks of one range; 0 = no limit
    bool write_zeroes = true;
    std::uint32_t max_write_zeroes = 0; ///< WZSL: bytes, 4096 times a power of two; 0 = no limit
    std::string device_id;              ///< identities are derived from this text; empty: random ones
    bool announce_uuid = true;
    bool announce_nguid = true;
    bool announce_eui64 = true;

    std::uint32_t mdts = 1U << 20;         ///< bytes of one transfer, 4096 times a power of two; 0 = no limit
    std::uint32_t in_capsule = 8192;       ///< bytes of data in an I/O command capsule; 0 = none
    std::uint32_t max_h2c_data = 1U << 20; ///< MAXH2CDATA, bytes
    std::uint32_t r2t_size = 0;            ///< bytes asked for with one R2T; 0 = the rest
    std::uint32_t max_r2t = 1;             ///< R2Ts at a time for one command, as far as the host allows
    std::uint32_t c2h_size = 0;            ///< bytes of one C2HData PDU; 0 = the whole transfer
    std::uint32_t segment = 0;             ///< bytes of one send to the socket; 0 = no limit
    std::uint8_t cpda = 0;                 ///< alignment asked of the host's data: dwords, 0's based
    Digests digests = Digests::as_asked;
    bool success_flag = true;            ///< end reads with the SUCCESS flag where the host allows it
    std::uint32_t queue_size = 1024;     ///< entries of the largest queue
    std::uint16_t io_queues = 128;       ///< I/O queues of one association
    std::uint16_t controllers = 64;      ///< associations at a time
    std::uint8_t anatt = 10;             ///< seconds
    std::array<std::uint16_t, 3> crdt{}; ///< Command Retry Delay Times to announce, units of 100 ms

    bool enforce_kato = true;              ///< see Controller::silent_too_long()
    bool traffic_based_keep_alive = false; ///< any command counts as a Keep Alive, and CTRATT says so
    bool demand_auth = false;
    bool demand_tls = false;
    bool garbage = false; ///< send bytes that are no PDU behind ICResp

    std::uint64_t seed = 1; ///< of all that is random below and among the sizes
    bool vary = false;      ///< choose at random wherever the standard leaves a choice
    bool reorder = false;   ///< answer in random order, and send data of several reads by turns

    bool poll = false; ///< spin instead of sleeping
};

/// "256M", "1G", "4096": a number and one of k, M, G, T (powers of 1024).
Result<std::uint64_t> parse_size(std::string_view text);

/// The same, or "random".
Result<std::uint32_t> parse_step(std::string_view text);

/// "header:N" or "data:N", added to what `flips` has already.
Result<void> parse_flip(std::string_view text, Flips& flips);

/// "ADDRESS:PORT[,name=NAME][,ana=STATE][,delay=DURATION][,flip=WHAT:N][,break=WHAT[:N]]"; IPv6 addresses in
/// brackets.
Result<ListenerOptions> parse_listener(std::string_view text, Protocol protocol = Protocol::nvme_tcp);

/// Fills in listeners' names and refuses what cannot be served, one sentence for the first fault.
Result<Options> checked(Options options);

} // namespace mpath::target
