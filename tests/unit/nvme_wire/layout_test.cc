// SPDX-License-Identifier: GPL-2.0-only
// Our structures against those of libnvme: an independent transcription of the same tables.
#include <libnvme.h>

#include <cstddef>

#include <gtest/gtest.h>

#include "nvme/wire/fabrics.h"
#include "nvme/wire/identify.h"
#include "nvme/wire/log_page.h"

namespace mpath::nvme {
namespace {

template <typename T, typename Member>
constexpr std::size_t size_of(Member T::*) {
    return sizeof(Member);
}

#define EXPECT_SAME_FIELD(Ours, our_field, Theirs, their_field)                                              \
    EXPECT_EQ(offsetof(Ours, our_field), offsetof(Theirs, their_field)) << #our_field;                       \
    EXPECT_EQ(size_of(&Ours::our_field), size_of(&Theirs::their_field)) << #our_field

TEST(WireLayout, IdentifyControllerIsThatOfLibnvme) {
    using Theirs = nvme_id_ctrl;
    EXPECT_EQ(sizeof(IdentifyController), sizeof(Theirs));
    EXPECT_SAME_FIELD(IdentifyController, vid, Theirs, vid);
    EXPECT_SAME_FIELD(IdentifyController, ssvid, Theirs, ssvid);
    EXPECT_SAME_FIELD(IdentifyController, serial, Theirs, sn);
    EXPECT_SAME_FIELD(IdentifyController, model, Theirs, mn);
    EXPECT_SAME_FIELD(IdentifyController, firmware, Theirs, fr);
    EXPECT_SAME_FIELD(IdentifyController, ieee, Theirs, ieee);
    EXPECT_SAME_FIELD(IdentifyController, cmic, Theirs, cmic);
    EXPECT_SAME_FIELD(IdentifyController, mdts, Theirs, mdts);
    EXPECT_SAME_FIELD(IdentifyController, cntlid, Theirs, cntlid);
    EXPECT_SAME_FIELD(IdentifyController, version, Theirs, ver);
    EXPECT_SAME_FIELD(IdentifyController, rtd3r, Theirs, rtd3r);
    EXPECT_SAME_FIELD(IdentifyController, rtd3e, Theirs, rtd3e);
    EXPECT_SAME_FIELD(IdentifyController, oaes, Theirs, oaes);
    EXPECT_SAME_FIELD(IdentifyController, ctratt, Theirs, ctratt);
    EXPECT_SAME_FIELD(IdentifyController, controller_type, Theirs, cntrltype);
    EXPECT_SAME_FIELD(IdentifyController, fguid, Theirs, fguid);
    EXPECT_EQ(offsetof(IdentifyController, crdt), offsetof(Theirs, crdt1));
    EXPECT_SAME_FIELD(IdentifyController, oacs, Theirs, oacs);
    EXPECT_SAME_FIELD(IdentifyController, acl, Theirs, acl);
    EXPECT_SAME_FIELD(IdentifyController, aerl, Theirs, aerl);
    EXPECT_SAME_FIELD(IdentifyController, frmw, Theirs, frmw);
    EXPECT_SAME_FIELD(IdentifyController, lpa, Theirs, lpa);
    EXPECT_SAME_FIELD(IdentifyController, elpe, Theirs, elpe);
    EXPECT_SAME_FIELD(IdentifyController, kas, Theirs, kas);
    EXPECT_SAME_FIELD(IdentifyController, anatt, Theirs, anatt);
    EXPECT_SAME_FIELD(IdentifyController, anacap, Theirs, anacap);
    EXPECT_SAME_FIELD(IdentifyController, anagrpmax, Theirs, anagrpmax);
    EXPECT_SAME_FIELD(IdentifyController, nanagrpid, Theirs, nanagrpid);
    EXPECT_SAME_FIELD(IdentifyController, sqes, Theirs, sqes);
    EXPECT_SAME_FIELD(IdentifyController, cqes, Theirs, cqes);
    EXPECT_SAME_FIELD(IdentifyController, maxcmd, Theirs, maxcmd);
    EXPECT_SAME_FIELD(IdentifyController, nn, Theirs, nn);
    EXPECT_SAME_FIELD(IdentifyController, oncs, Theirs, oncs);
    EXPECT_SAME_FIELD(IdentifyController, fuses, Theirs, fuses);
    EXPECT_SAME_FIELD(IdentifyController, fna, Theirs, fna);
    EXPECT_SAME_FIELD(IdentifyController, vwc, Theirs, vwc);
    EXPECT_SAME_FIELD(IdentifyController, sgls, Theirs, sgls);
    EXPECT_SAME_FIELD(IdentifyController, mnan, Theirs, mnan);
    EXPECT_SAME_FIELD(IdentifyController, subnqn, Theirs, subnqn);
    EXPECT_SAME_FIELD(IdentifyController, ioccsz, Theirs, ioccsz);
    EXPECT_SAME_FIELD(IdentifyController, iorcsz, Theirs, iorcsz);
    EXPECT_SAME_FIELD(IdentifyController, icdoff, Theirs, icdoff);
    EXPECT_SAME_FIELD(IdentifyController, fcatt, Theirs, fcatt);
    EXPECT_SAME_FIELD(IdentifyController, msdbd, Theirs, msdbd);
    EXPECT_SAME_FIELD(IdentifyController, ofcs, Theirs, ofcs);
}

TEST(WireLayout, IdentifyNamespaceIsThatOfLibnvme) {
    using Theirs = nvme_id_ns;
    EXPECT_EQ(sizeof(IdentifyNamespace), sizeof(Theirs));
    EXPECT_SAME_FIELD(IdentifyNamespace, nsze, Theirs, nsze);
    EXPECT_SAME_FIELD(IdentifyNamespace, ncap, Theirs, ncap);
    EXPECT_SAME_FIELD(IdentifyNamespace, nuse, Theirs, nuse);
    EXPECT_SAME_FIELD(IdentifyNamespace, nsfeat, Theirs, nsfeat);
    EXPECT_SAME_FIELD(IdentifyNamespace, nlbaf, Theirs, nlbaf);
    EXPECT_SAME_FIELD(IdentifyNamespace, flbas, Theirs, flbas);
    EXPECT_SAME_FIELD(IdentifyNamespace, mc, Theirs, mc);
    EXPECT_SAME_FIELD(IdentifyNamespace, dpc, Theirs, dpc);
    EXPECT_SAME_FIELD(IdentifyNamespace, dps, Theirs, dps);
    EXPECT_SAME_FIELD(IdentifyNamespace, nmic, Theirs, nmic);
    EXPECT_SAME_FIELD(IdentifyNamespace, rescap, Theirs, rescap);
    EXPECT_SAME_FIELD(IdentifyNamespace, fpi, Theirs, fpi);
    EXPECT_SAME_FIELD(IdentifyNamespace, dlfeat, Theirs, dlfeat);
    EXPECT_SAME_FIELD(IdentifyNamespace, noiob, Theirs, noiob);
    EXPECT_SAME_FIELD(IdentifyNamespace, anagrpid, Theirs, anagrpid);
    EXPECT_SAME_FIELD(IdentifyNamespace, npwg, Theirs, npwg);
    EXPECT_SAME_FIELD(IdentifyNamespace, npwa, Theirs, npwa);
    EXPECT_SAME_FIELD(IdentifyNamespace, npdg, Theirs, npdg);
    EXPECT_SAME_FIELD(IdentifyNamespace, npda, Theirs, npda);
    EXPECT_SAME_FIELD(IdentifyNamespace, nows, Theirs, nows);
    EXPECT_SAME_FIELD(IdentifyNamespace, nsattr, Theirs, nsattr);
    EXPECT_SAME_FIELD(IdentifyNamespace, nvmsetid, Theirs, nvmsetid);
    EXPECT_SAME_FIELD(IdentifyNamespace, endgid, Theirs, endgid);
    EXPECT_SAME_FIELD(IdentifyNamespace, nguid, Theirs, nguid);
    EXPECT_SAME_FIELD(IdentifyNamespace, eui64, Theirs, eui64);
    EXPECT_SAME_FIELD(IdentifyNamespace, lbaf, Theirs, lbaf);
    EXPECT_SAME_FIELD(LbaFormat, metadata_size, nvme_lbaf, ms);
    EXPECT_SAME_FIELD(LbaFormat, lbads, nvme_lbaf, ds);
    EXPECT_SAME_FIELD(LbaFormat, rp, nvme_lbaf, rp);
}

TEST(WireLayout, TheOtherIdentifyStructuresAreThoseOfLibnvme) {
    using Independent = nvme_id_independent_id_ns;
    EXPECT_EQ(sizeof(IdentifyIndependentNamespace), sizeof(Independent));
    EXPECT_SAME_FIELD(IdentifyIndependentNamespace, nmic, Independent, nmic);
    EXPECT_SAME_FIELD(IdentifyIndependentNamespace, anagrpid, Independent, anagrpid);
    EXPECT_SAME_FIELD(IdentifyIndependentNamespace, nsattr, Independent, nsattr);
    EXPECT_SAME_FIELD(IdentifyIndependentNamespace, nstat, Independent, nstat);

    EXPECT_EQ(sizeof(IdentifyNvmController), sizeof(nvme_id_ctrl_nvm));
    EXPECT_SAME_FIELD(IdentifyNvmController, wzsl, nvme_id_ctrl_nvm, wzsl);
    EXPECT_SAME_FIELD(IdentifyNvmController, dmrl, nvme_id_ctrl_nvm, dmrl);
    EXPECT_SAME_FIELD(IdentifyNvmController, dmrsl, nvme_id_ctrl_nvm, dmrsl);
    EXPECT_SAME_FIELD(IdentifyNvmController, dmsl, nvme_id_ctrl_nvm, dmsl);

    EXPECT_EQ(sizeof(NamespaceDescriptor), offsetof(nvme_ns_id_desc, nid));
    EXPECT_SAME_FIELD(NamespaceDescriptor, type, nvme_ns_id_desc, nidt);
    EXPECT_SAME_FIELD(NamespaceDescriptor, length, nvme_ns_id_desc, nidl);
}

TEST(WireLayout, LogsAndRangesAreThoseOfLibnvme) {
    EXPECT_EQ(sizeof(AnaLogHeader), sizeof(nvme_ana_log));
    EXPECT_SAME_FIELD(AnaLogHeader, change_count, nvme_ana_log, chgcnt);
    EXPECT_SAME_FIELD(AnaLogHeader, groups, nvme_ana_log, ngrps);
    EXPECT_EQ(sizeof(AnaGroupDescriptor), offsetof(nvme_ana_group_desc, nsids));
    EXPECT_SAME_FIELD(AnaGroupDescriptor, group, nvme_ana_group_desc, grpid);
    EXPECT_SAME_FIELD(AnaGroupDescriptor, nsids, nvme_ana_group_desc, nnsids);
    EXPECT_SAME_FIELD(AnaGroupDescriptor, change_count, nvme_ana_group_desc, chgcnt);
    EXPECT_SAME_FIELD(AnaGroupDescriptor, state, nvme_ana_group_desc, state);

    EXPECT_EQ(sizeof(SmartLog), sizeof(nvme_smart_log));
    EXPECT_SAME_FIELD(SmartLog, temperature, nvme_smart_log, temperature);
    EXPECT_SAME_FIELD(SmartLog, available_spare, nvme_smart_log, avail_spare);
    EXPECT_SAME_FIELD(SmartLog, available_spare_threshold, nvme_smart_log, spare_thresh);
    EXPECT_SAME_FIELD(SmartLog, percentage_used, nvme_smart_log, percent_used);
    EXPECT_EQ(kErrorLogEntrySize, sizeof(nvme_error_log_page));

    EXPECT_EQ(sizeof(DsmRange), sizeof(nvme_dsm_range));
    EXPECT_SAME_FIELD(DsmRange, attributes, nvme_dsm_range, cattr);
    EXPECT_SAME_FIELD(DsmRange, blocks, nvme_dsm_range, nlb);
    EXPECT_SAME_FIELD(DsmRange, slba, nvme_dsm_range, slba);
}

TEST(WireLayout, ConnectDataIsThatOfLibnvme) {
    EXPECT_EQ(sizeof(ConnectData), sizeof(nvmf_connect_data));
    EXPECT_SAME_FIELD(ConnectData, hostid, nvmf_connect_data, hostid);
    EXPECT_SAME_FIELD(ConnectData, cntlid, nvmf_connect_data, cntlid);
    EXPECT_SAME_FIELD(ConnectData, subnqn, nvmf_connect_data, subsysnqn);
    EXPECT_SAME_FIELD(ConnectData, hostnqn, nvmf_connect_data, hostnqn);
}

} // namespace
} // namespace mpath::nvme
