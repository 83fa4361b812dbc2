// SPDX-License-Identifier: GPL-2.0-only
#include "target/fault/ana_view.h"

#include <algorithm>

namespace mpath::target {

AccessState AnaView::state(std::uint32_t group, AccessState initial) const {
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
        if (layer->group == 0 || layer->group == group) {
            return layer->state;
        }
    }
    return initial;
}

void AnaView::set(std::uint32_t group, AccessState state, Activation activation) {
    if (activation == 0) {
        std::erase_if(layers_, [group](const Layer& layer) { return group == 0 || layer.group == group; });
    }
    layers_.push_back({group, state, activation});
}

void AnaView::end(Activation activation) {
    std::erase_if(layers_, [activation](const Layer& layer) { return layer.activation == activation; });
}

std::uint64_t AnaView::change_count_of(std::uint32_t group) const {
    const auto found = changed_.find(group);
    return found == changed_.end() ? 1 : found->second;
}

} // namespace mpath::target
