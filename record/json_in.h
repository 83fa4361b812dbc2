// SPDX-License-Identifier: GPL-2.0-only
// JSON to values, by the list in record/fields.h. The first thing that is not right is kept as half a
// sentence that says where; nothing throws.
#pragma once

#include <limits>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "path/error_class.h"
#include "record/fields.h"

namespace mpath::record {

using Json = nlohmann::ordered_json;

template <typename T>
void read_json(const Json& json, const std::string& place, std::string& fault, T& value);

/// The archive that fills a struct's fields from an object.
class JsonIn {
public:
    static constexpr bool kReads = true;

    JsonIn(const Json& object, std::string place, std::string& fault)
        : object_(object), place_(std::move(place)), fault_(fault) {
        if (!object_.is_object()) {
            fault_ = fmt::format("{} is not an object", place_);
        }
    }

    template <typename T>
    void operator()(const char* name, T& value, const char* /*meaning*/) {
        if (!fault_.empty()) {
            return;
        }
        const std::string place = place_.empty() ? name : fmt::format("{}.{}", place_, name);
        const auto found = object_.find(name);
        if (found == object_.end()) {
            fault_ = fmt::format("{} is missing", place);
            return;
        }
        read_json(*found, place, fault_, value);
    }

    template <typename T>
    void added(const char* name, T& value, const char* meaning) {
        if (object_.contains(name)) {
            (*this)(name, value, meaning);
        } else {
            value = {};
        }
    }

private:
    const Json& object_;
    std::string place_;
    std::string& fault_;
};

template <typename Integer>
void read_integer(const Json& json, const std::string& place, std::string& fault, Integer& value) {
    if (!json.is_number_unsigned() || json.get<std::uint64_t>() > std::numeric_limits<Integer>::max()) {
        fault =
            fmt::format("{} is not a whole number from 0 to {}", place, std::numeric_limits<Integer>::max());
        return;
    }
    value = static_cast<Integer>(json.get<std::uint64_t>());
}

inline void read_value(const Json& json, const std::string& place, std::string& fault, std::uint64_t& value) {
    read_integer(json, place, fault, value);
}

inline void read_value(const Json& json, const std::string& place, std::string& fault, std::uint32_t& value) {
    read_integer(json, place, fault, value);
}

inline void read_value(const Json& json, const std::string& place, std::string& fault, bool& value) {
    if (!json.is_boolean()) {
        fault = fmt::format("{} is neither true nor false", place);
        return;
    }
    value = json.get<bool>();
}

inline void read_value(const Json& json, const std::string& place, std::string& fault, double& value) {
    if (!json.is_number()) {
        fault = fmt::format("{} is not a number", place);
        return;
    }
    value = json.get<double>();
}

inline void read_value(const Json& json, const std::string& place, std::string& fault, std::string& value) {
    if (!json.is_string()) {
        fault = fmt::format("{} is not a text", place);
        return;
    }
    value = json.get<std::string>();
}

/// One of the values that have words; `what` names their kind.
template <typename Value, std::size_t Count>
void read_word(const Json& json, const std::string& place, std::string& fault, Value& value,
               const std::array<Value, Count>& values, const char* what) {
    for (const Value known : values) {
        if (json.is_string() && json.get<std::string>() == to_string(known)) {
            value = known;
            return;
        }
    }
    fault = fmt::format("{} is no {}", place, what);
}

inline void read_value(const Json& json, const std::string& place, std::string& fault, EventKind& value) {
    read_word(json, place, fault, value, kEventKinds, "kind of event");
}

inline void read_value(const Json& json, const std::string& place, std::string& fault, VisitCause& value) {
    read_word(json, place, fault, value, kVisitCauses, "cause of a visit");
}

inline void read_value(const Json& json, const std::string& place, std::string& fault, PathState& value) {
    read_word(json, place, fault, value, kPathStates, "path state");
}

inline void read_value(const Json& json, const std::string& place, std::string& fault, Histogram& histogram) {
    histogram = Histogram();
    if (!json.is_array()) {
        fault = fmt::format("{} is not a list", place);
        return;
    }
    for (const Json& pair : json) {
        if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_unsigned() ||
            !pair[1].is_number_unsigned()) {
            fault = fmt::format("{} has an entry that is not [time, I/Os]", place);
            return;
        }
        const auto floor = pair[0].get<std::uint64_t>();
        if (bucket_floor(bucket_of(floor)) != floor) {
            fault = fmt::format("{}: no bucket begins at {} ns", place, floor);
            return;
        }
        histogram.add(floor, pair[1].get<std::uint64_t>());
    }
}

inline void read_value(const Json& json, const std::string& place, std::string& fault,
                       std::array<std::uint64_t, kErrorClasses>& errors) {
    JsonIn in(json, place, fault);
    for (std::size_t index = 1; index < kErrorClasses; ++index) {
        in(to_string(static_cast<ErrorClass>(index)).data(), errors[index], "");
    }
}

template <typename T>
void read_value(const Json& json, const std::string& place, std::string& fault,
                std::array<T, kOperations>& operations) {
    JsonIn in(json, place, fault);
    for (std::size_t index = 0; index < kOperations; ++index) {
        in(kOperationNames[index].data(), operations[index], "");
    }
}

template <typename T>
void read_value(const Json& json, const std::string& place, std::string& fault, std::optional<T>& value) {
    value.reset();
    if (!json.is_null()) {
        read_json(json, place, fault, value.emplace());
    }
}

template <typename T>
void read_value(const Json& json, const std::string& place, std::string& fault, std::vector<T>& values) {
    values.clear();
    if (!json.is_array()) {
        fault = fmt::format("{} is not a list", place);
        return;
    }
    for (const Json& element : json) {
        if (!fault.empty()) {
            return;
        }
        const std::string element_place = fmt::format("{}[{}]", place, values.size());
        read_json(element, element_place, fault, values.emplace_back());
    }
}

template <typename T>
concept ReadableStruct = requires(JsonIn& in, T& value) {
    fields(in, value);
};

template <typename T>
void read_json(const Json& json, const std::string& place, std::string& fault, T& value) {
    if constexpr (ReadableStruct<T>) {
        JsonIn in(json, place, fault);
        fields(in, value);
    } else {
        read_value(json, place, fault, value);
    }
}

} // namespace mpath::record
