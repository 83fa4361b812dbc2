// SPDX-License-Identifier: GPL-2.0-only
#include "record/json_schema.h"
#include "record/record.h"

namespace mpath::record {

std::string record_schema() {
    Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", kRecordFormat}};
    Json body = SchemaOf<Record>::make();
    Json required{"format", "version"};
    for (const Json& name : body["required"]) {
        required.push_back(name);
    }
    Json properties{{"format", {{"const", kRecordFormat}}}, {"version", {{"const", kRecordVersion}}}};
    properties.update(body["properties"]);
    schema["type"] = "object";
    schema["required"] = std::move(required);
    schema["properties"] = std::move(properties);
    schema["$defs"]["operation"] = schema_of_struct<OperationResult>();
    schema["$defs"]["interval_operation"] = schema_of_struct<IntervalOperation>();
    schema["$defs"]["moments"] = schema_of_struct<Moments>();
    schema["$defs"]["tally"] = schema_of_struct<Tally>();
    schema["$defs"]["interval"] = SchemaOf<Interval>::make();
    schema["$defs"]["interval"]["description"] = "every line of an interval file after the first";
    schema["$defs"]["visit"] = SchemaOf<Visit>::make();
    schema["$defs"]["visit"]["description"] = "every line of a visits file after the first, but for the last";
    schema["$defs"]["folded"] = SchemaOf<FoldedTally>::make();
    schema["$defs"]["folded"]["description"] =
        "the last line of a visits file, where visits went by that are not in it";
    return schema.dump(2) + "\n";
}

} // namespace mpath::record
