// SPDX-License-Identifier: GPL-2.0-only
// Values to JSON, by the list in record/fields.h.
#pragma once

#include <nlohmann/json.hpp>

#include "path/error_class.h"
#include "record/fields.h"

namespace mpath::record {

using Json = nlohmann::ordered_json;

template <typename T>
Json json_of(const T& value);

/// The archive that collects a struct's fields.
class JsonOut {
public:
    static constexpr bool kReads = false;

    template <typename T>
    void operator()(const char* name, const T& value, const char* /*meaning*/) {
        object_[name] = json_of(value);
    }
    template <typename T>
    void added(const char* name, const T& value, const char* meaning) {
        (*this)(name, value, meaning);
    }
    /// Told for convenience; a reader works it out again.
    template <typename T>
    void derived(const char* name, const T& value, const char* /*meaning*/) {
        object_[name] = json_of(value);
    }
    [[nodiscard]] Json take() { return std::move(object_); }

private:
    Json object_ = Json::object();
};

inline Json json_value(bool value) {
    return value;
}
inline Json json_value(std::uint64_t value) {
    return value;
}
inline Json json_value(std::uint32_t value) {
    return value;
}
inline Json json_value(double value) {
    return value;
}
inline Json json_value(const std::string& value) {
    return value;
}
inline Json json_value(EventKind value) {
    return to_string(value);
}
inline Json json_value(VisitCause value) {
    return to_string(value);
}
inline Json json_value(PathState value) {
    return to_string(value);
}

inline Json json_value(const Histogram& histogram) {
    Json buckets = Json::array();
    for (std::uint32_t index = 0; index < kBuckets; ++index) {
        if (const std::uint64_t count = histogram.bucket(index); count != 0) {
            buckets.push_back({bucket_floor(index), count});
        }
    }
    return buckets;
}

inline Json json_value(const std::array<std::uint64_t, kErrorClasses>& errors) {
    Json object = Json::object();
    for (std::size_t index = 1; index < kErrorClasses; ++index) {
        object[std::string(to_string(static_cast<ErrorClass>(index)))] = errors[index];
    }
    return object;
}

template <typename T>
Json json_value(const std::array<T, kOperations>& operations) {
    Json object = Json::object();
    for (std::size_t index = 0; index < kOperations; ++index) {
        object[std::string(kOperationNames[index])] = json_of(operations[index]);
    }
    return object;
}

template <typename T>
Json json_value(const std::optional<T>& value) {
    return value ? json_of(*value) : Json(nullptr);
}

template <typename T>
Json json_value(const std::vector<T>& values) {
    Json array = Json::array();
    for (const T& value : values) {
        array.push_back(json_of(value));
    }
    return array;
}

template <typename T>
concept Struct = requires(JsonOut& out, const T& value) {
    fields(out, value);
};

template <typename T>
Json json_of(const T& value) {
    if constexpr (Struct<T>) {
        JsonOut out;
        fields(out, value);
        return out.take();
    } else {
        return json_value(value);
    }
}

} // namespace mpath::record
