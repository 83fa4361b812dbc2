// SPDX-License-Identifier: GPL-2.0-only
#include "record/visits_file.h"

namespace mpath::record {

void Tally::add(const Moments& moments) {
    count += moments.count;
    bytes += moments.bytes;
    sum += moments.sum;
}

void Tally::subtract(const Moments& moments) {
    count -= moments.count;
    bytes -= moments.bytes;
    sum -= moments.sum;
}

void FoldedTally::add(const Visit& visit) {
    ++visits;
    for (std::size_t index = 0; index < kOperations; ++index) {
        transition[index].add(visit.transition[index]);
        steady[index].add(visit.steady[index]);
    }
}

void FoldedTally::subtract(const Visit& visit) {
    --visits;
    for (std::size_t index = 0; index < kOperations; ++index) {
        transition[index].subtract(visit.transition[index]);
        steady[index].subtract(visit.steady[index]);
    }
}

} // namespace mpath::record
