// SPDX-License-Identifier: GPL-2.0-only
// A controller's byte stream against a queue with commands outstanding, at once and cut anywhere: nothing may
// crash, and both must come to the same. Input: options (bit 0 header digest, 1 data digest, 2 correct the
// digests of the stream first), HPDA, MAXR2T, seed of the cuts, then the stream. The commands have the
// identifiers 0, 1, ... of kCommands.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "nvme/pdu_check.h"
#include "nvme/queue.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/scripted_reactor.h"

namespace {

using namespace mpath;

struct Command {
    nvme::Transfer transfer;
    std::uint32_t length;
};
constexpr std::array kCommands{
    Command{nvme::Transfer::to_host, 512},         Command{nvme::Transfer::to_host, 4096},
    Command{nvme::Transfer::to_host, 40960},       Command{nvme::Transfer::to_controller, 4096},
    Command{nvme::Transfer::to_controller, 65536}, Command{nvme::Transfer::none, 0},
    Command{nvme::Transfer::to_controller, 512},
};
constexpr std::uint32_t kInCapsule = 1024; ///< the last of them fits
constexpr int kRuns = 1'000'000;

struct Ending {
    int times = 0;
    std::uint16_t status = 0;
    bool lost = false;

    bool operator==(const Ending&) const = default;
};

/// What a stream has led to.
class Outcome final : public nvme::QueueClient {
public:
    void on_command_done(const nvme::Completion& completion) noexcept override {
        const auto index =
            static_cast<std::size_t>(static_cast<const Ending*>(completion.owner) - endings.data());
        ++endings[index].times;
        endings[index].lost = completion.lost;
        endings[index].status = completion.lost ? 0 : completion.status.field;
    }
    void on_sent() noexcept override {}
    void on_queue_closed(const Error& error) noexcept override {
        closed = true;
        reason = error.text;
    }

    std::array<Ending, kCommands.size()> endings{};
    std::array<std::vector<std::byte>, kCommands.size()> buffers;
    bool closed = false;
    std::string reason;
};

void play(std::span<const std::byte> stream, const nvme::PduOptions& options, std::uint8_t cuts,
          Outcome& outcome) {
    static const fuzz::StillClock clock;
    fuzz::ScriptedReactor reactor(clock, stream, cuts);
    std::array<int, 2> pair{};
    fuzz::require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.data()) == 0,
                  "there is a socket");
    const UniqueFd other(pair[1]);
    nvme::QueueParameters parameters;
    parameters.in_capsule = kInCapsule;
    parameters.pdu = options;
    nvme::Queue queue(reactor, UniqueFd(pair[0]), parameters, outcome);
    for (std::size_t i = 0; i < kCommands.size(); ++i) {
        outcome.buffers[i].assign(kCommands[i].length, std::byte{0x5a});
        queue.submit({}, kCommands[i].transfer, outcome.buffers[i].data(), kCommands[i].length,
                     &outcome.endings[i]);
    }
    queue.flush();
    for (int run = 0; !outcome.closed; ++run) {
        fuzz::require(run < kRuns, "a stream comes to its end");
        reactor.run(0);
    }
    fuzz::require(reactor.idle(), "a closed queue has left nothing with the network");
    fuzz::require(queue.outstanding() == 0, "a closed queue has no commands");
}

/// Stores the right digests in the PDUs that have their flags, as far as lengths make sense.
std::vector<std::byte> with_right_digests(std::span<const std::byte> stream) {
    std::vector<std::byte> bytes(stream.begin(), stream.end());
    std::span<std::byte> rest(bytes);
    while (rest.size() >= sizeof(nvme::CommonHeader)) {
        const auto common = load<nvme::CommonHeader>(rest);
        const std::size_t plen = common.plen;
        const bool has_data = common.pdo != 0 && common.pdo < plen;
        const bool header = (common.flags & nvme::pdu_flag::kHeaderDigest) != 0;
        const bool data = (common.flags & nvme::pdu_flag::kDataDigest) != 0 && has_data;
        if (plen < sizeof common || plen > rest.size()) {
            break;
        }
        if (header && common.hlen + nvme::kDigestSize <= plen) {
            store_digest(rest.first(common.hlen), rest.data() + common.hlen);
        }
        if (data && common.pdo + nvme::kDigestSize <= plen) {
            const std::size_t end = plen - nvme::kDigestSize;
            store_digest(rest.subspan(common.pdo, end - common.pdo), rest.data() + end);
        }
        rest = rest.subspan(plen);
    }
    return bytes;
}

/// How fast our data left decides whether a success came too early, and whether an R2T is one too many.
bool depends_on_time(const Outcome& outcome) {
    return outcome.reason.find("more R2Ts outstanding") != std::string::npos;
}

bool same(const Outcome& a, const Outcome& b, std::size_t i) {
    return kCommands[i].transfer == nvme::Transfer::to_controller
               ? a.endings[i].lost == b.endings[i].lost
               : a.endings[i] == b.endings[i] && (a.endings[i].lost || a.buffers[i] == b.buffers[i]);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const auto flags = input.take<std::uint8_t>();
    nvme::PduOptions options;
    options.header_digest = (flags & 1) != 0;
    options.data_digest = (flags & 2) != 0;
    options.hpda = input.take<std::uint8_t>() % 32;
    options.max_r2t = 1 + input.take<std::uint8_t>() % 4;
    const auto cuts = input.take<std::uint8_t>();
    std::vector<std::byte> stream(input.rest().begin(), input.rest().end());
    if ((flags & 4) != 0) {
        stream = with_right_digests(stream);
    }
    if (nvme::is_plain_data(stream) || nvme::is_plain_response(stream)) {
        const auto verdict = nvme::check_pdu(stream, {});
        fuzz::require(verdict.fault == nullptr && verdict.head == sizeof(nvme::C2hData),
                      "what the short way takes, the long way takes");
    }
    Outcome whole;
    Outcome cut;
    play(stream, options, 0, whole);
    play(stream, options, std::max<std::uint8_t>(cuts, 1), cut);
    for (std::size_t i = 0; i < kCommands.size(); ++i) {
        fuzz::require(whole.endings[i].times == 1 && cut.endings[i].times == 1, "every command ends once");
    }
    if (depends_on_time(whole) || depends_on_time(cut)) {
        return 0;
    }
    fuzz::require(whole.reason == cut.reason, "the connection ends for the same reason, however it is cut");
    for (std::size_t i = 0; i < kCommands.size(); ++i) {
        fuzz::require(same(whole, cut, i), "a command ends the same way, however the stream is cut");
    }
    return 0;
}
