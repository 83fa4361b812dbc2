// SPDX-License-Identifier: GPL-2.0-only
// What a target says in a login: a byte of options, a byte of cuts, then its bytes.
#include "iscsi/login.h"
#include "iscsi/negotiation.h"
#include "net/async.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/scripted_reactor.h"

using namespace mpath;

namespace {

iscsi::LoginRequestOptions options_of(std::uint8_t bits) {
    iscsi::LoginRequestOptions options;
    options.type = (bits & 16) != 0 ? iscsi::SessionType::discovery : iscsi::SessionType::normal;
    options.initiator_name = "iqn.2025-01.org.example:host";
    options.target_name = "iqn.2025-01.org.example:disk";
    options.isid = {0x80, 1, 2, 3, 0, 7};
    options.header_digest = (bits & 1) != 0;
    options.data_digest = (bits & 2) != 0;
    if ((bits & 4) != 0) {
        // With a character that no sentence may have: so none may have them.
        options.chap = {"me", "geheim\x01", (bits & 8) != 0 ? "auch geheim\x01" : ""};
    }
    return options;
}

void check_session(const iscsi::LoggedIn& session, const iscsi::LoginRequestOptions& asked) {
    const bool normal = asked.type == iscsi::SessionType::normal;
    const iscsi::SessionParameters& agreed = session.parameters;
    fuzz::require(session.tsih != 0, "a session has a handle");
    fuzz::require(agreed.header_digest == (normal && asked.header_digest), "the header digest is as asked");
    fuzz::require(agreed.data_digest == (normal && asked.data_digest), "the data digest is as asked");
    fuzz::require(agreed.max_send_data >= 512, "a PDU can carry data");
    fuzz::require(agreed.max_burst >= 512 && agreed.max_burst <= iscsi::kOfferedBurst, "bursts are possible");
    fuzz::require(agreed.first_burst >= 512 && agreed.first_burst <= agreed.max_burst,
                  "the first burst is possible");
    fuzz::require(agreed.max_outstanding_r2t >= 1 && agreed.max_outstanding_r2t <= asked.max_outstanding_r2t,
                  "no more R2Ts than offered");
    fuzz::require(!normal || !asked.chap || asked.chap->target_secret.empty(),
                  "nobody proves to know a secret that is none of the input");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const iscsi::LoginRequestOptions options = options_of(input.take<std::uint8_t>());
    const auto cuts = input.take<std::uint8_t>();
    const fuzz::StillClock clock;
    fuzz::ScriptedReactor reactor(clock, input.rest(), cuts);
    static const auto address = net::resolve("127.0.0.1", 3260).value();
    const auto session =
        net::run_until_done(reactor, iscsi::log_in(reactor, address, options, clock.now() + kSecond));
    fuzz::require(reactor.idle(), "nothing is under way at the end");
    if (session) {
        check_session(*session, options);
        return 0;
    }
    const std::string& sentence = session.error().text;
    fuzz::require(!sentence.empty(), "what is refused is refused by a sentence");
    const bool harmless = std::all_of(sentence.begin(), sentence.end(), [](char c) {
        return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f;
    });
    fuzz::require(harmless, "no sentence controls a terminal, or has a secret");
    return 0;
}
