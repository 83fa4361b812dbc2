// SPDX-License-Identifier: GPL-2.0-only
#include "record/visits_file.h"

namespace mpath::record {

void Tally::add(const Moments& moments) {
    count += moments.count;
    bytes += moments.bytes;
    sum += moments.sum;
}

void Tally::subtract(const Tally& other) {
    count -= other.count;
    bytes -= other.bytes;
    sum -= other.sum;
}

void FoldedTally::add(const Visit& visit) {
    ++visits;
    for (std::size_t index = 0; index < kOperations; ++index) {
        transition[index].add(visit.transition[index]);
        steady[index].add(visit.steady[index]);
    }
}

void FoldedTally::subtract(const FoldedTally& other) {
    visits -= other.visits;
    for (std::size_t index = 0; index < kOperations; ++index) {
        transition[index].subtract(other.transition[index]);
        steady[index].subtract(other.steady[index]);
    }
}

} // namespace mpath::record
