// SPDX-License-Identifier: GPL-2.0-only
#include "job/path_uri.h"

namespace mpath::job {
namespace {

constexpr std::string_view kForms = "nvme+tcp://host[:port]/subnqn/nsid";

} // namespace

Result<PathUri> parse_path_uri(std::string_view text) {
    if (text.empty()) {
        return failure(EINVAL, "there is no path; write {}", kForms);
    }
    if (text.starts_with("iscsi://")) {
        return failure(ENOTSUP, "'{}': iscsi:// is not spoken by this version, nvme+tcp:// is", text);
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

std::string_view protocol_of(const PathUri& /*uri*/) {
    return "nvme-tcp";
}

const std::string& target_of(const PathUri& uri) {
    return std::get<nvme::Uri>(uri).subnqn;
}

} // namespace mpath::job
