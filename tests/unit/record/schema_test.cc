// SPDX-License-Identifier: GPL-2.0-only
// The schema in docs/ is what the code says, and what the code writes obeys it. After a change of the fields:
// MPATH_UPDATE_SCHEMA=1 unit_record --gtest_filter='Schema.*' writes it anew.
#include <cstdlib>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "record/record.h"
#include "sample_record.h"
#include "temporary_directory.h"

namespace mpath::record {
namespace {

using nlohmann::json;

bool has_type(const json& value, const std::string& type) {
    return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
           (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
           (type == "integer" && value.is_number_integer()) || (type == "number" && value.is_number()) ||
           (type == "null" && value.is_null());
}

/// Checks the words of JSON Schema that ours uses; the first place that does not obey, or "".
std::string disobeys(const json& value, const json& given, const std::string& place) {
    static const json kDefinitions = json::parse(record_schema())["$defs"];
    const std::string reference = given.value("$ref", "");
    const json& schema = reference.empty() ? given : kDefinitions[reference.substr(reference.rfind('/') + 1)];
    if (schema.contains("anyOf")) {
        for (const json& choice : schema["anyOf"]) {
            if (disobeys(value, choice, place).empty()) {
                return "";
            }
        }
        return place + ": none of anyOf";
    }
    if (schema.contains("const") && value != schema["const"]) {
        return place + ": const";
    }
    if (schema.contains("enum")) {
        const json& words = schema["enum"];
        return std::find(words.begin(), words.end(), value) == words.end() ? place + ": enum" : "";
    }
    if (schema.contains("type") && !has_type(value, schema["type"])) {
        return place + ": type";
    }
    for (const json& name : schema.value("required", json::array())) {
        if (!value.contains(name)) {
            return place + "." + name.get<std::string>() + ": required";
        }
    }
    if (value.is_object()) {
        for (const auto& [name, member] : value.items()) {
            if (!schema["properties"].contains(name)) {
                return place + "." + name + ": not described";
            }
            if (const auto fault = disobeys(member, schema["properties"][name], place + "." + name);
                !fault.empty()) {
                return fault;
            }
        }
    }
    if (value.is_array()) {
        for (const json& element : value) {
            if (const auto fault = disobeys(element, schema["items"], place + "[]"); !fault.empty()) {
                return fault;
            }
        }
    }
    return "";
}

TEST(Schema, InTheDocumentationIsTheOneOfTheCode) {
    if (std::getenv("MPATH_UPDATE_SCHEMA") != nullptr) {
        write_file(MPATH_SCHEMA_FILE, record_schema());
    }
    EXPECT_EQ(text_of_file(MPATH_SCHEMA_FILE), record_schema());
}

TEST(Schema, DescribesEveryRecord) {
    const json schema = json::parse(record_schema());
    EXPECT_EQ(disobeys(json::parse(to_json(sample_record())), schema, "record"), "");
    EXPECT_EQ(disobeys(json::parse(to_json(Record())), schema, "record"), "");
}

TEST(Schema, DescribesTheLinesOfAnIntervalFile) {
    const TemporaryDirectory directory;
    auto writer = IntervalWriter::create(directory.file("i"));
    ASSERT_TRUE(writer->append(sample_interval(kSecond)));
    const std::string text = text_of_file(directory.file("i"));
    const json schema = json::parse(record_schema());
    EXPECT_EQ(
        disobeys(json::parse(text.substr(text.find('\n') + 1)), schema["$defs"]["interval"], "interval"), "");
}

TEST(Schema, DescribesTheLinesOfAVisitsFile) {
    const TemporaryDirectory directory;
    auto writer = VisitWriter::create(directory.file("v"));
    ASSERT_TRUE(writer->append(sample_visit(1)));
    ASSERT_TRUE(writer->append(FoldedTally{}));
    std::istringstream lines(text_of_file(directory.file("v")));
    std::string line;
    const json definitions = json::parse(record_schema())["$defs"];
    std::getline(lines, line);
    for (const char* name : {"visit", "folded"}) {
        std::getline(lines, line);
        EXPECT_EQ(disobeys(json::parse(line), definitions[name], name), "");
    }
}

TEST(Schema, IsNotObeyedByARecordThatLacksSomething) {
    json record = json::parse(to_json(sample_record()));
    record["results"].erase("cpu");
    EXPECT_EQ(disobeys(record, json::parse(record_schema()), "record"), "record.results.cpu: required");
}

} // namespace
} // namespace mpath::record
