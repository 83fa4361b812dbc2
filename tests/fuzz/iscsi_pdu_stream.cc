// SPDX-License-Identifier: GPL-2.0-only
// A target's byte stream against a session with commands, a ping and task management outstanding, at once and
// cut anywhere: nothing may crash, and both must come to the same. Input: options (bit 0 header digest, 1
// data digest, 2 correct the stream's digests first, 3 correct its StatSN first, 4 writes send data unasked),
// MaxOutstandingR2T, seed of the cuts, then the stream. The commands have the tags 0, 1, ... of kCommands.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "iscsi/session.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/scripted_reactor.h"

namespace {

using namespace mpath;

struct Command {
    iscsi::Transfer transfer;
    std::uint32_t length;
};
constexpr std::array kCommands{
    Command{iscsi::Transfer::to_host, 512},     Command{iscsi::Transfer::to_host, 4095},
    Command{iscsi::Transfer::to_host, 40960},   Command{iscsi::Transfer::to_target, 4096},
    Command{iscsi::Transfer::to_target, 65536}, Command{iscsi::Transfer::none, 0},
    Command{iscsi::Transfer::to_target, 511},
};
constexpr std::size_t kAborted = 5; ///< of them, by a function with the first tag of those
constexpr int kRuns = 1'000'000;

struct Ending {
    int times = 0;
    bool lost = false;
    bool failed = false;
    bool damaged = false;
    std::uint8_t status = 0;
    std::uint32_t moved = 0;
    std::vector<std::byte> sense;

    bool operator==(const Ending&) const = default;
};

/// What a stream has led to.
class Outcome final : public iscsi::SessionClient {
public:
    void on_command_done(const iscsi::CommandEnd& end) noexcept override {
        fuzz::require(end.moved <= end.asked, "no command moves more than it was asked to");
        const auto index = static_cast<std::size_t>(static_cast<const Ending*>(end.owner) - endings.data());
        const int times = endings[index].times + 1;
        endings[index] = {times,
                          end.lost,
                          end.failed,
                          end.damaged,
                          end.status,
                          end.moved,
                          {end.sense.begin(), end.sense.end()}};
    }
    void on_room() noexcept override {}
    void on_async(const iscsi::AsyncEvent& event) noexcept override {
        heard.insert(heard.end(), event.sense.begin(), event.sense.end());
    }
    void on_session_closed(const Error& error) noexcept override {
        closed = true;
        reason = error.text;
    }

    std::array<Ending, kCommands.size()> endings{};
    std::array<std::vector<std::byte>, kCommands.size()> buffers;
    std::vector<std::byte> heard; ///< sense data of asynchronous messages
    bool closed = false;
    std::string reason;
};

void play(std::span<const std::byte> stream, const iscsi::SessionParameters& parameters, std::uint8_t cuts,
          Outcome& outcome) {
    static const fuzz::StillClock clock;
    fuzz::ScriptedReactor reactor(clock, stream, cuts);
    std::array<int, 2> pair{};
    fuzz::require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.data()) == 0,
                  "there is a socket");
    const UniqueFd other(pair[1]);
    iscsi::LoggedIn logged_in;
    logged_in.socket = UniqueFd(pair[0]);
    logged_in.parameters = parameters;
    logged_in.numbers = {.cmd_sn = 1, .exp_stat_sn = 1, .max_cmd_sn = 32};
    iscsi::Session session(reactor, std::move(logged_in), 16, outcome);
    for (std::size_t i = 0; i < kCommands.size(); ++i) {
        outcome.buffers[i].assign(kCommands[i].length, std::byte{0x5a});
        session.submit({}, {}, kCommands[i].transfer, outcome.buffers[i].data(), kCommands[i].length,
                       &outcome.endings[i]);
    }
    std::uint32_t tag = 0;
    fuzz::require(session.ping() && session.abort_task(&outcome.endings[kAborted], {}, tag) &&
                      session.reset_unit({}, tag) && session.log_out(),
                  "all that may be asked of a target is outstanding");
    session.flush();
    for (int run = 0; !outcome.closed; ++run) {
        fuzz::require(run < kRuns, "a stream comes to its end");
        reactor.run(0);
    }
    fuzz::require(reactor.idle(), "a closed session has left nothing with the network");
    fuzz::require(session.outstanding() == 0, "a closed session has no commands");
}

