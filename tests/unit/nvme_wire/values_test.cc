// SPDX-License-Identifier: GPL-2.0-only
#include <libnvme.h>

#include <gtest/gtest.h>

#include "nvme/wire/command.h"
#include "nvme/wire/fabrics.h"
#include "nvme/wire/identify.h"
#include "nvme/wire/log_page.h"
#include "nvme/wire/registers.h"
#include "nvme/wire/status.h"

namespace mpath::nvme {
namespace {

struct NamedStatus {
    StatusCode ours;
    int theirs;
};

TEST(WireStatus, CodesAreThoseOfLibnvme) {
    const NamedStatus table[] = {
        {StatusCode::success, NVME_SC_SUCCESS},
        {StatusCode::invalid_opcode, NVME_SC_INVALID_OPCODE},
        {StatusCode::invalid_field, NVME_SC_INVALID_FIELD},
        {StatusCode::cid_conflict, NVME_SC_CMDID_CONFLICT},
        {StatusCode::data_transfer_error, NVME_SC_DATA_XFER_ERROR},
        {StatusCode::internal_error, NVME_SC_INTERNAL},
        {StatusCode::abort_requested, NVME_SC_ABORT_REQ},
        {StatusCode::aborted_sq_deletion, NVME_SC_ABORT_QUEUE},
        {StatusCode::invalid_namespace, NVME_SC_INVALID_NS},
        {StatusCode::command_sequence_error, NVME_SC_CMD_SEQ_ERROR},
        {StatusCode::invalid_sgl_count, NVME_SC_SGL_INVALID_COUNT},
        {StatusCode::data_sgl_length_invalid, NVME_SC_SGL_INVALID_DATA},
        {StatusCode::sgl_type_invalid, NVME_SC_SGL_INVALID_TYPE},
        {StatusCode::sgl_offset_invalid, NVME_SC_SGL_INVALID_OFFSET},
        {StatusCode::keep_alive_expired, NVME_SC_KAT_EXPIRED},
        {StatusCode::keep_alive_invalid, NVME_SC_KAT_INVALID},
        {StatusCode::command_interrupted, NVME_SC_CMD_INTERRUPTED},
        {StatusCode::transient_transport_error, NVME_SC_TRAN_TPORT_ERROR},
        {StatusCode::lba_out_of_range, NVME_SC_LBA_RANGE},
        {StatusCode::capacity_exceeded, NVME_SC_CAP_EXCEEDED},
        {StatusCode::namespace_not_ready, NVME_SC_NS_NOT_READY},
        {StatusCode::reservation_conflict, NVME_SC_RESERVATION_CONFLICT},
        {StatusCode::async_event_limit_exceeded, (NVME_SCT_CMD_SPECIFIC << 8) | NVME_SC_ASYNC_LIMIT},
        {StatusCode::invalid_log_page, (NVME_SCT_CMD_SPECIFIC << 8) | NVME_SC_INVALID_LOG_PAGE},
        {StatusCode::connect_incompatible_format, (NVME_SCT_CMD_SPECIFIC << 8) | NVME_SC_CONNECT_FORMAT},
        {StatusCode::connect_busy, (NVME_SCT_CMD_SPECIFIC << 8) | NVME_SC_CONNECT_CTRL_BUSY},
        {StatusCode::connect_invalid_parameters,
         (NVME_SCT_CMD_SPECIFIC << 8) | NVME_SC_CONNECT_INVALID_PARAM},
        {StatusCode::connect_restart_discovery, (NVME_SCT_CMD_SPECIFIC << 8) | NVME_SC_CONNECT_RESTART_DISC},
        {StatusCode::connect_invalid_host, (NVME_SCT_CMD_SPECIFIC << 8) | NVME_SC_CONNECT_INVALID_HOST},
        {StatusCode::authentication_required, (NVME_SCT_CMD_SPECIFIC << 8) | NVME_SC_AUTH_REQUIRED},
        {StatusCode::ana_persistent_loss, (NVME_SCT_PATH << 8) | NVME_SC_ANA_PERSISTENT_LOSS},
        {StatusCode::ana_inaccessible, (NVME_SCT_PATH << 8) | NVME_SC_ANA_INACCESSIBLE},
        {StatusCode::ana_transition, (NVME_SCT_PATH << 8) | NVME_SC_ANA_TRANSITION},
        {StatusCode::controller_pathing_error, (NVME_SCT_PATH << 8) | NVME_SC_CTRL_PATH_ERROR},
        {StatusCode::host_pathing_error, (NVME_SCT_PATH << 8) | NVME_SC_HOST_PATH_ERROR},
        {StatusCode::aborted_by_host, (NVME_SCT_PATH << 8) | NVME_SC_CMD_ABORTED_BY_HOST},
    };
    for (const auto& row : table) {
        EXPECT_EQ(static_cast<int>(row.ours), row.theirs) << nvme_status_to_string(row.theirs, false);
    }
}

TEST(WireStatus, TakesTheFieldApart) {
    // Phase 0, SC 02h, SCT 3, CRD 2, DNR: as it stands in a completion.
    const Status status = Status::from_cqe((0x4000 | (2 << 11) | (3 << 8) | 0x02) << 1);
    EXPECT_EQ(status.code(), StatusCode::ana_inaccessible);
    EXPECT_EQ(status.sct(), StatusCodeType::path);
    EXPECT_EQ(status.sc(), 0x02);
    EXPECT_EQ(status.crd(), 2U);
    EXPECT_TRUE(status.dnr());
    EXPECT_FALSE(status.more());
    EXPECT_FALSE(status.ok());
}

TEST(WireStatus, SurvivesTheWayThroughACompletion) {
    const Status status(StatusCode::connect_busy, true);
    EXPECT_EQ(Status::from_cqe(status.to_cqe()), status);
    EXPECT_TRUE(Status::from_cqe(Status().to_cqe()).ok());
}

TEST(WireValues, OpcodesAreThoseOfLibnvme) {
    EXPECT_EQ(admin_opcode::kGetLogPage, nvme_admin_get_log_page);
    EXPECT_EQ(admin_opcode::kIdentify, nvme_admin_identify);
    EXPECT_EQ(admin_opcode::kAbort, nvme_admin_abort_cmd);
    EXPECT_EQ(admin_opcode::kSetFeatures, nvme_admin_set_features);
    EXPECT_EQ(admin_opcode::kGetFeatures, nvme_admin_get_features);
    EXPECT_EQ(admin_opcode::kAsyncEventRequest, nvme_admin_async_event);
    EXPECT_EQ(admin_opcode::kKeepAlive, nvme_admin_keep_alive);
    EXPECT_EQ(kFabricsOpcode, nvme_admin_fabrics);
    EXPECT_EQ(io_opcode::kFlush, nvme_cmd_flush);
    EXPECT_EQ(io_opcode::kWrite, nvme_cmd_write);
    EXPECT_EQ(io_opcode::kRead, nvme_cmd_read);
    EXPECT_EQ(io_opcode::kWriteZeroes, nvme_cmd_write_zeroes);
    EXPECT_EQ(io_opcode::kDatasetManagement, nvme_cmd_dsm);
    EXPECT_EQ(static_cast<int>(FabricsType::connect), nvme_fabrics_type_connect);
    EXPECT_EQ(static_cast<int>(FabricsType::property_get), nvme_fabrics_type_property_get);
    EXPECT_EQ(static_cast<int>(FabricsType::property_set), nvme_fabrics_type_property_set);
    EXPECT_EQ(static_cast<int>(FabricsType::disconnect), nvme_fabrics_type_disconnect);
}

TEST(WireValues, RegistersAndPagesAreThoseOfLibnvme) {
    EXPECT_EQ(property::kCap, NVME_REG_CAP);
    EXPECT_EQ(property::kVs, NVME_REG_VS);
    EXPECT_EQ(property::kCc, NVME_REG_CC);
    EXPECT_EQ(property::kCsts, NVME_REG_CSTS);
    EXPECT_EQ(NVME_CC_IOSQES(cc::kIosqes64), 6U);
    EXPECT_EQ(NVME_CC_IOCQES(cc::kIocqes16), 4U);
    EXPECT_EQ(NVME_CC_SHN(cc::kShutdownNormal), NVME_CC_SHN_NORMAL);
    EXPECT_EQ(NVME_CC_SHN(cc::kShutdownAbrupt), NVME_CC_SHN_ABRUPT);
    EXPECT_EQ(NVME_CSTS_SHST(csts::kShutdownComplete), NVME_CSTS_SHST_CMPLT);
    EXPECT_EQ(NVME_CSTS_SHST(csts::kShutdownProcessing), NVME_CSTS_SHST_OCCUR);
    EXPECT_EQ(log_page::kAna, NVME_LOG_LID_ANA);
    EXPECT_EQ(log_page::kDiscovery, NVME_LOG_LID_DISCOVER);
    EXPECT_EQ(log_page::kSmart, NVME_LOG_LID_SMART);
    EXPECT_EQ(feature::kNumberOfQueues, NVME_FEAT_FID_NUM_QUEUES);
    EXPECT_EQ(feature::kAsyncEventConfiguration, NVME_FEAT_FID_ASYNC_EVENT);
    EXPECT_EQ(feature::kKeepAliveTimer, NVME_FEAT_FID_KATO);
    EXPECT_EQ(cns::kController, NVME_IDENTIFY_CNS_CTRL);
    EXPECT_EQ(cns::kNamespace, NVME_IDENTIFY_CNS_NS);
    EXPECT_EQ(cns::kActiveNamespaces, NVME_IDENTIFY_CNS_NS_ACTIVE_LIST);
    EXPECT_EQ(cns::kNamespaceDescriptors, NVME_IDENTIFY_CNS_NS_DESC_LIST);
    EXPECT_EQ(static_cast<int>(AnaState::non_optimized), NVME_ANA_STATE_NONOPTIMIZED);
    EXPECT_EQ(static_cast<int>(AnaState::change), NVME_ANA_STATE_CHANGE);
}

TEST(WireValues, CapabilitiesAreReadAsLibnvmeReadsThem) {
    const Capabilities cap{0x0012'0020'3c01'007fULL};
    EXPECT_EQ(cap.mqes(), NVME_CAP_MQES(cap.value));
    EXPECT_EQ(cap.to(), NVME_CAP_TO(cap.value));
    EXPECT_TRUE(cap.css_nvm());
    EXPECT_EQ(cap.min_page_size(), 1ULL << (12 + NVME_CAP_MPSMIN(cap.value)));
}

TEST(WireValues, AsyncEventNamesItsPage) {
    const AsyncEvent event{AsyncEvent::kAnaChanged};
    EXPECT_EQ(event.type(), NVME_AER_NOTICE);
    EXPECT_EQ(event.info(), NVME_AER_NOTICE_ANA);
    EXPECT_EQ(event.page(), log_page::kAna);
}

TEST(WireValues, FormatInUseSkipsTheBitBetween) {
    IdentifyNamespace ns;
    ns.flbas = 0x3f; // index 0x1f, and bit 4: metadata at the end of the data
    EXPECT_EQ(ns.format_in_use(), 0x1fU);
}

} // namespace
} // namespace mpath::nvme
