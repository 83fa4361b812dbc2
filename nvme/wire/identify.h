// SPDX-License-Identifier: GPL-2.0-only
// Identify data. NVM Express Base Specification, "Identify command"; NVM Command Set Specification for the
// namespace. Fields nobody here reads or fills are left in the reserved arrays.
#pragma once

#include <array>
#include <cstdint>

#include "base/endian.h"
#include "base/layout.h"

namespace mpath::nvme {

inline constexpr std::uint32_t kIdentifySize = 4096;

/// Identify cdw10 bits 7:0; bits 31:16 are a controller ID.
namespace cns {
inline constexpr std::uint8_t kNamespace = 0x00;
inline constexpr std::uint8_t kController = 0x01;
inline constexpr std::uint8_t kActiveNamespaces = 0x02; ///< up to 1024 le32 NSIDs above the command's NSID
inline constexpr std::uint8_t kNamespaceDescriptors = 0x03;
inline constexpr std::uint8_t kCommandSetController = 0x06;
inline constexpr std::uint8_t kIndependentNamespace = 0x08;
} // namespace cns

namespace cmic {
inline constexpr std::uint8_t kMultiPort = 1U << 0;
inline constexpr std::uint8_t kMultiController = 1U << 1;
inline constexpr std::uint8_t kAnaReporting = 1U << 3;
} // namespace cmic

/// Asynchronous events: bits of Identify OAES and of the Async Event Configuration feature alike.
namespace async_event {
inline constexpr std::uint32_t kNamespaceAttribute = 1U << 8;
inline constexpr std::uint32_t kAnaChange = 1U << 11;
inline constexpr std::uint32_t kDiscoveryLogChange = 1U << 31;
} // namespace async_event

namespace ctratt {
inline constexpr std::uint32_t kHostId128 = 1U << 0;
inline constexpr std::uint32_t kTrafficBasedKeepAlive = 1U << 6;
} // namespace ctratt

namespace anacap {
inline constexpr std::uint8_t kOptimized = 1U << 0;
inline constexpr std::uint8_t kNonOptimized = 1U << 1;
inline constexpr std::uint8_t kInaccessible = 1U << 2;
inline constexpr std::uint8_t kPersistentLoss = 1U << 3;
inline constexpr std::uint8_t kChange = 1U << 4;
inline constexpr std::uint8_t kGroupIdFixed = 1U << 6;   ///< never changes while the namespace is attached
inline constexpr std::uint8_t kGroupIdNonZero = 1U << 7; ///< Identify Namespace reports ANAGRPID
} // namespace anacap

namespace oncs {
inline constexpr std::uint16_t kDatasetManagement = 1U << 2;
inline constexpr std::uint16_t kWriteZeroes = 1U << 3;
} // namespace oncs

inline constexpr std::uint8_t kVwcPresent = 1U << 0;
inline constexpr std::uint32_t kSglsSupported = 1U << 0;        ///< bits 1:0 = 01b: no alignment asked for
inline constexpr std::uint32_t kSglsOffsetInCapsule = 1U << 20; ///< addresses may be capsule offsets
inline constexpr std::uint32_t kSglsTransportDataBlock = 1U << 21;

struct IdentifyController {
    Le16 vid;
    Le16 ssvid;
    std::array<char, 20> serial{};  ///< padded with blanks
    std::array<char, 40> model{};   ///< padded with blanks
    std::array<char, 8> firmware{}; ///< padded with blanks
    std::uint8_t rab = 0;
    std::array<std::uint8_t, 3> ieee{};
    std::uint8_t cmic = 0;
    std::uint8_t mdts = 0; ///< log2 of the transfer limit in units of Capabilities::min_page_size(); 0 = none
    Le16 cntlid;
    Le32 version;
    Le32 rtd3r; ///< microseconds
    Le32 rtd3e; ///< microseconds: how long an orderly shutdown may take; 0 = not said
    Le32 oaes;
    Le32 ctratt;
    std::array<std::uint8_t, 11> reserved100{};
    std::uint8_t controller_type = 0; ///< 1 I/O, 2 discovery, 3 administrative
    std::array<std::uint8_t, 16> fguid{};
    std::array<Le16, 3> crdt{}; ///< CRDT1..3: units of 100 ms
    std::array<std::uint8_t, 122> reserved134{};
    Le16 oacs;
    std::uint8_t acl = 0;  ///< 0's based
    std::uint8_t aerl = 0; ///< outstanding Async Event Requests, 0's based
    std::uint8_t frmw = 0;
    std::uint8_t lpa = 0;
    std::uint8_t elpe = 0; ///< 0's based
    std::array<std::uint8_t, 57> reserved263{};
    Le16 kas; ///< granularity of the keep-alive timer: units of 100 ms; 0 = not supported
    std::array<std::uint8_t, 20> reserved322{};
    std::uint8_t anatt = 0; ///< seconds a group may stay in the change state
    std::uint8_t anacap = 0;
    Le32 anagrpmax;
    Le32 nanagrpid;
    std::array<std::uint8_t, 34> reserved352{};
    Le16 cqt; ///< milliseconds until the commands of an association that ended have no effect; 0 = not said
    std::array<std::uint8_t, 124> reserved388{};
    std::uint8_t sqes = 0; ///< bits 3:0 required, 7:4 maximum: log2 of the entry size
    std::uint8_t cqes = 0;
    Le16 maxcmd; ///< commands outstanding per queue; 0 = queue size
    Le32 nn;
    Le16 oncs;
    Le16 fuses;
    std::uint8_t fna = 0;
    std::uint8_t vwc = 0;
    std::array<std::uint8_t, 10> reserved526{};
    Le32 sgls;
    Le32 mnan;
    std::array<std::uint8_t, 224> reserved544{};
    std::array<char, 256> subnqn{}; ///< ends with NUL
    std::array<std::uint8_t, 768> reserved1024{};
    Le32 ioccsz; ///< I/O command capsule, units of 16 bytes: SQE and in-capsule data
    Le32 iorcsz; ///< I/O response capsule, units of 16 bytes
    Le16 icdoff; ///< start of in-capsule data behind the SQE, units of 16 bytes
    std::uint8_t fcatt = 0;
    std::uint8_t msdbd = 0;
    Le16 ofcs; ///< bit 0: Disconnect supported
    std::array<std::uint8_t, 242> reserved1806{};
    std::array<std::uint8_t, 2048> reserved2048{};
};
MPATH_SIZE(IdentifyController, kIdentifySize);
MPATH_AT(IdentifyController, vid, 0);
MPATH_AT(IdentifyController, ssvid, 2);
MPATH_AT(IdentifyController, serial, 4);
MPATH_AT(IdentifyController, model, 24);
MPATH_AT(IdentifyController, firmware, 64);
MPATH_AT(IdentifyController, rab, 72);
MPATH_AT(IdentifyController, ieee, 73);
MPATH_AT(IdentifyController, cmic, 76);
MPATH_AT(IdentifyController, mdts, 77);
MPATH_AT(IdentifyController, cntlid, 78);
MPATH_AT(IdentifyController, version, 80);
MPATH_AT(IdentifyController, rtd3r, 84);
MPATH_AT(IdentifyController, rtd3e, 88);
MPATH_AT(IdentifyController, oaes, 92);
MPATH_AT(IdentifyController, ctratt, 96);
MPATH_AT(IdentifyController, controller_type, 111);
MPATH_AT(IdentifyController, fguid, 112);
MPATH_AT(IdentifyController, crdt, 128);
MPATH_AT(IdentifyController, cqt, 386);
MPATH_AT(IdentifyController, oacs, 256);
MPATH_AT(IdentifyController, acl, 258);
MPATH_AT(IdentifyController, aerl, 259);
MPATH_AT(IdentifyController, frmw, 260);
MPATH_AT(IdentifyController, lpa, 261);
MPATH_AT(IdentifyController, elpe, 262);
MPATH_AT(IdentifyController, kas, 320);
MPATH_AT(IdentifyController, anatt, 342);
MPATH_AT(IdentifyController, anacap, 343);
MPATH_AT(IdentifyController, anagrpmax, 344);
MPATH_AT(IdentifyController, nanagrpid, 348);
MPATH_AT(IdentifyController, sqes, 512);
MPATH_AT(IdentifyController, cqes, 513);
MPATH_AT(IdentifyController, maxcmd, 514);
MPATH_AT(IdentifyController, nn, 516);
MPATH_AT(IdentifyController, oncs, 520);
MPATH_AT(IdentifyController, fuses, 522);
MPATH_AT(IdentifyController, fna, 524);
MPATH_AT(IdentifyController, vwc, 525);
MPATH_AT(IdentifyController, sgls, 536);
MPATH_AT(IdentifyController, mnan, 540);
MPATH_AT(IdentifyController, subnqn, 768);
MPATH_AT(IdentifyController, ioccsz, 1792);
MPATH_AT(IdentifyController, iorcsz, 1796);
MPATH_AT(IdentifyController, icdoff, 1800);
MPATH_AT(IdentifyController, fcatt, 1802);
MPATH_AT(IdentifyController, msdbd, 1803);
MPATH_AT(IdentifyController, ofcs, 1804);

struct LbaFormat {
    Le16 metadata_size;     ///< bytes per block
    std::uint8_t lbads = 0; ///< log2 of the block size
    std::uint8_t rp = 0;
};
MPATH_SIZE(LbaFormat, 4);
MPATH_AT(LbaFormat, metadata_size, 0);
MPATH_AT(LbaFormat, lbads, 2);
MPATH_AT(LbaFormat, rp, 3);

inline constexpr std::uint8_t kNsfeatPreferences = 1U << 4; ///< OPTPERF: NPWG to NOWS are valid
inline constexpr std::uint8_t kNmicShared = 1U << 0;
inline constexpr std::uint8_t kNsattrWriteProtected = 1U << 0;
inline constexpr std::uint8_t kDlfeatReadsZeroes = 0x01; ///< deallocated blocks read as zeroes

struct IdentifyNamespace {
    Le64 nsze; ///< blocks
    Le64 ncap; ///< blocks
    Le64 nuse; ///< blocks
    std::uint8_t nsfeat = 0;
    std::uint8_t nlbaf = 0; ///< formats, 0's based
    std::uint8_t flbas = 0; ///< index of the format in use: bits 3:0, and above them bits 6:5
    std::uint8_t mc = 0;
    std::uint8_t dpc = 0;
    std::uint8_t dps = 0; ///< bits 2:0: protection information type in use, 0 = none
    std::uint8_t nmic = 0;
    std::uint8_t rescap = 0;
    std::uint8_t fpi = 0;
    std::uint8_t dlfeat = 0;
    std::array<std::uint8_t, 12> reserved34{};
    Le16 noiob; ///< blocks of the optimal I/O boundary; 0 = none
    std::array<std::uint8_t, 16> reserved48{};
    Le16 npwg; ///< preferred granularity of writes: blocks, 0's based
    Le16 npwa; ///< and their alignment
    Le16 npdg; ///< preferred granularity of deallocation: blocks, 0's based
    Le16 npda; ///< and its alignment
    Le16 nows; ///< optimal size of writes: blocks, 0's based
    std::array<std::uint8_t, 18> reserved74{};
    Le32 anagrpid;
    std::array<std::uint8_t, 3> reserved96{};
    std::uint8_t nsattr = 0;
    Le16 nvmsetid;
    Le16 endgid;
    std::array<std::uint8_t, 16> nguid{}; ///< big-endian; all zero = none
    std::array<std::uint8_t, 8> eui64{};  ///< big-endian; all zero = none
    std::array<LbaFormat, 64> lbaf{};
    std::array<std::uint8_t, 3712> reserved384{};

