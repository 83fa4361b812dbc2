// SPDX-License-Identifier: GPL-2.0-only
// How a SCSI command ended: a byte status, then sense data.
#include "iscsi/sense.h"
#include "tests/fuzz/fuzz_input.h"

using namespace mpath;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const auto status = input.take<std::uint8_t>();
    const iscsi::Sense sense = iscsi::parse_sense(status, input.rest());
    fuzz::require(sense.status == status, "the status is the one that came");
    fuzz::require(iscsi::unpack(iscsi::pack(sense)) == sense, "what is kept of it is all of it");
    const bool carried_out = iscsi::classify(sense) == ErrorClass::none;
    const bool succeeded = status == iscsi::scsi_status::kGood || status == iscsi::scsi_status::kConditionMet;
    const bool recovered = status == iscsi::scsi_status::kCheckCondition && !sense.deferred &&
                           sense.key == iscsi::sense_key::kRecovered;
    fuzz::require(carried_out == (succeeded || recovered), "nothing else is a success");
    fuzz::require(iscsi::status_text(sense).starts_with("status "), "everything has a text");
    fuzz::require(!iscsi::attention_of(sense).any() || status == iscsi::scsi_status::kCheckCondition,
                  "only a check condition tells news");
    return 0;
}
