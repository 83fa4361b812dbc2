// SPDX-License-Identifier: GPL-2.0-only
// The JSON Schema of what record/fields.h lists.
#pragma once

#include <string>

#include "record/json_out.h"

namespace mpath::record {

template <typename T>
struct SchemaOf;

/// The archive that describes a struct's fields; it walks a default-constructed one.
class JsonSchema {
public:
    static constexpr bool kReads = false;

    template <typename T>
    void operator()(const char* name, const T& /*value*/, const char* meaning) {
        describe<T>(name, meaning);
        required_.push_back(name);
    }
    template <typename T>
    void added(const char* name, const T& value, const char* meaning) {
        (*this)(name, value, meaning);
    }
    template <typename T>
    void derived(const char* name, const T& /*value*/, const char* meaning) {
        describe<T>(name, meaning);
    }
    [[nodiscard]] Json take() {
        return {
            {"type", "object"}, {"required", std::move(required_)}, {"properties", std::move(properties_)}};
    }
    template <typename T>
    void describe(const char* name, const char* meaning) {
        Json schema = SchemaOf<T>::make();
        if (*meaning != '\0') {
            schema["description"] = meaning;
        }
        properties_[name] = std::move(schema);
    }

private:
    Json required_ = Json::array();
    Json properties_ = Json::object();
};

inline Json schema_object(const std::vector<std::string_view>& names, const Json& schema) {
    Json properties = Json::object();
    for (const std::string_view name : names) {
        properties[std::string(name)] = schema;
    }
    return {{"type", "object"}, {"required", names}, {"properties", std::move(properties)}};
}

template <Struct T>
Json schema_of_struct() {
    JsonSchema schema;
    fields(schema, T{});
    return schema.take();
}

template <Struct T>
struct SchemaOf<T> {
    static Json make() { return schema_of_struct<T>(); }
};

/// What comes many times is described once, under $defs.
template <>
struct SchemaOf<OperationResult> {
    static Json make() { return {{"$ref", "#/$defs/operation"}}; }
};

template <>
struct SchemaOf<IntervalOperation> {
    static Json make() { return {{"$ref", "#/$defs/interval_operation"}}; }
};

template <>
struct SchemaOf<Moments> {
    static Json make() { return {{"$ref", "#/$defs/moments"}}; }
};

template <>
struct SchemaOf<Tally> {
    static Json make() { return {{"$ref", "#/$defs/tally"}}; }
};

template <std::unsigned_integral T>
struct SchemaOf<T> {
    static Json make() { return {{"type", "integer"}, {"minimum", 0}}; }
};

template <>
struct SchemaOf<bool> {
    static Json make() { return {{"type", "boolean"}}; }
};

template <>
struct SchemaOf<double> {
    static Json make() { return {{"type", "number"}}; }
};

template <>
struct SchemaOf<std::string> {
    static Json make() { return {{"type", "string"}}; }
};

template <typename Values>
Json schema_of_words(const Values& values) {
    Json names = Json::array();
    for (const auto value : values) {
        names.push_back(to_string(value));
    }
    return {{"enum", std::move(names)}};
}

template <>
struct SchemaOf<EventKind> {
    static Json make() { return schema_of_words(kEventKinds); }
};

template <>
struct SchemaOf<VisitCause> {
    static Json make() { return schema_of_words(kVisitCauses); }
};

template <>
struct SchemaOf<PathState> {
    static Json make() { return schema_of_words(kPathStates); }
};

template <>
struct SchemaOf<Histogram> {
    static Json make() {
        return {{"type", "array"},
                {"items",
                 {{"type", "array"},
                  {"items", SchemaOf<std::uint64_t>::make()},
                  {"minItems", 2},
                  {"maxItems", 2}}}};
    }
};

template <>
struct SchemaOf<std::array<std::uint64_t, kErrorClasses>> {
    static Json make() {
        std::vector<std::string_view> names;
        for (std::size_t index = 1; index < kErrorClasses; ++index) {
            names.push_back(to_string(static_cast<ErrorClass>(index)));
        }
        return schema_object(names, SchemaOf<std::uint64_t>::make());
    }
};

template <typename T>
struct SchemaOf<std::array<T, kOperations>> {
    static Json make() {
        return schema_object({kOperationNames.begin(), kOperationNames.end()}, SchemaOf<T>::make());
    }
};

template <typename T>
struct SchemaOf<std::optional<T>> {
    static Json make() { return {{"anyOf", Json::array({SchemaOf<T>::make(), {{"type", "null"}}})}}; }
};

template <typename T>
struct SchemaOf<std::vector<T>> {
    static Json make() { return {{"type", "array"}, {"items", SchemaOf<T>::make()}}; }
};

} // namespace mpath::record
