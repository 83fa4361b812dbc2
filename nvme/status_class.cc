// SPDX-License-Identifier: GPL-2.0-only
#include "nvme/status_class.h"

namespace mpath::nvme {

ErrorClass classify(Status status) noexcept {
    if (status.ok()) {
        return ErrorClass::none;
    }
    if (status.sct() == StatusCodeType::path) {
        if (status.dnr()) {
            return ErrorClass::path_error_dnr;
        }
        switch (status.code()) {
        case StatusCode::ana_persistent_loss:
            return ErrorClass::ana_loss;
        case StatusCode::ana_inaccessible:
            return ErrorClass::ana_inaccessible;
        case StatusCode::ana_transition:
            return ErrorClass::ana_transition;
        default:
            return ErrorClass::path_error;
        }
    }
    switch (status.code()) {
    case StatusCode::data_transfer_error:
    case StatusCode::transient_transport_error:
        return ErrorClass::transport_error;
    case StatusCode::abort_requested:
    case StatusCode::aborted_sq_deletion:
        return ErrorClass::aborted;
    case StatusCode::command_interrupted:
    case StatusCode::namespace_not_ready:
        return ErrorClass::busy;
    default:
        return !status.dnr() && status.crd() != 0 ? ErrorClass::busy : ErrorClass::io_error;
    }
}

} // namespace mpath::nvme
