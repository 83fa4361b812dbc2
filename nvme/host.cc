// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/host.h"

#include <cstdlib>
#include <memory>
#include <string_view>

#include <libnvme.h>

#include "nvme/nqn.h"

namespace mpath::nvme {

namespace {

using Uuid = std::array<std::uint8_t, 16>;

constexpr std::size_t kUuidLength = 36;
constexpr std::string_view kUuidNqn = "nqn.2014-08.org.nvmexpress:uuid:";

std::optional<Uuid> parse_uuid(const std::string& text) {
    Uuid uuid{};
    if (text.size() != kUuidLength || nvme_uuid_from_string(text.c_str(), uuid.data()) != 0) {
        return std::nullopt;
    }
    return uuid;
}

std::string uuid_text(Uuid uuid) {
    std::array<char, kUuidLength + 1> text{};
    nvme_uuid_to_string(uuid.data(), text.data());
    return text.data();
}

/// The UUID of an NQN in UUID form.
std::optional<std::string> uuid_in(std::string_view nqn) {
    if (!nqn.starts_with(kUuidNqn)) {
        return std::nullopt;
    }
    return std::string(nqn.substr(kUuidNqn.size()));
}

/// A name and where it comes from, for the sentence when it's bad.
struct Sourced {
    std::string_view source;
    std::string text;
};

Sourced choose_nqn(const HostNames& names) {
    if (names.option_nqn) {
        return {"hostnqn=", *names.option_nqn};
    }
    if (names.file_nqn) {
        return {"/etc/nvme/hostnqn", *names.file_nqn};
    }
    return {"generated host NQN", names.generated_nqn};
}

Sourced choose_id(const HostNames& names, const Sourced& nqn) {
    if (names.option_id) {
        return {"hostid=", *names.option_id};
    }
    const auto derived = uuid_in(nqn.text);
    if (names.option_nqn && derived) {
        return {nqn.source, *derived};
    }
    if (names.file_id) {
        return {"/etc/nvme/hostid", *names.file_id};
    }
    if (derived) {
        return {nqn.source, *derived};
    }
    return {"generated host identifier", names.generated_id};
}

/// What libnvme hands out: a string from malloc(), or nullptr.
std::optional<std::string> take(char* text) {
    const std::unique_ptr<char, decltype(&std::free)> owner(text, &std::free);
    if (text == nullptr || *text == '\0') {
        return std::nullopt;
    }
    return std::string(text);
}

std::string random_uuid() {
    Uuid uuid{};
    return nvme_uuid_random(uuid.data()) == 0 ? uuid_text(uuid) : std::string();
}

std::optional<std::string> from_option(const char* option) {
    return option == nullptr ? std::nullopt : std::optional<std::string>(option);
}

} // namespace

std::string HostIdentity::id_text() const {
    return uuid_text(id);
}

Result<HostIdentity> choose_host_identity(const HostNames& names) {
    const Sourced nqn = choose_nqn(names);
    if (auto good = check_nqn(nqn.text); !good) {
        return failure_in(nqn.source, good.error());
    }
    const Sourced id = choose_id(names, nqn);
    const auto uuid = parse_uuid(id.text);
    if (!uuid) {
        return failure(EINVAL, "{}: '{}' is not a UUID, which a host identifier is written as", id.source,
                       id.text);
    }
    if (*uuid == Uuid{}) {
        return failure(EINVAL, "{}: a host identifier of all zeros is not allowed", id.source);
    }
    return HostIdentity{nqn.text, *uuid};
}

Result<HostIdentity> host_identity(const char* option_nqn, const char* option_id) {
    // From the machine's DMI UUID if there is one, else random.
    static const std::string generated_nqn = take(nvmf_hostnqn_generate()).value_or("");
    static const std::string generated_id = random_uuid();
    return choose_host_identity({.option_nqn = from_option(option_nqn),
                                 .option_id = from_option(option_id),
                                 .file_nqn = take(nvmf_hostnqn_from_file()),
                                 .file_id = take(nvmf_hostid_from_file()),
                                 .generated_nqn = generated_nqn,
                                 .generated_id = generated_id});
}

} // namespace mpath::nvme
