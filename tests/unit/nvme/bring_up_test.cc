// SPDX-License-Identifier: GPL-2.0-only
// Bringing a controller up: what is asked of it, what is learnt, and what is refused with which sentence.
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/nvme/controller_fixture.h"

namespace mpath::nvme::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Data = FakeController::Data;

using BringUp = ControllerTest;

TEST_F(BringUp, enables_the_controller_with_the_entry_sizes_of_the_standard) {
    FakeController fake({});
    auto controller = connect(fake);
    ASSERT_TRUE(controller) << controller.error().text;
    EXPECT_EQ(fake.last_cc(), cc::kEnable | cc::kIosqes64 | cc::kIocqes16);
    close(**controller);
}

TEST_F(BringUp, learns_what_the_record_has_to_say) {
    Data data;
    data.controller.mdts = 5;
    data.controller.oncs = oncs::kDatasetManagement;
    data.controller.vwc = kVwcPresent;
    data.name_space.eui64 = {1, 2, 3, 4, 5, 6, 7, 8};
    data.ana_log = ana_log_bytes(3, {{1, 1, {}}, {2, 2, {1}}});
    FakeController fake(data);
    auto controller = connect(fake);
    ASSERT_TRUE(controller) << controller.error().text;
    const ControllerFacts& facts = (*controller)->facts();
    EXPECT_EQ(facts.address, fake.address().text());
    EXPECT_THAT(facts.local_address, StartsWith("127.0.0.1:"));
    EXPECT_EQ(facts.subsystem_nqn, subnqn_);
    EXPECT_EQ(facts.nsid, 1U);
    EXPECT_EQ(facts.controller_id, 1);
    EXPECT_EQ(facts.version, make_version(1, 4, 0));
    EXPECT_EQ(facts.model.model, "Example");
    EXPECT_EQ(facts.identity.text(), "eui64 0102030405060708");
    EXPECT_EQ(facts.limits.size, 2048U * 512U);
    EXPECT_EQ(facts.limits.max_transfer, 32U * 4096U);
    EXPECT_TRUE(facts.limits.can_trim);
    EXPECT_TRUE(facts.limits.can_flush);
    EXPECT_TRUE(facts.reports_state);
    EXPECT_EQ(facts.group, 2U);
    EXPECT_EQ(facts.state, PathState::non_optimized);
    EXPECT_EQ((*controller)->path_state(), PathState::non_optimized);
    EXPECT_EQ(facts.events, async_event::kAnaChange | async_event::kNamespaceAttribute);
    EXPECT_EQ(facts.in_capsule, 8192U);
    EXPECT_EQ(facts.max_h2c_data, 131072U);
    EXPECT_EQ(facts.keep_alive_ms, 5000U);
    EXPECT_EQ((*controller)->state(), ControllerState::live);
    close(**controller);
}

TEST_F(BringUp, a_path_without_ana_is_optimized) {
    Data data;
    data.controller.cmic = 0;
    data.controller.oaes = 0;
    FakeController fake(data);
    auto controller = connect(fake);
    ASSERT_TRUE(controller) << controller.error().text;
    EXPECT_FALSE((*controller)->facts().reports_state);
    EXPECT_EQ((*controller)->facts().state, PathState::optimized);
    EXPECT_EQ((*controller)->facts().group, 0U);
    EXPECT_EQ(fake.received(admin_opcode::kGetLogPage), 0U);
    close(**controller);
}

TEST_F(BringUp, goes_through_its_states_in_order) {
    FakeController fake({});
    auto controller = connect(fake);
    ASSERT_TRUE(controller) << controller.error().text;
    EXPECT_EQ(shutdown(**controller), 0);
    std::vector<std::string_view> states;
    for (const Controller::Transition& transition : (*controller)->transitions()) {
        states.push_back(to_string(transition.state));
    }
    EXPECT_THAT(states, testing::ElementsAre("connecting", "enabling", "identifying", "live", "shutting down",
                                             "closed"));
}

// ---- queue counts and sizes

struct Negotiation {
    const char* name;
    std::uint16_t asked_queues;
    std::uint32_t allotted; ///< as Set Features answers
    std::uint16_t asked_size;
    std::uint16_t mqes;
    std::uint16_t maxcmd;
    std::uint16_t queues;
    std::uint16_t size;
};

class BringUpNegotiation : public BringUp, public testing::WithParamInterface<Negotiation> {};

