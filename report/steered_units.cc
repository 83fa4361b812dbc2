// SPDX-License-Identifier: GPL-2.0-only
#include "report/steered_units.h"

#include <algorithm>
#include <tuple>

namespace mpath::report {
namespace {

using record::Visit;
using record::VisitCause;

/// A stop that is shorter than this part of what is usual at its place was cut short: by the job's end, by a
/// command, or because the job joined late. A little is allowed, because a job's runtime begins up to a few
/// milliseconds before the schedule's clock does, and then ends before the last pass is quite over.
constexpr double kWholeStop = 0.9;

bool is_scheduled(const Visit& visit) {
    return visit.cause == VisitCause::schedule && visit.unit.has_value();
}

std::uint64_t missing_of(const record::Visits& job) {
    std::uint64_t gaps = 0;
    for (std::size_t index = 1; index < job.visits.size(); ++index) {
        const std::uint64_t before = job.visits[index - 1].number;
        const std::uint64_t number = job.visits[index].number;
        gaps += number > before ? number - before - 1 : 0;
    }
    // What is missing before the first line shows in no gap; a job that was killed has no folded line.
    return std::max(gaps, job.folded ? job.folded->visits : 0);
}

bool has_steady_time(const Visit& visit) {
    return visit.settled && visit.ended && *visit.ended > *visit.settled && *visit.ended > visit.began;
}

Nanoseconds length_of(const Visit& visit) {
    return *visit.ended - visit.began;
}

/// Calls `each` with the stops of every job.
template <typename Each>
void for_each_job(std::span<const Stop> stops, Each each) {
    while (!stops.empty()) {
        const auto end = std::find_if(stops.begin(), stops.end(),
                                      [&](const Stop& stop) { return stop.job != stops.front().job; });
        const auto count = static_cast<std::size_t>(end - stops.begin());
        each(stops.first(count));
        stops = stops.subspan(count);
    }
}

/// Stops of one job at one setting in one unit that the schedule wanted at different times. After a command
/// that suspended it a schedule comes back to the stop it is at: two visits, and one stop.
std::size_t distinct(std::span<const Stop> stops) {
    std::size_t count = stops.empty() ? 0 : 1;
    for (std::size_t index = 1; index < stops.size(); ++index) {
        count += stops[index].visit->asked != stops[index - 1].visit->asked ? 1 : 0;
    }
    return count;
}

} // namespace

SteeredUnits::SteeredUnits(std::span<const record::Visits> jobs) {
    collect(jobs);
    sort_into_units();
    learn_places();
    learn_lengths();
    judge(jobs.size());
}

void SteeredUnits::collect(std::span<const record::Visits> jobs) {
    for (std::size_t job = 0; job < jobs.size(); ++job) {
        missing_visits_ += missing_of(jobs[job]);
        for (const Visit& visit : jobs[job].visits) {
            if (!is_scheduled(visit)) {
                continue;
            }
            const auto known = std::find(settings_.begin(), settings_.end(), visit.setting);
            const auto setting = static_cast<std::size_t>(known - settings_.begin());
            if (known == settings_.end()) {
                settings_.push_back(visit.setting);
            }
            units_.push_back(*visit.unit);
            stops_.push_back({0, setting, job, &visit});
        }
    }
    std::sort(units_.begin(), units_.end());
    units_.erase(std::unique(units_.begin(), units_.end()), units_.end());
}

void SteeredUnits::sort_into_units() {
    for (Stop& stop : stops_) {
        const auto unit = std::lower_bound(units_.begin(), units_.end(), *stop.visit->unit);
        stop.unit = static_cast<std::size_t>(unit - units_.begin());
    }
    std::sort(stops_.begin(), stops_.end(), [](const Stop& a, const Stop& b) {
        return std::tie(a.unit, a.setting, a.job, a.visit->asked, a.visit->number) <
               std::tie(b.unit, b.setting, b.job, b.visit->asked, b.visit->number);
    });
    parts_.resize(units_.size() * settings_.size());
    for (auto begin = stops_.begin(); begin != stops_.end();) {
        const auto end = std::find_if(begin, stops_.end(), [&](const Stop& stop) {
            return stop.unit != begin->unit || stop.setting != begin->setting;
        });
        parts_[begin->unit * settings_.size() + begin->setting].stops = {begin, end};
        begin = end;
    }
}

void SteeredUnits::learn_places() {
    places_.resize(settings_.size());
    for (const SettingInUnit& part : parts_) {
        for_each_job(part.stops, [&](std::span<const Stop> stops) {
            std::size_t& places = places_[stops.front().setting];
            places = std::max(places, distinct(stops));
        });
    }
    for (const std::size_t places : places_) {
        most_places_ = std::max(most_places_, places);
    }
}

/// Of a single pass there is nothing to compare a place with but the setting's other places.
std::size_t SteeredUnits::length_index(std::size_t setting, std::size_t place) const {
    return setting * most_places_ + (units_.size() > 1 ? place : 0);
}

/// The middle one, so that neither a job that was held up in a visit nor those cut short set the measure; of
/// an even number the longer, so that of two the one cut short is known.
void SteeredUnits::learn_lengths() {
    std::vector<std::vector<Nanoseconds>> seen(settings_.size() * most_places_);
    for (const SettingInUnit& part : parts_) {
        for_each_job(part.stops, [&](std::span<const Stop> stops) {
            const std::size_t setting = stops.front().setting;
            if (stops.size() != places_[setting]) { // which place each had is not known
                return;
            }
            for (std::size_t place = 0; place < stops.size(); ++place) {
                if (has_steady_time(*stops[place].visit)) {
                    seen[length_index(setting, place)].push_back(length_of(*stops[place].visit));
                }
            }
        });
    }
    lengths_.resize(seen.size());
    for (std::size_t index = 0; index < seen.size(); ++index) {
        std::vector<Nanoseconds>& lengths = seen[index];
        if (!lengths.empty()) {
            const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
            std::nth_element(lengths.begin(), middle, lengths.end());
            lengths_[index] = *middle;
        }
    }
}

bool SteeredUnits::is_complete(std::span<const Stop> stops, std::size_t setting, std::size_t jobs) const {
    if (stops.size() != jobs * places_[setting]) {
        return false;
    }
    bool complete = true;
    for_each_job(stops, [&](std::span<const Stop> of_job) {
        complete = complete && of_job.size() == places_[setting] && distinct(of_job) == of_job.size();
        for (std::size_t place = 0; complete && place < of_job.size(); ++place) {
            const Visit& visit = *of_job[place].visit;
            const auto usual = static_cast<double>(lengths_[length_index(setting, place)]);
            complete = has_steady_time(visit) && static_cast<double>(length_of(visit)) >= kWholeStop * usual;
        }
    });
    return complete;
}

void SteeredUnits::judge(std::size_t jobs) {
    for (SettingInUnit& part : parts_) {
        if (part.stops.empty()) {
            continue;
        }
        part.complete = is_complete(part.stops, part.stops.front().setting, jobs);
        part.disturbed = static_cast<std::uint64_t>(
            std::count_if(part.stops.begin(), part.stops.end(),
                          [](const Stop& stop) { return stop.visit->disturbances > 0; }));
    }
}

} // namespace mpath::report
