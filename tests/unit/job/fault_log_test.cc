// SPDX-License-Identifier: GPL-2.0-only
#include "job/fault_log.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mpath::job {
namespace {

using record::EventKind;
using testing::HasSubstr;

constexpr Nanoseconds kBoot = 1'790'000'000 * kSecond; ///< UTC when the monotonic clock was 0

/// A file in memory for one test, gone with it.
class FaultLogFile : public testing::Test {
protected:
    FaultLogFile() { std::ofstream(file_).close(); }
    ~FaultLogFile() override { std::filesystem::remove(file_); }
    void write(const std::string& text) const { std::ofstream(file_) << text; }

    std::string file_ = "/dev/shm/fio-mpath-fault-log-test." + std::to_string(::getpid());
};

TEST_F(FaultLogFile, IsReadLineByLine) {
    write(R"({"monotonic":1000,"utc":2000,"listener":"a","address":"127.0.0.1:1234","action":"drop"})"
          "\n"
          R"({"monotonic":3000,"utc":4000,"listener":"b","address":"[::1]:9","action":"mute","phase":"end"})"
          "\n");
    const auto faults = read_fault_log(file_);
    ASSERT_TRUE(faults) << faults.error().text;
    ASSERT_EQ(faults->size(), 2U);
    EXPECT_EQ((*faults)[0].monotonic, 1000U);
    EXPECT_EQ((*faults)[0].utc, 2000U);
    EXPECT_EQ((*faults)[0].address, "127.0.0.1:1234");
    EXPECT_TRUE((*faults)[0].begins);
    EXPECT_EQ((*faults)[1].address, "[::1]:9");
    EXPECT_FALSE((*faults)[1].begins);
}

TEST_F(FaultLogFile, MayBeEmptyAndMayEndInTheMiddleOfALine) {
    EXPECT_TRUE(read_fault_log(file_)->empty());
    write(R"({"monotonic":1,"utc":2,"address":"a"})"
          "\n"
          R"({"monotonic":1,"ut)");
    const auto faults = read_fault_log(file_);
    ASSERT_TRUE(faults) << faults.error().text;
    EXPECT_EQ(faults->size(), 1U);
}

TEST_F(FaultLogFile, WithABrokenLineIsRefusedInOneSentence) {
    for (const char* broken :
         {"", "hello", "[]", "null", "{}", R"({"monotonic":1,"utc":2})",
          R"({"monotonic":-1,"utc":2,"address":"a"})", R"({"monotonic":"1","utc":2,"address":"a"})",
          R"({"monotonic":1,"utc":2.5,"address":"a"})", R"({"monotonic":1,"utc":2,"address":7})",
          R"({"monotonic":1,"utc":2,"address":"a")", "\xff\xfe\x00"}) {
        write(std::string(R"({"monotonic":1,"utc":2,"address":"a"})") + "\n" + broken + "\n");
        const auto faults = read_fault_log(file_);
        ASSERT_FALSE(faults) << broken;
        EXPECT_EQ(faults.error().text,
                  "fault_log=: " + file_ +
                      " line 2 is no fault as fio-mpath target writes them, so the record "
                      "has no detection times");
    }
}

TEST(FaultLog, ThatIsNotThereIsNamed) {
    const auto faults = read_fault_log("/nonexistent/faults");
    ASSERT_FALSE(faults);
    EXPECT_EQ(faults.error().code, ENOENT);
    EXPECT_THAT(faults.error().text, HasSubstr("fault_log=: /nonexistent/faults can't be opened"));
}

record::Event event(Nanoseconds monotonic, EventKind kind, std::uint16_t path = 0) {
    return {kBoot + monotonic, monotonic, path, kind, ""};
}

Fault fault(Nanoseconds monotonic, bool begins = true, std::string address = "127.0.0.1:1") {
    return {monotonic, kBoot + monotonic, std::move(address), begins};
}

struct DetectionCase {
    const char* what;
    std::vector<record::Event> events; ///< the last one is asked about
    std::vector<Fault> faults;
    std::optional<Nanoseconds> detection;
};

TEST(Detection, IsTheTimeSinceTheLatestFaultThatCanHaveCausedTheEvent) {
    const std::vector<record::Event> lost{event(100, EventKind::lost)};
    const std::vector<record::Event> state{event(100, EventKind::state)};
    Fault other_host = fault(90);
    other_host.utc += 5 * kSecond;
    Fault corrected = fault(90);
    corrected.utc -= kSecond / 2;
    const DetectionCase cases[] = {
        {"a loss", lost, {fault(80)}, 20},
        {"at the same moment", lost, {fault(100)}, 0},
        {"no fault", lost, {}, std::nullopt},
        {"the latest of several", lost, {fault(40), fault(90), fault(80)}, 10},
        {"not one after the event", lost, {fault(90), fault(101)}, 10},
        {"not one of another path", lost, {fault(90, true, "127.0.0.1:2")}, std::nullopt},
        {"a loss does not begin where a fault ends", lost, {fault(50), fault(90, false)}, 50},
        {"a state may come back when a fault ends", state, {fault(50), fault(90, false)}, 10},
        {"not one that the path's event before came from",
         {event(60, EventKind::lost), event(100, EventKind::state)},
         {fault(50)},
         std::nullopt},
        {"one after the path's event before",
         {event(60, EventKind::lost), event(70, EventKind::connected), event(100, EventKind::lost)},
         {fault(50), fault(75)},
         25},
        {"another path's event before does not matter",
         {event(60, EventKind::lost, 1), event(100, EventKind::lost)},
         {fault(50)},
         50},
        {"only losses and states are caused by the target",
         {event(100, EventKind::connected)},
         {fault(90)},
         std::nullopt},
        {"the clock of another host", lost, {other_host}, std::nullopt},
        {"UTC was corrected in between", lost, {corrected}, 10},
    };
    for (const DetectionCase& each : cases) {
        EXPECT_EQ(detection_of(each.events, each.events.size() - 1, "127.0.0.1:1", each.faults),
                  each.detection)
            << each.what;
    }
}

} // namespace
} // namespace mpath::job
