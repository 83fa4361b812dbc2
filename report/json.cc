// SPDX-License-Identifier: GPL-2.0-only
#include "report/json.h"

#include "record/json_out.h"

namespace mpath::report {
namespace {

using record::Json;
using record::json_of;

Json row_json(const Row& row) {
    const auto name_or_all = [](const std::string& name) { return Json(name.empty() ? "all" : name); };
    const auto& moments = row.result.moments;
    return {{"setting", name_or_all(row.setting)},
            {"path", name_or_all(row.path)},
            {"operation", record::kOperationNames[static_cast<std::size_t>(row.operation)]},
            {"seconds", json_of(row.seconds > 0 ? std::optional(row.seconds) : std::nullopt)},
            {"count", moments.count},
            {"bytes", moments.bytes},
            {"iops", json_of(row.iops())},
            {"bandwidth", json_of(row.bandwidth())},
            {"share", json_of(row.share)},
            {"mean_ns", json_of(row.mean())},
            {"p50_ns", json_of(row.result.percentile(50))},
            {"p99_ns", json_of(row.result.percentile(99))},
            {"p999_ns", json_of(row.result.percentile(99.9))},
            {"max_ns", json_of(row.result.count() == 0 ? record::Maybe() : record::Maybe(moments.max))}};
}

Json client_json(const Client& client) {
    Json paths = Json::array();
    for (const Backpressure& path : client.paths) {
        paths.push_back({{"path", path.path},
                         {"held_back_by_send_buffer", json_of(path.by_send_buffer)},
                         {"held_back_by_window", json_of(path.by_window)},
                         {"retransmits", json_of(path.retransmits)}});
    }
    return {{"cores_per_job", json_of(client.cores_per_job)},
            {"user_part", json_of(client.user_part)},
            {"cpu_ns_per_io", json_of(client.ns_per_io)},
            {"paths", std::move(paths)}};
}

Json history_json(const History& history) {
    if (!history.told) {
        return nullptr;
    }
    Json fill = nullptr;
    if (history.fill) {
        fill = {{"job", history.fill->job}, {"ended_utc_ns", history.fill->ended_utc}};
    }
    return {{"fill", std::move(fill)},
            {"bytes", history.written},
            {"sequential_bytes", history.sequential},
            {"small_random_bytes", history.small_random}};
}

Json comparison_json(const Comparison& one) {
    const Estimate& estimate = one.estimate;
    const LeftOut& left_out = one.left_out;
    Json interval = nullptr;
    if (estimate.interval) {
        interval = {{"low", estimate.interval->low}, {"high", estimate.interval->high}};
    }
    const auto known = [&](double value) { return one.units.empty() ? Json(nullptr) : Json(value); };
    return {{"reference", one.reference},
            {"other", one.other},
            {"operation", record::kOperationNames[static_cast<std::size_t>(one.operation)]},
            {"quantity", to_string(one.quantity)},
            {"reference_value", known(one.reference_value)},
            {"other_value", known(one.other_value)},
            {"units", estimate.units},
            {"ratio", json_of(estimate.ratio)},
            {"interval", std::move(interval)},
            {"shown", estimate.shown()},
            {"detectable_ratio", json_of(estimate.detectable)},
            {"drift_cancels", one.drift_cancels},
            {"left_out",
             {{"incomplete_units", left_out.incomplete_units},
              {"disturbed_units", left_out.disturbed_units},
              {"units_without_io", left_out.units_without_io},
              {"disturbed_visits", left_out.disturbed_visits},
              {"missing_visits", left_out.missing_visits}}}};
}

Json events_json(const record::JobReport& report) {
    Json events = Json::array();
    for (const record::Event& event : report.result.events) {
        Json one = json_of(event);
        one["path"] =
            event.path < report.conditions.size() ? Json(report.conditions[event.path].name) : nullptr;
        one["job"] = event.job.empty() ? Json(nullptr) : Json(event.job);
        events.push_back(std::move(one));
    }
    return events;
}

Json files_json(const Block& block) {
    Json repeats = Json::array();
    for (const std::vector<const Job*>& jobs : block.repeats) {
        Json& files = repeats.emplace_back(Json::array());
        for (const Job* job : jobs) {
            files.push_back(job->file);
        }
    }
    return repeats;
}

Json block_json(const BlockReport& one) {
    const Block& block = one.block;
    const record::JobResult& result = block.report.result;
    Json rows = Json::array();
    for (const Row& row : one.rows) {
        rows.push_back(row_json(row));
    }
    Json comparisons = Json::array();
    for (const Comparison& comparison : one.comparisons) {
        comparisons.push_back(comparison_json(comparison));
    }
    Json findings = Json::array();
    for (const Finding& finding : one.findings) {
        findings.push_back({{"weight", to_string(finding.weight)}, {"text", finding.text}});
    }
    return {{"run", block.run},
            {"job", result.name},
            {"host", block.host.empty() ? Json(nullptr) : Json(block.host)},
            {"is_sum", block.is_sum},
            {"jobs", result.jobs},
            {"records", files_json(block)},
            {"conditions", block.is_sum ? Json(nullptr) : json_of(block.conditions)},
            {"measured_ns", result.measured()},
            {"numbers", std::move(rows)},
            {"response", json_of(result.response)},
            {"settings", json_of(result.settings)},
            {"comparisons", std::move(comparisons)},
            {"client", client_json(one.client)},
            {"written_before", history_json(one.history)},
            {"events", events_json(block.report)},
            {"findings", std::move(findings)}};
}

} // namespace

std::string to_json(const Report& report) {
    Json blocks = Json::array();
    for (const BlockReport& one : report.blocks) {
        blocks.push_back(block_json(one));
    }
    const Json json{{"format", kReportFormat}, {"version", kReportVersion}, {"blocks", std::move(blocks)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace mpath::report
