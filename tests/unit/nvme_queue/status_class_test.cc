// SPDX-License-Identifier: GPL-2.0-only
// What a status says about the path it came by; the table of docs/architecture.md, row by row.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "nvme/status_class.h"

namespace mpath::nvme {
namespace {

struct Row {
    std::uint16_t status; ///< without phase: DNR 4000h, More 2000h, CRD 1800h, SCT 700h, SC ffh
    ErrorClass expected;
};

class StatusClass : public testing::TestWithParam<Row> {};

TEST_P(StatusClass, IsAsInTheTable) {
    EXPECT_EQ(to_string(classify(Status(GetParam().status))), to_string(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, StatusClass,
    testing::Values(Row{0x0000, ErrorClass::none}, Row{0x2000, ErrorClass::none},
                    Row{0x4000, ErrorClass::none}, // Do Not Retry means nothing on a success
                    Row{0x0300, ErrorClass::path_error}, Row{0x0360, ErrorClass::path_error},
                    Row{0x0370, ErrorClass::path_error}, Row{0x0371, ErrorClass::path_error},
                    Row{0x03ff, ErrorClass::path_error}, Row{0x0301, ErrorClass::ana_loss},
                    Row{0x0302, ErrorClass::ana_inaccessible}, Row{0x0303, ErrorClass::ana_transition},
                    Row{0x2303, ErrorClass::ana_transition}, Row{0x4300, ErrorClass::path_error_dnr},
                    Row{0x4302, ErrorClass::path_error_dnr}, Row{0x0004, ErrorClass::transport_error},
                    Row{0x0022, ErrorClass::transport_error}, Row{0x0021, ErrorClass::busy},
                    Row{0x0082, ErrorClass::busy}, Row{0x0806, ErrorClass::busy}, // a retry delay
                    Row{0x1880, ErrorClass::busy}, Row{0x4806, ErrorClass::io_error},
                    Row{0x0007, ErrorClass::aborted}, Row{0x0008, ErrorClass::aborted},
                    Row{0x0001, ErrorClass::io_error}, Row{0x0002, ErrorClass::io_error},
                    Row{0x0080, ErrorClass::io_error}, Row{0x0083, ErrorClass::io_error},
                    Row{0x4080, ErrorClass::io_error}, Row{0x0104, ErrorClass::io_error},
                    Row{0x0281, ErrorClass::io_error}, Row{0x0701, ErrorClass::io_error}),
    [](const auto& row) { return fmt::format("Status{:04x}", row.param.status); });

} // namespace
} // namespace mpath::nvme