TEST_P(BringUpNegotiation, takes_the_least) {
    const Negotiation& row = GetParam();
    options_.io_queues = row.asked_queues;
    options_.queue_size = row.asked_size;
    Data data;
    data.queues = row.allotted;
    data.cap = (data.cap & ~0xffffULL) | row.mqes;
    data.controller.maxcmd = row.maxcmd;
    FakeController fake(data);
    auto controller = connect(fake);
    ASSERT_TRUE(controller) << controller.error().text;
    EXPECT_EQ((*controller)->facts().io_queues_asked, row.asked_queues);
    EXPECT_EQ((*controller)->facts().io_queues, row.queues);
    EXPECT_EQ((*controller)->facts().queue_size, row.size);
    close(**controller);
}

INSTANTIATE_TEST_SUITE_P(Rows, BringUpNegotiation,
                         testing::Values(Negotiation{"as_asked", 4, 0x003f003f, 128, 1023, 0, 4, 128},
                                         Negotiation{"fewer_queues", 8, 0x00010001, 128, 1023, 0, 2, 128},
                                         Negotiation{"fewer_completion_queues", 8, 0x0002003f, 128, 1023, 0,
                                                     3, 128},
                                         Negotiation{"mqes", 4, 0x003f003f, 128, 31, 0, 4, 32},
                                         Negotiation{"maxcmd", 4, 0x003f003f, 128, 1023, 64, 4, 64},
                                         Negotiation{"one_command", 1, 0x003f003f, 128, 1023, 1, 1, 2},
                                         Negotiation{"mqes_of_all_ones", 1, 0, 1024, 0xffff, 0, 1, 1024}),
                         [](const auto& row) { return row.param.name; });

// ---- refusals

struct Refusal {
    const char* name;
    void (*spoil)(Data&);
    int code;
    const char* sentence;
};

class BringUpRefused : public BringUp, public testing::WithParamInterface<Refusal> {};

TEST_P(BringUpRefused, by_a_sentence_that_names_the_peer) {
    Data data;
    GetParam().spoil(data);
    const Error error = refused(data);
    EXPECT_EQ(error.code, GetParam().code);
    EXPECT_THAT(error.text, HasSubstr(GetParam().sentence));
    EXPECT_THAT(error.text, StartsWith("127.0.0.1:"));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BringUpRefused,
    testing::Values(
        Refusal{"fatal_status", [](Data& d) { d.fatal = true; }, EIO,
                "reports a fatal error (CSTS 00000003h)"},
        Refusal{"never_ready", [](Data& d) { d.ready = false; }, ETIMEDOUT, "does not become ready in time"},
        Refusal{"no_nvm_commands", [](Data& d) { d.cap &= ~Capabilities::kCssNvm; }, ENOTSUP,
                "does not support the NVM command set"},
        Refusal{"queues_of_one_entry", [](Data& d) { d.cap &= ~0xffffULL; }, EPROTO, "CAP.MQES 0"},
        Refusal{"discovery_controller", [](Data& d) { d.controller.controller_type = 2; }, ENOTSUP,
                "discovery controller"},
        Refusal{"no_keep_alive", [](Data& d) { d.controller.kas = 0; }, ENOTSUP,
                "does not support keep-alive"},
        Refusal{"missing_namespace",
                [](Data& d) {
                    d.nsids = {2, 5};
                },
                ENODEV, "shows this host no namespace 1; there are: 2, 5"},
        Refusal{"no_namespace_at_all", [](Data& d) { d.nsids = {}; }, ENODEV, "there are: none"},
        Refusal{"metadata", [](Data& d) { d.name_space.lbaf[0].metadata_size = 8; }, EMEDIUMTYPE,
                "8 bytes of metadata"},
        Refusal{"ana_log_garbage",
                [](Data& d) {
                    d.ana_log = ana_log_bytes(1, {{1, 7, {1}}});
                },
                EPROTO, "the ANA log is refused: group 1 has state 7h"},
        Refusal{"ana_log_without_our_group",
                [](Data& d) {
                    d.ana_log = ana_log_bytes(1, {{9, 1, {5}}});
                },
                EPROTO, "does not say to which group namespace 1 belongs"},
        Refusal{"identify_refused",
                [](Data& d) { d.refused[admin_opcode::kIdentify] = Status(StatusCode::internal_error); }, EIO,
                "the controller refuses Identify Controller with status 006h"},
        Refusal{
            "queues_refused",
            [](Data& d) { d.refused[admin_opcode::kSetFeatures] = Status(StatusCode::invalid_field, true); },
            EIO, "the controller refuses Set Features (Number of Queues) with status 002h"}),
    [](const auto& row) { return row.param.name; });

