// SPDX-License-Identifier: GPL-2.0-only
#include "multipath/failure.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "tests/unit/multipath/fake_path.h"
#include "tests/unit/multipath/heard_retries.h"

namespace mpath::multipath::test {
namespace {

struct ClassCase {
    ErrorClass error;
    int code;
    bool path_related;
};

TEST(Failure, maps_every_class_to_an_errno_and_says_whether_another_path_may_help) {
    const ClassCase cases[] = {
        {ErrorClass::none, 0, false},
        {ErrorClass::path_error, ENOLINK, true},
        {ErrorClass::ana_loss, ENOLINK, true},
        {ErrorClass::ana_inaccessible, ENOLINK, true},
        {ErrorClass::ana_transition, ENOLINK, true},
        {ErrorClass::path_error_dnr, ENOLINK, false},
        {ErrorClass::state_changed, EIO, false},
        {ErrorClass::unit_attention, EIO, false},
        {ErrorClass::transport_error, EIO, false},
        {ErrorClass::busy, EBUSY, false},
        {ErrorClass::aborted, ENOLINK, true},
        {ErrorClass::path_down, ENOLINK, true},
        {ErrorClass::io_error, EIO, false},
        {ErrorClass::no_path, EIO, false},
    };
    for (const ClassCase& row : cases) {
        EXPECT_EQ(errno_of(row.error), row.code) << to_string(row.error);
        EXPECT_EQ(is_path_related(row.error), row.path_related) << to_string(row.error);
    }
}

class FailureText : public testing::Test {
protected:
    FailureText() : set(make_io_policy("numa", {}).value(), heard) {
        set.add("fast", a);
        set.add("slow", b);
        request.operation = Operation::write;
        request.offset = 8192;
        request.length = 4096;
    }

    FakePath a;
    FakePath b;
    HeardRetries heard;
    PathSet set;
    Request request;
};

TEST_F(FailureText, names_operation_place_path_reason_and_status) {
    set.submit(request);
    request.error_class = ErrorClass::ana_inaccessible;
    request.protocol_status = 0x0302;
    EXPECT_EQ(describe_failure(request, set),
              "write of 4096 bytes at offset 8192 on path fast: the path's group "
              "is inaccessible, status 302h");
}

TEST_F(FailureText, leaves_out_a_status_there_was_none_of) {
    set.submit(request);
    request.operation = Operation::flush;
    request.error_class = ErrorClass::path_down;
    EXPECT_EQ(describe_failure(request, set),
              "flush on path fast: the connection was lost before the answer came");
}

TEST_F(FailureText, tells_the_state_of_every_path_when_none_was_usable) {
    a.become('x');
    b.become('I');
    set.submit(request);
    EXPECT_EQ(describe_failure(request, set),
              "write of 4096 bytes at offset 8192: no usable path in this job's "
              "set (fast not connected, slow inaccessible)");
}

} // namespace
} // namespace mpath::multipath::test
