// SPDX-License-Identifier: GPL-2.0-only
#include "record/record.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sample_record.h"
#include "temporary_directory.h"

namespace mpath::record {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(Record, ReadsBackWhatWasWritten) {
    const TemporaryDirectory directory;
    const std::string file = directory.file("run_mpath.1.json");
    const Record record = sample_record();
    ASSERT_TRUE(write_record(file, record));
    const auto read = read_record(file);
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(*read, record);
}

TEST(Record, OfAJobThatMeasuredNothingReadsBack) {
    const auto read = from_json(to_json(Record()), "empty");
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(*read, Record());
}

TEST(Record, SaysNullForWhatNobodyMeasured) {
    const json record = json::parse(to_json(sample_record()));
    EXPECT_TRUE(record["conditions"]["kernel_version"].is_null());
    EXPECT_TRUE(record["conditions"]["paths"][1]["header_digest"].is_null());
    EXPECT_EQ(record["conditions"]["paths"][0]["header_digest"], false);
    EXPECT_TRUE(record["results"]["paths"][1]["traffic"]["commands"].is_null());
    EXPECT_TRUE(record["results"]["paths"][1]["sampled_reads"].is_null());
    EXPECT_EQ(record["results"]["paths"][0]["all_zero_reads"], 7);
    const json& trim = record["results"]["response"]["trim"];
    EXPECT_EQ(trim["count"], 0);
    EXPECT_TRUE(trim["min_ns"].is_null());
    EXPECT_TRUE(trim["p99_ns"].is_null());
    EXPECT_TRUE(record["results"]["events"][1]["path"].is_null());
}

TEST(Record, HoldsOnlyTheBucketsInUse) {
    const json record = json::parse(to_json(sample_record()));
    const json& buckets = record["results"]["paths"][0]["settings"][0]["operations"]["read"]["buckets"];
    ASSERT_EQ(buckets.size(), 2U);
    EXPECT_EQ(buckets[0][0], bucket_floor(bucket_of(61'000)));
    EXPECT_EQ(buckets[0][1], 11'880);
}

TEST(Record, TellsWhatEventsCostAndWhatNobodyKnowsOfIt) {
    const json results = json::parse(to_json(sample_record()))["results"];
    const json& event = results["events"][0];
    EXPECT_EQ(event["gap_ns"], 1'234'000'000);
    EXPECT_EQ(event["requeues"], 2);
    EXPECT_EQ(event["exposed_writes"], 1);
    EXPECT_EQ(event["detection_ns"], 20'000'000);
    EXPECT_TRUE(results["events"][1]["gap_ns"].is_null());
    EXPECT_EQ(results["held"]["max_ns"], 2'000);
    EXPECT_EQ(results["held"]["failed"], 1);
    const json& delay = results["paths"][0]["requeue_delay"];
    EXPECT_EQ(delay["count"], 2);
    EXPECT_EQ(delay["max_ns"], 4'000);
    EXPECT_NEAR(delay["p50_ns"].get<double>(), 4'000, 40);
    EXPECT_FALSE(delay.contains("bytes"));
    EXPECT_TRUE(results["paths"][1]["requeue_delay"].is_null());
}

TEST(Record, KeepsIntegersBeyondTheDoublesExact) {
    Record record;
    record.written_utc = (std::uint64_t{1} << 60) + 1;
    const auto read = from_json(to_json(record), "large");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->written_utc, record.written_utc);
}

TEST(Record, IsReplacedWholeAndLeavesNothingAside) {
    const TemporaryDirectory directory;
    const std::string file = directory.file("r.json");
    Record record = sample_record();
    record.complete = false;
    ASSERT_TRUE(write_record(file, record));
    EXPECT_FALSE(read_record(file)->complete);
    record.complete = true;
    ASSERT_TRUE(write_record(file, record));
    EXPECT_TRUE(read_record(file)->complete);
    EXPECT_FALSE(std::filesystem::exists(file + ".new"));
}

TEST(Record, IsNotWrittenThroughASymbolicLink) {
    const TemporaryDirectory directory;
    write_file(directory.file("victim"), "precious");
    std::filesystem::create_symlink(directory.file("victim"), directory.file("r.json.new"));
    EXPECT_FALSE(write_record(directory.file("r.json"), Record()));
    EXPECT_EQ(text_of_file(directory.file("victim")), "precious");
}

TEST(Record, ThatCanNotBeWrittenSaysWhere) {
    const auto written = write_record("/nonexistent/r.json", Record());
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ENOENT);
    EXPECT_THAT(written.error().text, HasSubstr("/nonexistent/r.json"));
}

TEST(Record, TakesAnyBytesAsAName) {
    Record record;
    record.results.name = "caf\xe9";
    const auto read = from_json(to_json(record), "latin1");
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(read->results.name, "caf\xef\xbf\xbd");
}

struct Refusal {
    const char* what;
    void (*spoil)(json&);
    const char* sentence;
};

TEST(Reader, RefusesWhatIsNotARecordInOneSentence) {
    const Refusal refusals[] = {
        {"foreign JSON",
         [](json& j) {
             j = {{"jobs", json::array()}};
         },
         "r.json is JSON, but no fio-mpath record"},
        {"a list", [](json& j) { j = json::array(); }, "r.json is JSON, but no fio-mpath record"},
        {"the other file of ours", [](json& j) { j["format"] = "fio-mpath intervals"; },
         "but no fio-mpath record"},
        {"the future", [](json& j) { j["version"] = 4; },
         "has version 4 of the format and this fio-mpath knows 3"},
        {"no version", [](json& j) { j.erase("version"); }, "without a version number"},
        {"version 0", [](json& j) { j["version"] = 0; }, "version 0"},
        {"a field gone", [](json& j) { j["results"]["paths"][1].erase("depth"); },
         "broken record: results.paths[1].depth is missing"},
        {"a negative count", [](json& j) { j["results"]["response"]["read"]["count"] = -1; },
         "results.response.read.count is not a whole number"},
        {"too large a number", [](json& j) { j["results"]["thread_number"] = std::uint64_t{1} << 32; },
         "results.thread_number is not a whole number from 0 to 4294967295"},
        {"a text for a number", [](json& j) { j["written_utc_ns"] = "now"; },
         "written_utc_ns is not a whole"},
        {"an unknown state", [](json& j) { j["results"]["paths"][0]["state"] = "happy"; },
         "results.paths[0].state is no path state"},
        {"a gap that is no number", [](json& j) { j["results"]["events"][0]["gap_ns"] = "long"; },
         "results.events[0].gap_ns is not a whole number"},
        {"a requeue delay that lacks something",
         [](json& j) { j["results"]["paths"][0]["requeue_delay"].erase("sum_ns"); },
         "results.paths[0].requeue_delay.sum_ns is missing"},
        {"an unknown event", [](json& j) { j["results"]["events"][0]["kind"] = "party"; },
         "no kind of event"},
        {"a setting that lacks something", [](json& j) { j["results"]["settings"][0].erase("steady_ns"); },
         "results.settings[0].steady_ns is missing"},
        {"steering that is none", [](json& j) { j["conditions"]["steering"] = "numa@1s"; },
         "conditions.steering is not an object"},
        {"a bucket of another scheme",
         [](json& j) { j["results"]["response"]["read"]["buckets"][0][0] = 100'001; },
         "no bucket begins at 100001 ns"},
        {"a bucket that is no pair", [](json& j) { j["results"]["response"]["read"]["buckets"][0] = 5; },
         "results.response.read.buckets has an entry"},
        {"a list that is none", [](json& j) { j["results"]["events"] = 1; }, "results.events is not a list"},
        {"an object that is none", [](json& j) { j["conditions"] = nullptr; }, "conditions is not an object"},
        {"conditions without results", [](json& j) { j["results"]["paths"].erase(1); },
         "conditions of 2 paths and"},
    };
    for (const Refusal& refusal : refusals) {
        json spoiled = json::parse(to_json(sample_record()));
        refusal.spoil(spoiled);
        const auto read = from_json(spoiled.dump(), "r.json");
        ASSERT_FALSE(read) << refusal.what;
        EXPECT_THAT(read.error().text, HasSubstr(refusal.sentence)) << refusal.what;
        EXPECT_THAT(read.error().text, testing::StartsWith("r.json ")) << refusal.what;
    }
}

TEST(Reader, RefusesARecordCutOffAnywhere) {
    const std::string whole = to_json(sample_record());
    for (std::size_t length = 0; length + 2 < whole.size(); length += 97) {
        const auto read = from_json(std::string_view(whole).substr(0, length), "cut.json");
        ASSERT_FALSE(read);
        ASSERT_EQ(read.error().text, "cut.json is no JSON, or was cut off");
    }
}

TEST(Reader, SurvivesAnyByteBeingAnother) {
    const std::string whole = to_json(sample_record());
    for (std::size_t place = 0; place < whole.size(); place += 13) {
        std::string spoiled = whole;
        spoiled[place] = static_cast<char>(spoiled[place] ^ 0x15);
        static_cast<void>(from_json(spoiled, "spoiled.json"));
    }
}

TEST(Reader, IgnoresKeysThatALaterVersionAdded) {
    json record = json::parse(to_json(sample_record()));
    record["results"]["mood"] = "fine";
    EXPECT_TRUE(from_json(record.dump(), "r.json"));
}

TEST(Reader, TakesARecordOfVersion1AsOneThatDidNotMeasureWhatVersion2Added) {
    json old = json::parse(to_json(sample_record()));
    old["version"] = 1;
    json& results = old["results"];
    results.erase("held");
    for (json& path : results["paths"]) {
        for (const char* added : {"requeue_delay", "retries", "exposed_writes"}) {
            path.erase(added);
        }
    }
    for (json& event : results["events"]) {
        for (const char* added : {"gap_ns", "requeues", "exposed_writes", "detection_ns"}) {
            event.erase(added);
        }
    }
    Record expected = sample_record();
    expected.results.held.reset();
    PathResult& path = expected.results.paths[0];
    path.requeue_delay.reset();
    path.retries.reset();
    path.exposed_writes.reset();
    Event& event = expected.results.events[0];
    event.gap.reset();
    event.requeues.reset();
    event.exposed_writes.reset();
    event.detection.reset();
    const auto read = from_json(old.dump(), "old.json");
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(*read, expected);
    EXPECT_TRUE(json::parse(to_json(*read))["results"]["held"].is_null()) << "absent, not zero";
}

TEST(Reader, TakesARecordOfVersion2AsOneOfAJobThatWasNotSteered) {
    json old = json::parse(to_json(sample_record()));
    old["version"] = 2;
    old.erase("visits_file");
    old["conditions"].erase("steering");
    old["results"].erase("settings");
    old["results"].erase("switch_delay");
    Record expected = sample_record();
    expected.visits_file.reset();
    expected.conditions.steering.reset();
    expected.results.settings.clear();
    expected.results.switch_delay.reset();
    const auto read = from_json(old.dump(), "old.json");
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(*read, expected);
    const std::vector<SettingTime> times = read->results.setting_times();
    ASSERT_EQ(times.size(), 1U);
    EXPECT_EQ(times[0], (SettingTime{"round-robin", 10 * kSecond, 1, 1, 0})) << "one setting throughout";
}

TEST(Record, TellsSettingsScheduleAndSwitchDelays) {
    Record record = sample_record();
    record.results.settings = steered_report().result.settings;
    const json whole = json::parse(to_json(record));
    EXPECT_EQ(whole["version"], 3);
    EXPECT_EQ(whole["visits_file"], "run_mpath.1.visits.jsonl");
    const json& setting = whole["results"]["settings"][1];
    EXPECT_EQ(setting["name"], "queue-depth");
    EXPECT_EQ(setting["steady_ns"], 4'000'000'000);
    EXPECT_EQ(setting["visits"], 2);
    EXPECT_EQ(setting["disturbed_visits"], 1);
    EXPECT_EQ(whole["results"]["switch_delay"]["count"], 2);
    const json& steering = whole["conditions"]["steering"];
    EXPECT_EQ(steering["schedule"], "round-robin@10s,queue-depth@10s");
    EXPECT_EQ(steering["order"], "shuffle");
    EXPECT_EQ(steering["settle_ns"], 500'000'000);
    EXPECT_EQ(steering["seed"], 7);
    const json without = json::parse(to_json(Record()));
    EXPECT_TRUE(without["conditions"]["steering"].is_null());
    EXPECT_TRUE(without["results"]["switch_delay"].is_null()) << "absent, not zero";
}

TEST(Reader, SaysThatAFileIsNotThere) {
    const auto read = read_record("/nonexistent/r.json");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ENOENT);
}

TEST(Intervals, ReadBackAsAppended) {
    const TemporaryDirectory directory;
    const std::string file = directory.file("intervals");
    auto writer = IntervalWriter::create(file);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->append(sample_interval(kSecond)));
    ASSERT_TRUE(writer->append(sample_interval(2 * kSecond)));
    const auto read = read_intervals(file);
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(*read, (std::vector{sample_interval(kSecond), sample_interval(2 * kSecond)}));
}

TEST(Intervals, LeaveOutTheLineThatAKillCutOff) {
    const TemporaryDirectory directory;
    const std::string file = directory.file("intervals");
    auto writer = IntervalWriter::create(file);
    ASSERT_TRUE(writer->append(sample_interval(kSecond)));
    const std::string whole = text_of_file(file);
    ASSERT_TRUE(writer->append(sample_interval(2 * kSecond)));
    write_file(file, text_of_file(file).substr(0, whole.size() + 40));
    const auto read = read_intervals(file);
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(*read, std::vector{sample_interval(kSecond)});
}

TEST(Intervals, CarryUtcAndMeanSize) {
    const TemporaryDirectory directory;
    auto writer = IntervalWriter::create(directory.file("intervals"));
    ASSERT_TRUE(writer->append(sample_interval(kSecond)));
    const std::string text = text_of_file(directory.file("intervals"));
    const json line = json::parse(text.substr(text.find('\n') + 1));
    EXPECT_EQ(line["utc_ns"], 1'790'000'001'000'000'000);
    EXPECT_EQ(line["paths"][0]["operations"]["read"]["mean_bytes"], 4096);
    EXPECT_TRUE(line["paths"][0]["operations"]["write"]["mean_bytes"].is_null());
    EXPECT_TRUE(line["paths"][0]["connections"][0]["cwnd"].is_null());
}

TEST(Intervals, RefuseOtherFiles) {
    const TemporaryDirectory directory;
    const std::string file = directory.file("intervals");
    for (const auto& [text, sentence] :
         {std::pair{"", "is no interval file"}, std::pair{"{}\n", "is JSON, but no fio-mpath intervals"},
          std::pair{"hello\n", "line 1 is no JSON"},
          std::pair{"{\"format\":\"fio-mpath intervals\",\"version\":9}\n", "version 9"},
          std::pair{"{\"format\":\"fio-mpath intervals\",\"version\":1}\n{}\n",
                    "line 2 is a broken interval: utc_ns is missing"}}) {
        write_file(file, text);
        const auto read = read_intervals(file);
        ASSERT_FALSE(read) << text;
        EXPECT_THAT(read.error().text, HasSubstr(sentence));
    }
}

} // namespace
} // namespace mpath::record