TEST_F(BringUp, a_refusal_is_final_when_the_controller_says_so) {
    for (const bool do_not_retry : {false, true}) {
        Data data;
        data.refused[admin_opcode::kGetLogPage] = Status(StatusCode::internal_error, do_not_retry);
        const Error error = refused(data);
        EXPECT_THAT(error.text, HasSubstr("the controller refuses Get Log Page (ANA) with status 006h"));
        EXPECT_EQ(error.final, do_not_retry);
    }
}

TEST_F(BringUp, can_be_given_up_at_any_time) {
    Data data;
    data.silent = {admin_opcode::kIdentify};
    FakeController fake(data);
    auto uri = parse_uri("nvme+tcp://" + fake.address().text() + "/" + subnqn_ + "/1");
    net::Cancellation cancellation;
    std::optional<Connected> result;
    net::spawn<Connected>(Controller::connect_to(*reactor_, *uri, {fake.address()}, options_, &cancellation),
                          [&result](Connected connected) { result.emplace(std::move(connected)); });
    ASSERT_TRUE(run_until([&] { return fake.received(admin_opcode::kIdentify) == 1; }));
    cancellation.request();
    ASSERT_TRUE(run_until([&] { return result.has_value(); }));
    ASSERT_FALSE(*result);
    EXPECT_EQ(result->error().code, ECANCELED);
    EXPECT_THAT(result->error().text, HasSubstr("given up"));
}

TEST_F(BringUp, a_command_without_an_answer_ends_at_the_deadline) {
    options_.connect_timeout = 300 * kMillisecond;
    Data data;
    data.silent = {admin_opcode::kIdentify};
    const Error error = refused(data);
    EXPECT_EQ(error.code, ETIMEDOUT);
    EXPECT_THAT(error.text, HasSubstr("no answer to Identify Controller within"));
}

TEST_F(BringUp, works_without_keep_alive_when_that_is_asked_for) {
    options_.keep_alive_ms = 0;
    Data data;
    data.controller.kas = 0;
    FakeController fake(data);
    auto controller = connect(fake);
    ASSERT_TRUE(controller) << controller.error().text;
    close(**controller);
}

// ---- ANA logs of several pieces

TEST_F(BringUp, an_ana_log_beyond_mdts_is_read_in_pieces) {
    std::vector<std::uint32_t> nsids(3000);
    for (std::uint32_t i = 0; i < nsids.size(); ++i) {
        nsids[i] = i + 10;
    }
    Data data;
    data.controller.mdts = 0;
    data.controller.mdts = 1; // 8 KiB
    data.controller.nn = 4096;
    data.ana_log = ana_log_bytes(9, {{1, 1, nsids}, {2, 3, {1}}});
    FakeController fake(data);
    auto controller = connect(fake);
    ASSERT_TRUE(controller) << controller.error().text;
    EXPECT_EQ((*controller)->facts().state, PathState::inaccessible);
    for (const Sqe& sqe : fake.commands()) {
        EXPECT_LE(sqe.sgl.length, 8192U);
    }
    close(**controller);
}

/// The log changes after its first piece was read: what is taken must not be torn.
TEST_F(BringUp, an_ana_log_that_changes_between_pieces_is_read_again) {
    std::vector<std::uint32_t> nsids(3000);
    for (std::uint32_t i = 0; i < nsids.size(); ++i) {
        nsids[i] = i + 10;
    }
    int reads = 0;
    Data data;
    data.controller.mdts = 1;
    data.controller.nn = 4096;
    data.next_ana_log = [&reads, nsids] {
        return ++reads == 1 ? ana_log_bytes(1, {{1, 1, nsids}, {2, 1, {1}}})
                            : ana_log_bytes(2, {{1, 1, nsids}, {2, 2, {1}}});
    };
    FakeController fake(data);
    auto controller = connect(fake);
    ASSERT_TRUE(controller) << controller.error().text;
    EXPECT_EQ((*controller)->facts().state, PathState::non_optimized);
    EXPECT_EQ((*controller)->statistics().ana_logs_read, 1U);
    close(**controller);
}

TEST_F(BringUp, an_ana_log_that_never_stands_still_is_given_up) {
    std::vector<std::uint32_t> nsids(3000, 7);
    std::uint64_t count = 0;
    Data data;
    data.controller.mdts = 1;
    data.controller.nn = 4096;
    data.next_ana_log = [&count, nsids] { return ana_log_bytes(++count, {{1, 1, nsids}, {2, 1, {1}}}); };
    const Error error = refused(data);
    EXPECT_EQ(error.code, EAGAIN);
    EXPECT_THAT(error.text, HasSubstr("the ANA log changed each of the 8 times it was read"));
}

} // namespace
} // namespace mpath::nvme::test
