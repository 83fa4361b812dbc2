// SPDX-License-Identifier: GPL-2.0-only
#include "iscsi/login_status.h"

namespace mpath::iscsi {

namespace {

struct StatusRow {
    unsigned status; ///< class and detail
    int code;
    bool final;
    std::string_view text; ///< {0}: the initiator's name, {1}: the target's, {2}: what to do about secrets
};

constexpr StatusRow kLoginStatuses[] = {
    {0x0200, EPROTO, false, "the target says that our login is wrong"},
    {0x0201, EACCES, true, "the target does not believe who we are: {2}"},
    {0x0202, EACCES, false, "{1} does not let initiator {0} in: allow it at the target, or check initiator="},
    {0x0203, ENODEV, false,
     "there is no target {1} here: check its name, and that it is offered at this address and to this "
     "initiator"},
    {0x0204, ENODEV, true, "target {1} was removed from here"},
    {0x0205, ENOTSUP, true, "the target does not speak version 0 of iSCSI, which is the only one we do"},
    {0x0206, EBUSY, false,
     "the target has no room for another connection: lower nr_io_queues, or raise its limit"},
    {0x0207, EPROTO, true, "the target misses something in our login"},
    {0x0208, EPROTO, false, "the target can't have this connection in the session"},
    {0x0209, ENOTSUP, true, "the target does not do sessions of this type"},
    {0x020a, EPROTO, false, "the target says that the session does not exist"},
    {0x020b, EPROTO, false, "the target says that it got something else than a login"},
    {0x0300, EIO, false, "the target has an error of its own: look at its log"},
    {0x0301, EBUSY, false, "the target is there, but can't serve us now"},
    {0x0302, EBUSY, false, "the target is out of resources: end other sessions, or lower nr_io_queues"},
};

std::string_view advice_about_secrets(const LoginParties& parties) {
    if (!parties.with_secret) {
        return "it wants proof, give it chap_user and chap_secret_file";
    }
    return parties.both_ways
               ? "check chap_user, chap_secret_file, and that the target has a secret for us, too"
               : "check chap_user and chap_secret_file";
}

} // namespace

Error login_status(std::uint8_t status_class, std::uint8_t detail, const LoginParties& parties) {
    const unsigned status = static_cast<unsigned>(status_class) << 8 | detail;
    const std::string_view target = parties.target.empty() ? "the portal" : parties.target;
    for (const StatusRow& row : kLoginStatuses) {
        if (row.status == status) {
            const std::string text =
                fmt::format(fmt::runtime(row.text), parties.initiator, target, advice_about_secrets(parties));
            return {row.code, fmt::format("{} (login status {:04x}h)", text, status), row.final};
        }
    }
    return {status_class > status_class::kRedirection + 1 ? EIO : EPROTO,
            fmt::format("the target refuses the login with status {:04x}h", status), false};
}

} // namespace mpath::iscsi
