// SPDX-License-Identifier: GPL-2.0-only
// Every way a target can refuse Connect, and the sentence that says what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/nvme/queue_connect_fixture.h"

namespace mpath::nvme::test {
namespace {

using testing::HasSubstr;

struct RefusedConnect {
    const char* name;
    ConnectRequest (*request)();
    StatusCode status;
    std::uint32_t dw0;
    int code;
    const char* sentence;
};

constexpr std::uint32_t in_data(std::size_t offset) {
    return kConnectInvalidInData | static_cast<std::uint32_t>(offset);
}
constexpr std::uint32_t in_command(std::size_t offset) {
    return static_cast<std::uint32_t>(offset);
}

class QueueConnectRefused : public QueueConnect, public testing::WithParamInterface<RefusedConnect> {};

TEST_P(QueueConnectRefused, says_what_to_do) {
    const RefusedConnect& row = GetParam();
    const auto queue =
        connect(row.request(), answering_connect(connect_resp(Status(row.status, true), row.dw0)));
    ASSERT_FALSE(queue);
    EXPECT_EQ(queue.error().code, row.code);
    EXPECT_THAT(queue.error().text, HasSubstr(row.sentence));
    // All of them say Do Not Retry; what passes by its nature is worth another attempt nevertheless.
    EXPECT_EQ(queue.error().final, row.code != EBUSY && row.code != ENOTCONN);
}

TEST_F(QueueConnect, a_refusal_without_do_not_retry_is_not_final) {
    const Error error = refused(answering_connect(connect_resp(Status(StatusCode::connect_invalid_host), 0)));
    EXPECT_EQ(error.code, EACCES);
    EXPECT_FALSE(error.final);
}

using S = StatusCode;
INSTANTIATE_TEST_SUITE_P(
    Status, QueueConnectRefused,
    testing::Values(
        RefusedConnect{"wrong_nqn", admin_request, S::connect_invalid_parameters,
                       in_data(offsetof(ConnectData, subnqn)), ENODEV,
                       "no subsystem nqn.2014-08.org.example:vol1 here: check the NQN"},
        RefusedConnect{"host_nqn", admin_request, S::connect_invalid_parameters,
                       in_data(offsetof(ConnectData, hostnqn)), EACCES, "check hostnqn"},
        RefusedConnect{"host_id", admin_request, S::connect_invalid_parameters,
                       in_data(offsetof(ConnectData, hostid)), EACCES, "check hostid"},
        RefusedConnect{"static_controllers_only", admin_request, S::connect_invalid_parameters,
                       in_data(offsetof(ConnectData, cntlid)), EINVAL, "dynamically"},
        RefusedConnect{"association_gone", io_request, S::connect_invalid_parameters,
                       in_data(offsetof(ConnectData, cntlid)), ENOTCONN, "no longer knows controller 7"},
        RefusedConnect{"queue_size", io_request, S::connect_invalid_parameters,
                       in_command(offsetof(ConnectCommand, sqsize)), EINVAL,
                       "a queue of 128 entries: choose another queue_size"},
        RefusedConnect{"queue_id", io_request, S::connect_invalid_parameters,
                       in_command(offsetof(ConnectCommand, qid)), EINVAL, "queue 3: lower nr_io_queues"},
        RefusedConnect{"keep_alive", admin_request, S::connect_invalid_parameters,
                       in_command(offsetof(ConnectCommand, kato)), EINVAL,
                       "5000 ms: choose another keep_alive_tmo"},
        RefusedConnect{"flow_control", admin_request, S::connect_invalid_parameters,
                       in_command(offsetof(ConnectCommand, cattr)), ENOTSUP, "flow control"},
        RefusedConnect{"unknown_parameter", admin_request, S::connect_invalid_parameters, in_data(1000),
                       EINVAL, "for byte 1000 of its data"},
        RefusedConnect{
            "invalid_host", admin_request, S::connect_invalid_host, 0, EACCES,
            "does not let host nqn.2014-08.org.nvmexpress:uuid:1b4e28ba-2fa1-11d2-883f-0016d3cca427 in"},
        RefusedConnect{"out_of_controllers", admin_request, S::connect_busy, 0, EBUSY,
                       "the target is out of controllers"},
        RefusedConnect{"out_of_queues", io_request, S::connect_busy, 0, EBUSY, "lower nr_io_queues"},
        RefusedConnect{"authentication", admin_request, S::authentication_required, 0, EACCES,
                       "demands authentication"},
        RefusedConnect{"format", admin_request, S::connect_incompatible_format, 0, ENOTSUP, "format"},
        RefusedConnect{"restart_discovery", admin_request, S::connect_restart_discovery, 0, EAGAIN,
                       "discovered anew"},
        RefusedConnect{"queue_type", io_request, S::invalid_queue_type, 0, EINVAL, "refuses queue 3"},
        RefusedConnect{"other", admin_request, S::internal_error, 0, EIO,
                       "with status 006h (Internal Error"}),
    [](const auto& row) { return row.param.name; });

struct Demand {
    const char* name;
    std::uint32_t bit;
};

class QueueConnectDemand : public QueueConnect, public testing::WithParamInterface<Demand> {};

/// The controller accepts, and says in the completion that nothing else will work before authentication.
TEST_P(QueueConnectDemand, is_refused_although_connect_succeeded) {
    const Error error = refused(answering_connect(connect_resp(Status(), 1 | GetParam().bit)));
    EXPECT_EQ(error.code, EACCES);
    EXPECT_THAT(error.text, HasSubstr("demands authentication"));
}

INSTANTIATE_TEST_SUITE_P(Bits, QueueConnectDemand,
                         testing::Values(Demand{"authentication", kConnectAuthRequired},
                                         Demand{"secure_concatenation", kConnectSecureConcatRequired}),
                         [](const auto& row) { return row.param.name; });

TEST_F(QueueConnect, a_completion_of_another_command_is_refused) {
    CapsuleResp answer = connect_resp(Status(), 1);
    answer.cqe.cid = 5;
    const Error error = refused(answering_connect(answer));
    EXPECT_EQ(error.code, EPROTO);
    EXPECT_THAT(error.text, HasSubstr("command ID 5"));
}

} // namespace
} // namespace mpath::nvme::test
