// SPDX-License-Identifier: GPL-2.0-only
// A target that lies, in every field that it can: the connection ends with a sentence that names the lie, and
// every command ends once.
#include <functional>
#include <string>

#include "tests/unit/iscsi_session/session_fixture.h"

namespace mpath::iscsi::test {
namespace {

/// The commands that are outstanding.
struct Tags {
    std::uint32_t read;
    std::uint32_t write;
    std::uint32_t flush;
};

struct Lie {
    const char* name;
    const char* text;
    std::function<Bytes(ScriptedTarget&, const Tags&)> pdu;
};

constexpr std::uint32_t kBuffer = 8192; ///< of read and write
constexpr std::uint32_t kSegment = 4096;
constexpr std::uint32_t kBurst = 6144;

/// Data-In with everything in order, to be changed.
DataIn good_data_in(const Tags& tags) {
    DataIn pdu;
    pdu.task_tag = tags.read;
    pdu.target_tag = kNoTag;
    return pdu;
}

R2t good_r2t(const Tags& tags) {
    R2t pdu;
    pdu.task_tag = tags.write;
    pdu.target_tag = 1;
    pdu.desired_length = 512;
    return pdu;
}

template <typename T>
Bytes with_tag(ScriptedTarget& target, std::uint32_t tag, bool takes_number = true) {
    T pdu;
    pdu.task_tag = tag;
    return target.wire(pdu, {}, takes_number);
}

template <typename T, typename Change>
Bytes changed(ScriptedTarget& target, T pdu, Change change, const Bytes& data = {}) {
    change(pdu);
    return target.wire(pdu, data);
}

const std::vector<Lie> kLies = {
    {"AdditionalHeader", "an additional header segment",
     [](auto& target, auto& tags) {
         return changed(target, good_data_in(tags), [](auto& pdu) { pdu.ahs_length = 1; });
     }},
    {"SegmentTooLong", "a data segment of more than MaxRecvDataSegmentLength",
     [](auto& target, auto& tags) { return target.wire(good_data_in(tags), Bytes(kSegment + 1)); }},
    {"SegmentOfTheLargestSize", "a data segment of more than MaxRecvDataSegmentLength",
     [](auto&, auto& tags) {
         ScsiResponse pdu;
         pdu.task_tag = tags.flush;
         pdu.data_length = 0xffffff;
         return bytes_of(pdu);
     }},
    {"UnknownKind", "a PDU of a kind that nobody asked for",
     [](auto& target, auto&) { return changed(target, NopIn{}, [](auto& pdu) { pdu.opcode = 0x3e; }); }},
    {"RequestOfAnInitiator", "a PDU of a kind that nobody asked for",
     [](auto& target, auto&) { return changed(target, NopIn{}, [](auto& pdu) { pdu.opcode = 0x01; }); }},
    {"LoginResponse", "a PDU of a kind that nobody asked for",
     [](auto& target, auto&) { return changed(target, NopIn{}, [](auto& pdu) { pdu.opcode = 0x23; }); }},
    {"TextResponse", "a PDU of a kind that nobody asked for",
     [](auto& target, auto&) { return changed(target, NopIn{}, [](auto& pdu) { pdu.opcode = 0x24; }); }},

    {"DataForNobody", "Data-In for a command that is not outstanding",
     [](auto& target, auto&) { return target.data_in(3, 0, pattern(512), kFinal); }},
    {"DataForATagBeyondAllSlots", "Data-In for a command that is not outstanding",
     [](auto& target, auto&) { return target.data_in(0xfff, 0, pattern(512), kFinal); }},
    {"DataForNoTag", "Data-In for a command that is not outstanding",
     [](auto& target, auto&) { return target.data_in(kNoTag, 0, pattern(512), kFinal); }},
    {"DataForAnotherGeneration", "Data-In for a command that is not outstanding",
     [](auto& target, auto& tags) { return target.data_in(tags.read + 0x1000, 0, pattern(512), kFinal); }},
    {"DataForAWrite", "Data-In for a command that reads nothing",
     [](auto& target, auto& tags) { return target.data_in(tags.write, 0, pattern(512), kFinal); }},
    {"DataForAFlush", "Data-In for a command that reads nothing",
     [](auto& target, auto& tags) { return target.data_in(tags.flush, 0, pattern(512), kFinal); }},
    {"DataNumberWrong", "a DataSN out of sequence",
     [](auto& target, auto& tags) {
         return changed(
             target, good_data_in(tags), [](auto& pdu) { pdu.data_sn = 1; }, pattern(512));
     }},
    {"DataNumberRepeated", "a DataSN out of sequence",
     [](auto& target, auto& tags) {
         const Bytes first = target.data_in(tags.read, 0, pattern(512), 0);
         return first + changed(
                            target, good_data_in(tags), [](auto& pdu) { pdu.offset = 512; }, pattern(512));
     }},
    {"DataOffsetWrong", "Data-In out of order",
     [](auto& target, auto& tags) { return target.data_in(tags.read, 512, pattern(512), 0); }},
    {"DataOffsetHuge", "Data-In out of order",
     [](auto& target, auto& tags) { return target.data_in(tags.read, 0xfffffe00, pattern(512), 0); }},
    {"DataBeyondTheBuffer", "Data-In beyond the end of the command's buffer",
     [](auto& target, auto& tags) {
         Bytes stream;
         for (std::uint32_t offset = 0; offset < kBuffer; offset += kSegment) {
             stream = stream + target.data_in(tags.read, offset, pattern(kSegment), 0);
         }
         return stream + target.data_in(tags.read, kBuffer, pattern(1), 0);
     }},
    {"StatusInDataThatIsNotTheLast", "status in Data-In that is not the last",
     [](auto& target, auto& tags) {
         return target.data_in(tags.read, 0, pattern(512), data_in_flag::kStatus);
     }},
    {"StatusNumberOfDataWrong", "a StatSN out of sequence",
     [](auto& target, auto& tags) {
         ++target.stat_sn;
         return target.answer_read(tags.read, pattern(512));
     }},

    {"ResponseForNobody", "a response to a command that is not outstanding",
     [](auto& target, auto&) { return target.response(3); }},
    {"ResponseForNoTag", "a response to a command that is not outstanding",
     [](auto& target, auto&) { return target.response(kNoTag); }},
    {"ResponseToWhatIsNoCommand", "a response to a command that is not outstanding",
     [](auto& target, auto&) { return target.response(0x80000000); }},
    {"ResponseTwice", "a response to a command that is not outstanding",
     [](auto& target, auto& tags) {
         const Bytes first = target.response(tags.flush);
         return first + target.response(tags.flush);
     }},
    {"StatusNumberSkipped", "a StatSN out of sequence",
     [](auto& target, auto& tags) {
         ++target.stat_sn;
         return target.response(tags.flush);
     }},
    {"StatusNumberRepeated", "a StatSN out of sequence",
     [](auto& target, auto& tags) {
         const Bytes first = target.response(tags.flush);
         --target.stat_sn;
         return first + target.response(tags.read);
     }},

    {"R2tForNobody", "R2T for a command that is not outstanding",
     [](auto& target, auto&) { return target.r2t(3, 1, 0, 512); }},
    {"R2tForARead", "R2T for a command that writes nothing",
     [](auto& target, auto& tags) { return target.r2t(tags.read, 1, 0, 512); }},
    {"R2tWithData", "R2T that carries data",
     [](auto& target, auto& tags) { return target.wire(good_r2t(tags), pattern(4)); }},
    {"R2tWithoutTag", "R2T without a target transfer tag",
     [](auto& target, auto& tags) { return target.r2t(tags.write, kNoTag, 0, 512); }},
    {"R2tOfNothing", "R2T that asks for nothing",
     [](auto& target, auto& tags) { return target.r2t(tags.write, 1, 0, 0); }},
    {"R2tOfMoreThanABurst", "R2T for more than MaxBurstLength",
     [](auto& target, auto& tags) { return target.r2t(tags.write, 1, 0, kBurst + 1); }},
    {"R2tNumberWrong", "an R2TSN out of sequence",
     [](auto& target, auto& tags) {
         return changed(target, good_r2t(tags), [](auto& pdu) { pdu.r2t_sn = 7; });
     }},
    {"R2tOffsetWrong", "R2T out of order",
     [](auto& target, auto& tags) { return target.r2t(tags.write, 1, 512, 512); }},
    {"R2tForTheSameTwice", "R2T out of order",
     [](auto& target, auto& tags) {
         const Bytes first = target.r2t(tags.write, 1, 0, 512);
         return first + target.r2t(tags.write, 2, 0, 512);
     }},
    {"R2tBeyondTheBuffer", "R2T beyond the end of the command's buffer",
     [](auto& target, auto& tags) {
         const Bytes first = target.r2t(tags.write, 1, 0, 6144);
         return first + target.r2t(tags.write, 2, 6144, 2049);
     }},

    {"AnswerToNoPing", "an answer to a NOP-Out that is not outstanding",
     [](auto& target, auto&) { return with_tag<NopIn>(target, 0x80000000); }},
    {"AnswerToNoTaskFunction", "an answer to a task management function that is not outstanding",
     [](auto& target, auto&) { return with_tag<TaskManagementResponse>(target, 0x80000002); }},
    {"AnswerToATaskFunctionWithoutTag", "an answer to a task management function that is not outstanding",
     [](auto& target, auto&) { return with_tag<TaskManagementResponse>(target, kNoTag); }},
    {"AnswerToNoLogout", "an answer to a Logout that is not outstanding",
     [](auto& target, auto&) { return with_tag<LogoutResponse>(target, 0x80000001); }},
    {"MessageWithAWrongNumber", "a StatSN out of sequence",
     [](auto& target, auto&) {
         ++target.stat_sn;
         return with_tag<AsyncMessage>(target, kNoTag);
     }},
    {"RejectWithAWrongNumber", "a StatSN out of sequence",
     [](auto& target, auto&) {
         ++target.stat_sn;
         return with_tag<Reject>(target, kNoTag);
     }},
};

class SessionViolation : public SessionTest, public testing::WithParamInterface<Lie> {
protected:
    void lie(bool byte_by_byte) {
        open({.parameters = {.max_receive_data = kSegment,
                             .max_burst = kBurst,
                             .max_outstanding_r2t = 4,
                             .immediate_data = false}});
        Bytes read(kBuffer);
        Bytes write(kBuffer);
        const Tags tags{start_read(read, &read), start_write(write, &write), start_flush()};
        const Bytes stream = GetParam().pdu(*target_, tags);
        if (byte_by_byte && stream.size() < 1024) {
            for (const std::byte byte : stream) {
                target_->send(Bytes{byte});
                reactor_->run(0);
            }
        } else {
            target_->send(stream);
        }
        ASSERT_TRUE(run_until_closed());
        EXPECT_EQ(closed_->code, EPROTO);
        EXPECT_EQ(closed_->text, std::string("the target broke the protocol: it sent ") + GetParam().text);
        EXPECT_EQ(times_closed_, 1);
        EXPECT_EQ(done_.size(), 3U) << "every command ends once";
        EXPECT_EQ(session_->outstanding(), 0U);
        EXPECT_EQ(session_->statistics().protocol_violations, 1U);
    }
};

TEST_P(SessionViolation, EndsTheConnectionAndIsNamed) {
    lie(false);
}

TEST_P(SessionViolation, IsNoticedInPiecesAsWell) {
    lie(true);
}

INSTANTIATE_TEST_SUITE_P(Lies, SessionViolation, testing::ValuesIn(kLies),
                         [](const auto& row) { return row.param.name; });

class SessionViolationEnding : public SessionTest {};

TEST_F(SessionViolationEnding, ResetsTheConnectionWhileTheNetworkMayHoldAWritesData) {
    open();
    Bytes buffer(4096);
    start_write(buffer);
    target_->send(target_->response(9));
    ASSERT_TRUE(run_until_closed());
    ASSERT_TRUE(run_until([this] { return target_->end().ended(); }));
    EXPECT_EQ(target_->end().error(), ECONNRESET);
}

TEST_F(SessionViolationEnding, IsOrderlyOtherwise) {
    open();
    Bytes buffer(4096);
    start_read(buffer);
    target_->send(target_->response(9));
    ASSERT_TRUE(run_until_closed());
    ASSERT_TRUE(run_until([this] { return target_->end().ended(); }));
    EXPECT_EQ(target_->end().error(), 0);
}

TEST_F(SessionViolationEnding, BySenseDataBeyondAllReasonNeedsNoMemoryForIt) {
    open({.parameters = {.max_receive_data = 262144}});
    ScsiResponse pdu;
    pdu.task_tag = start_flush();
    pdu.data_length = 262144;
    target_->send(bytes_of(pdu));
    ASSERT_TRUE(run_until_closed());
    EXPECT_NE(closed_->text.find("more data than such a PDU has reason to carry"), std::string::npos);
}

} // namespace
} // namespace mpath::iscsi::test
