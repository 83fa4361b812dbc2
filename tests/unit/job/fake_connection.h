// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <memory>
#include <vector>

#include "path/connection.h"

namespace mpath::job::test {

/// A path that is up, as far as facts go.
class FakeConnection final : public PathConnection {
public:
    explicit FakeConnection(const PathFacts& facts = {}) : facts_(std::make_shared<const PathFacts>(facts)) {}

    [[nodiscard]] const std::shared_ptr<const PathFacts>& facts() const noexcept override { return facts_; }
    [[nodiscard]] std::vector<ConnectionSocket> sockets() const override { return {}; }

private:
    std::shared_ptr<const PathFacts> facts_;
};

} // namespace mpath::job::test
