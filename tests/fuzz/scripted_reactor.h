// SPDX-License-Identifier: GPL-2.0-only
// A reactor whose one connection at a time is made at once, receives given bytes in given cuts, and sends at
// once.
#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <utility>

#include "net/reactor.h"

namespace mpath::fuzz {

class StillClock final : public Clock {
public:
    [[nodiscard]] Nanoseconds now() const noexcept override { return kSecond; }
    [[nodiscard]] Nanoseconds utc() const noexcept override { return kSecond; }
};

class ScriptedReactor final : public net::Reactor {
public:
    /// `cuts` 0: everything at once, as far as a receive has room; otherwise the seed of random cuts.
    ScriptedReactor(const Clock& clock, std::span<const std::byte> bytes, std::uint8_t cuts)
        : Reactor(clock), rest_(bytes), random_(cuts), cut_(cuts != 0) {}

    void connect(net::Operation& operation, int, const sockaddr*, socklen_t) noexcept override {
        operation.pending = true;
        connecting_ = {&operation, nullptr, 0};
    }
    void read(net::Operation&, int, void*, std::uint32_t) noexcept override {}
    void receive(net::Operation& operation, int, msghdr* message, int flags) noexcept override {
        operation.pending = true;
        receiving_ = {&operation, message, flags};
    }
    void send(net::Operation& operation, int, msghdr* message) noexcept override {
        operation.pending = true;
        sending_ = {&operation, message, 0};
    }
    void cancel(net::Operation& operation) noexcept override {
        for (Staged* staged : {&connecting_, &receiving_, &sending_}) {
            staged->cancelled = staged->cancelled || staged->operation == &operation;
        }
    }
    void run(Nanoseconds) noexcept override {
        note_arrival();
        complete(connecting_, connecting_.cancelled ? -ECANCELED : 0);
        complete(sending_, sending_.cancelled ? -ECANCELED : length_of(*sending_message()));
        complete(receiving_, receiving_.cancelled ? -ECANCELED : deliver());
    }
    [[nodiscard]] std::uint64_t system_calls() const noexcept override { return 0; }
    [[nodiscard]] std::string_view backend() const noexcept override { return "scripted"; }

    [[nodiscard]] bool idle() const {
        return connecting_.operation == nullptr && sending_.operation == nullptr &&
               receiving_.operation == nullptr;
    }

private:
    struct Staged {
        net::Operation* operation = nullptr;
        msghdr* message = nullptr;
        int flags = 0;
        bool cancelled = false;
    };

    static int length_of(const msghdr& message) {
        std::size_t length = 0;
        for (std::size_t i = 0; i < message.msg_iovlen; ++i) {
            length += message.msg_iov[i].iov_len;
        }
        return static_cast<int>(length);
    }
    const msghdr* sending_message() const {
        static const msghdr nothing{};
        return sending_.operation == nullptr ? &nothing : sending_.message;
    }
    static void complete(Staged& staged, int result) {
        if (staged.operation != nullptr) {
            net::Operation& operation = *std::exchange(staged, {}).operation;
            operation.pending = false;
            operation.done(operation, result);
        }
    }
    /// Bytes given to the receive that waits; 0 at the end of the stream.
    int deliver() {
        if (receiving_.operation == nullptr) {
            return 0;
        }
        std::size_t most = rest_.size();
        if (cut_ && (receiving_.flags & MSG_WAITALL) == 0) {
            // Mostly a few bytes, now and then many.
            most = std::min<std::size_t>(most, 1 + (random_() % 4 == 0 ? random_() % 8192 : random_() % 40));
        }
        std::size_t given = 0;
        const msghdr& message = *receiving_.message;
        for (std::size_t i = 0; i < message.msg_iovlen && given < most; ++i) {
            const std::size_t part = std::min(message.msg_iov[i].iov_len, most - given);
            std::memcpy(message.msg_iov[i].iov_base, rest_.data(), part);
            rest_ = rest_.subspan(part);
            given += part;
        }
        return static_cast<int>(given);
    }

    std::span<const std::byte> rest_;
    std::minstd_rand random_;
    bool cut_;
    Staged connecting_;
    Staged receiving_;
    Staged sending_;
};

} // namespace mpath::fuzz
