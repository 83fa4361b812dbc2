// SPDX-License-Identifier: GPL-2.0-only
#include "stage.h"

#include <gtest/gtest.h>

namespace mpath::target {

Stage::Stage(Options options) : Bench(options) {
    listener.options.name = "a";
    other.options.name = "b";
    context.listeners = {"a", "b"};
    context.groups = subsystem->group_count();
    context.block_size = options.block_size;
    context.most_bytes = options.size * Namespace::kGrowth;
    injector = std::make_unique<FaultInjector>(*subsystem, std::vector<Listener*>{&listener, &other},
                                               static_cast<Premises&>(*this));
    script = std::make_unique<ScriptRunner>(*injector, 1);
}

void Stage::play(std::string_view text) {
    const auto statements = parse_script(text, "test", context);
    ASSERT_TRUE(statements) << statements.error().text;
    script->load(*statements, now);
    subsystem->observer = script->watches_commands() ? script.get() : nullptr;
}

void Stage::wait(Nanoseconds time) {
    now += time;
    script->run(now);
    subsystem->observer = script->watches_commands() ? script.get() : nullptr;
    subsystem->late_writes().run(now);
}

void Stage::each_connection(const std::function<void(ServedConnection&)>& visit) {
    for (Peer* peer : peers_) {
        if (!peer->connection().closed()) {
            visit(peer->connection());
        }
    }
}

void Stage::take_connects(Listener& /*changed*/, bool taken) {
    connects.push_back(taken);
}

nvme::Sqe log_command(std::uint8_t page, std::uint32_t length, std::uint32_t offset, bool retain) {
    auto sqe = admin_command(nvme::admin_opcode::kGetLogPage, 1);
    sqe.cdw10 = page | (retain ? nvme::kRetainAsyncEvent : 0U) | (length / 4 - 1) << 16;
    sqe.cdw12 = offset;
    sqe.sgl.length = length;
    return sqe;
}

} // namespace mpath::target
