// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/status_text.h"

#include <fmt/format.h>
#include <libnvme.h>

namespace mpath::nvme {
namespace {

std::string_view fatal_status_text(std::uint16_t fes) {
    switch (static_cast<FatalStatus>(fes)) {
    case FatalStatus::invalid_header_field:
        return "invalid header field";
    case FatalStatus::sequence_error:
        return "PDU sequence error";
    case FatalStatus::header_digest_error:
        return "header digest error";
    case FatalStatus::data_out_of_range:
        return "data transfer out of range";
    case FatalStatus::data_limit_exceeded:
        return "data transfer limit exceeded";
    case FatalStatus::unsupported_parameter:
        return "unsupported parameter";
    }
    return "unknown reason";
}

} // namespace

std::string status_text(Status status, bool fabrics) {
    const unsigned code = status.field & 0x7ffU;
    const char* words = ::nvme_status_to_string(static_cast<int>(code), fabrics);
    std::string_view meaning = words == nullptr ? "unknown" : words;
    meaning = meaning.substr(0, meaning.find(':')); // what follows is advice for the controller's maker
    return fmt::format("status {:03x}h ({}){}", code, meaning, status.dnr() ? ", do not retry" : "");
}

std::string term_req_text(const TermReq& request) {
    return fmt::format("{} (FES {}, FEI {})", fatal_status_text(request.fes), request.fes.get(),
                       request.fei.get());
}

} // namespace mpath::nvme
