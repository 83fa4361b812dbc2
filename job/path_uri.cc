// SPDX-License-Identifier: GPL-2.0-only
#include "job/path_uri.h"

namespace mpath::job {
namespace {

constexpr std::string_view kForms =
    "nvme+tcp://host[:port]/subnqn/nsid or iscsi://[user@]host[:port]/target/lun";

} // namespace

Result<PathUri> parse_path_uri(std::string_view text) {
    if (text.empty()) {
        return failure(EINVAL, "there is no path; write {}", kForms);
    }
    if (text.starts_with("iscsi://")) {
        return iscsi::parse_uri(text);
    }
    if (text.starts_with("/dev/")) {
        return failure(ENOTSUP,
                       "'{}': kernel block devices are not driven by this version; name the target's "
                       "addresses as {}",
                       text, kForms);
    }
    if (text.find("://") == std::string_view::npos) {
        return failure(EINVAL, "'{}' has no scheme; write {}", text, kForms);
    }
    return nvme::parse_uri(text);
}

std::string uri_text(const PathUri& uri) {
    return std::visit([](const auto& one) { return one.text(); }, uri);
}

std::string address_of(const PathUri& uri) {
    return std::visit([](const auto& one) { return one.address(); }, uri);
}

std::string_view protocol_of(const PathUri& uri) {
    return std::holds_alternative<nvme::Uri>(uri) ? "nvme-tcp" : "iscsi";
}

const std::string& target_of(const PathUri& uri) {
    if (const auto* nvme = std::get_if<nvme::Uri>(&uri)) {
        return nvme->subnqn;
    }
    return std::get<iscsi::Uri>(uri).target;
}

} // namespace mpath::job