bool takes_status_number(std::span<const std::byte> pdu) {
    const auto header = load<iscsi::DataIn>(pdu);
    switch (static_cast<iscsi::Opcode>(header.opcode & iscsi::kOpcodeMask)) {
    case iscsi::Opcode::data_in:
        return (header.flags & iscsi::data_in_flag::kStatus) != 0;
    case iscsi::Opcode::nop_in:
        return header.task_tag != iscsi::kNoTag;
    default:
        return header.opcode != static_cast<std::uint8_t>(iscsi::Opcode::r2t);
    }
}

/// Stores what a target would not get wrong by chance, in the PDUs that are all there.
std::vector<std::byte> mended(std::span<const std::byte> stream, const iscsi::SessionParameters& agreed,
                              bool digests, bool numbers) {
    std::vector<std::byte> bytes(stream.begin(), stream.end());
    std::span<std::byte> rest(bytes);
    const std::size_t head = iscsi::kBhsSize + (agreed.header_digest ? kDigestSize : 0);
    std::uint32_t stat_sn = 1;
    while (rest.size() >= head) {
        auto header = load<iscsi::DataIn>(rest);
        const std::size_t length = iscsi::padded(header.data_length);
        const std::size_t size = head + length + (agreed.data_digest && length > 0 ? kDigestSize : 0);
        if (size > rest.size()) {
            break;
        }
        if (numbers) {
            header.stat_sn = takes_status_number(rest) ? stat_sn++ : stat_sn;
            std::memcpy(rest.data(), &header, sizeof header);
        }
        if (digests && agreed.header_digest) {
            store_digest(rest.first(iscsi::kBhsSize), rest.data() + iscsi::kBhsSize);
        }
        if (digests && size > head + length) {
            store_digest(rest.subspan(head, length), rest.data() + head + length);
        }
        rest = rest.subspan(size);
    }
    return bytes;
}

/// How fast our data left decides whether an R2T is one too many.
bool depends_on_time(const Outcome& outcome) {
    return outcome.reason.find("more R2Ts outstanding") != std::string::npos;
}

/// How fast our data left decides as well how much of a write was moved, and how much sense data is kept.
bool same(const Outcome& a, const Outcome& b, std::size_t i) {
    return kCommands[i].transfer == iscsi::Transfer::to_target
               ? a.endings[i].lost == b.endings[i].lost && a.endings[i].status == b.endings[i].status
               : a.endings[i] == b.endings[i] && (a.endings[i].lost || a.buffers[i] == b.buffers[i]);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const auto flags = input.take<std::uint8_t>();
    iscsi::SessionParameters parameters;
    parameters.header_digest = (flags & 1) != 0;
    parameters.data_digest = (flags & 2) != 0;
    parameters.immediate_data = (flags & 16) != 0;
    parameters.initial_r2t = !parameters.immediate_data;
    parameters.max_send_data = 4096;
    parameters.max_receive_data = 32768;
    parameters.first_burst = 8192;
    parameters.max_burst = 32768;
    parameters.max_outstanding_r2t = 1 + input.take<std::uint8_t>() % 4;
    const auto cuts = input.take<std::uint8_t>();
    const auto stream = mended(input.rest(), parameters, (flags & 4) != 0, (flags & 8) != 0);
    Outcome whole;
    Outcome cut;
    play(stream, parameters, 0, whole);
    play(stream, parameters, std::max<std::uint8_t>(cuts, 1), cut);
    for (std::size_t i = 0; i < kCommands.size(); ++i) {
        fuzz::require(whole.endings[i].times == 1 && cut.endings[i].times == 1, "every command ends once");
    }
    if (depends_on_time(whole) || depends_on_time(cut)) {
        return 0;
    }
    fuzz::require(whole.reason == cut.reason, "the connection ends for the same reason, however it is cut");
    fuzz::require(whole.heard == cut.heard, "what comes unasked is heard, however the stream is cut");
    for (std::size_t i = 0; i < kCommands.size(); ++i) {
        fuzz::require(same(whole, cut, i), "a command ends the same way, however the stream is cut");
    }
    return 0;
}
