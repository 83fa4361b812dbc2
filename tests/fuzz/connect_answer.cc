// SPDX-License-Identifier: GPL-2.0-only
// What answers ICReq and Connect: a byte of options, a byte HPDA, then the answer.
#include "nvme/connect_answer.h"
#include "nvme/status_text.h"
#include "tests/fuzz/fuzz_input.h"

using namespace mpath;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const auto options = input.take<std::uint8_t>();
    nvme::ConnectRequest request;
    request.subsystem_nqn = "nqn.2014-08.org.example:fuzz";
    request.queue_id = (options & 1) != 0 ? 1 : 0;
    request.controller_id = (options & 1) != 0 ? 7 : nvme::kDynamicController;
    request.pdu.header_digest = (options & 2) != 0;
    request.pdu.data_digest = (options & 4) != 0;
    request.pdu.hpda = input.take<std::uint8_t>() % 32;
    const auto answer = input.rest();
    if (answer.size() < sizeof(nvme::CommonHeader)) {
        return 0;
    }
    nvme::IcResp ic_resp;
    const bool whole_ic_resp = answer.size() >= sizeof ic_resp;
    if (nvme::check_answer_header(answer, nvme::PduType::ic_resp, sizeof ic_resp) && whole_ic_resp) {
        std::memcpy(&ic_resp, answer.data(), sizeof ic_resp);
        if (nvme::check_ic_resp(ic_resp, request.pdu)) {
            fuzz::require(ic_resp.cpda <= nvme::kMaxPduDataAlignment, "CPDA is possible");
            fuzz::require(ic_resp.maxh2cdata >= nvme::kMinMaxH2cData, "MAXH2CDATA is possible");
        }
    }
    const std::size_t response = sizeof(nvme::CapsuleResp) + (request.pdu.header_digest ? 4 : 0);
    if (nvme::check_answer_header(answer, nvme::PduType::capsule_resp, response) &&
        answer.size() >= response) {
        static_cast<void>(nvme::check_connect_resp(answer.first(response), request));
    }
    nvme::TermReq term_req;
    if (answer.size() >= sizeof term_req) {
        std::memcpy(&term_req, answer.data(), sizeof term_req);
        fuzz::require(!nvme::term_req_text(term_req).empty(), "every TermReq has a sentence");
    }
    return 0;
}