    /// Index into lbaf of the format in use.
    [[nodiscard]] constexpr unsigned format_in_use() const {
        return (flbas & 0x0fU) | ((flbas & 0x60U) >> 1);
    }
};
MPATH_SIZE(IdentifyNamespace, kIdentifySize);
MPATH_AT(IdentifyNamespace, nsze, 0);
MPATH_AT(IdentifyNamespace, ncap, 8);
MPATH_AT(IdentifyNamespace, nuse, 16);
MPATH_AT(IdentifyNamespace, nsfeat, 24);
MPATH_AT(IdentifyNamespace, nlbaf, 25);
MPATH_AT(IdentifyNamespace, flbas, 26);
MPATH_AT(IdentifyNamespace, mc, 27);
MPATH_AT(IdentifyNamespace, dpc, 28);
MPATH_AT(IdentifyNamespace, dps, 29);
MPATH_AT(IdentifyNamespace, nmic, 30);
MPATH_AT(IdentifyNamespace, rescap, 31);
MPATH_AT(IdentifyNamespace, fpi, 32);
MPATH_AT(IdentifyNamespace, dlfeat, 33);
MPATH_AT(IdentifyNamespace, noiob, 46);
MPATH_AT(IdentifyNamespace, npwg, 64);
MPATH_AT(IdentifyNamespace, npwa, 66);
MPATH_AT(IdentifyNamespace, npdg, 68);
MPATH_AT(IdentifyNamespace, npda, 70);
MPATH_AT(IdentifyNamespace, nows, 72);
MPATH_AT(IdentifyNamespace, anagrpid, 92);
MPATH_AT(IdentifyNamespace, nsattr, 99);
MPATH_AT(IdentifyNamespace, nvmsetid, 100);
MPATH_AT(IdentifyNamespace, endgid, 102);
MPATH_AT(IdentifyNamespace, nguid, 104);
MPATH_AT(IdentifyNamespace, eui64, 120);
MPATH_AT(IdentifyNamespace, lbaf, 128);

enum class NamespaceIdType : std::uint8_t { eui64 = 1, nguid = 2, uuid = 3, command_set = 4 };

/// Header of an entry of the descriptor list; `length` bytes of the identifier follow. A list ends with a
/// length of 0 or with its 4096 bytes.
struct NamespaceDescriptor {
    std::uint8_t type = 0; ///< NamespaceIdType
    std::uint8_t length = 0;
    std::array<std::uint8_t, 2> reserved2{};
};
MPATH_SIZE(NamespaceDescriptor, 4);
MPATH_AT(NamespaceDescriptor, type, 0);
MPATH_AT(NamespaceDescriptor, length, 1);
MPATH_AT(NamespaceDescriptor, reserved2, 2);

/// CNS 08h.
struct IdentifyIndependentNamespace {
    std::uint8_t nsfeat = 0;
    std::uint8_t nmic = 0;
    std::uint8_t rescap = 0;
    std::uint8_t fpi = 0;
    Le32 anagrpid;
    std::uint8_t nsattr = 0;
    std::uint8_t reserved9 = 0;
    Le16 nvmsetid;
    Le16 endgid;
    std::uint8_t nstat = 0; ///< bit 0: ready
    std::array<std::uint8_t, 4081> reserved15{};
};
MPATH_SIZE(IdentifyIndependentNamespace, kIdentifySize);
MPATH_AT(IdentifyIndependentNamespace, nsfeat, 0);
MPATH_AT(IdentifyIndependentNamespace, nmic, 1);
MPATH_AT(IdentifyIndependentNamespace, rescap, 2);
MPATH_AT(IdentifyIndependentNamespace, fpi, 3);
MPATH_AT(IdentifyIndependentNamespace, anagrpid, 4);
MPATH_AT(IdentifyIndependentNamespace, nsattr, 8);
MPATH_AT(IdentifyIndependentNamespace, nvmsetid, 10);
MPATH_AT(IdentifyIndependentNamespace, endgid, 12);
MPATH_AT(IdentifyIndependentNamespace, nstat, 14);

/// CNS 06h with the NVM command set.
struct IdentifyNvmController {
    std::uint8_t vsl = 0;
    std::uint8_t wzsl = 0; ///< Write Zeroes limit, as MDTS
    std::uint8_t wusl = 0;
    std::uint8_t dmrl = 0; ///< ranges of one Dataset Management command; 0 = no limit said
    Le32 dmrsl;            ///< blocks of one range; 0 = no limit said
    Le64 dmsl;             ///< blocks of one command; 0 = no limit said
    std::array<std::uint8_t, 4080> reserved16{};
};
MPATH_SIZE(IdentifyNvmController, kIdentifySize);
MPATH_AT(IdentifyNvmController, vsl, 0);
MPATH_AT(IdentifyNvmController, wzsl, 1);
MPATH_AT(IdentifyNvmController, wusl, 2);
MPATH_AT(IdentifyNvmController, dmrl, 3);
MPATH_AT(IdentifyNvmController, dmrsl, 4);
MPATH_AT(IdentifyNvmController, dmsl, 8);

} // namespace mpath::nvme
