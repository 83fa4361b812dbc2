// SPDX-License-Identifier: GPL-2.0-only
// From nothing to a controller that is live and a namespace that is known. NVM Express Base Specification,
// "Controller Initialization" and, for the order over a fabric, "Fabrics Command Set".
#include <algorithm>
#include <cstring>
#include <limits>

#include "nvme/admin_command.h"
#include "nvme/controller.h"
#include "nvme/controller_enable.h"
#include "nvme/wire/status.h"

namespace mpath::nvme {
namespace {

/// VS from which on a controller refuses a CNS it does not know instead of misreading it: Linux asks from
/// here on, too.
constexpr std::uint32_t kVersionOfCns = 0x00010100;
constexpr std::uint16_t kMaxQueueSize = 4096; ///< of QueueParameters
constexpr std::uint32_t kAnaPiece = 64 * 1024;
constexpr std::size_t kListed = 16; ///< NSIDs named when ours is not among them
constexpr std::uint32_t kEventsWanted = async_event::kAnaChange | async_event::kNamespaceAttribute;

template <typename T>
std::span<std::byte> writable(T& value) {
    return std::as_writable_bytes(std::span(&value, 1));
}

tl::unexpected<Error> unexpected(const Error& error) {
    return tl::unexpected<Error>(error);
}

std::string list_text(const std::vector<std::uint32_t>& nsids) {
    if (nsids.empty()) {
        return "none";
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(nsids.size(), kListed); ++i) {
        text += fmt::format("{}{}", i == 0 ? "" : ", ", nsids[i]);
    }
    return nsids.size() > kListed ? text + ", …" : text;
}

/// When the controller must have noticed that an association is lost, and have done with its commands: three
/// keep-alive timeouts where any traffic counts as a sign of life, otherwise two, and the time it asks for
/// (NVM Express TP4129).
Nanoseconds quiet_after_loss(const ControllerFacts& facts) {
    const Nanoseconds timeout = facts.keep_alive_ms * kMillisecond;
    return timeout == 0 ? 0 : timeout * (facts.traffic_based_keep_alive ? 3 : 2) + facts.command_quiesce_time;
}

} // namespace

net::Task<Result<void>> Controller::bring_up(Nanoseconds deadline) {
    const Result<void> connected = co_await connect_admin(deadline);
    if (!connected) {
        co_return unexpected(connected.error()); // names the address itself
    }
    const net::Cancellation::Hook hook(cancellation_, [this] {
        admin_->fail({ECANCELED, "connecting was given up"});
    });
    const Result<void> prepared = co_await prepare(deadline);
    if (!prepared) {
        co_return failure_in(facts_.address, prepared.error());
    }
    set_state(ControllerState::live);
    co_return Result<void>{};
}

net::Task<Result<void>> Controller::connect_admin(Nanoseconds deadline) {
    ConnectRequest request;
    request.subsystem_nqn = uri_.subnqn;
    request.host = options_.host;
    request.queue_size = kAdminQueueSize;
    request.keep_alive_ms = options_.keep_alive_ms;
    request.socket = options_.socket;
    request.pdu = options_.pdu;
    request.silence = silence_limit();
    request.cancellation = cancellation_;
    Result<ConnectedQueue> queue = co_await connect_queue(reactor_, addresses_, request, deadline);
    if (!queue) {
        co_return unexpected(queue.error());
    }
    facts_.address = queue->address;
    facts_.local_address = queue->local_address;
    facts_.controller_id = queue->controller_id;
    facts_.max_h2c_data = queue->parameters.max_h2c_data;
    facts_.cpda = queue->parameters.cpda;
    facts_.pdu = queue->parameters.pdu;
    facts_.keep_alive_ms = options_.keep_alive_ms;
    // I/O queues belong to the same port of the controller.
    std::erase_if(addresses_,
                  [this](const net::SocketAddress& address) { return address.text() != facts_.address; });
    admin_ = std::make_unique<AdminQueue>(reactor_, std::move(*queue),
                                          [this](const Error& error) { queue_closed(error); });
    co_return Result<void>{};
}

net::Task<Result<void>> Controller::prepare(Nanoseconds deadline) {
    set_state(ControllerState::enabling);
    Result<void> result = co_await enable(deadline);
    if (result) {
        set_state(ControllerState::identifying);
        result = co_await identify_controller(deadline);
    }
    if (result) {
        result = co_await configure(deadline);
    }
    if (result) {
        result = co_await find_namespace(deadline);
    }
    if (!result) {
        co_return result;
    }
    Result<NamespaceLook> look = co_await identify_namespace(deadline);
    if (!look) {
        co_return unexpected(look.error());
    }
    facts_.nsid = uri_.nsid;
    facts_.limits = look->facts.limits;
    facts_.group = look->facts.ana_group;
    facts_.identity = std::move(look->identity);
    if (facts_.reports_state) {
        const Result<PathState> state = co_await read_path_state(deadline);
        if (!state) {
            co_return unexpected(state.error());
        }
        path_state_ = facts_.state = *state;
    }
    facts_.quiet_after_loss = quiet_after_loss(facts_);
    co_return Result<void>{};
}

net::Task<Result<void>> Controller::enable(Nanoseconds deadline) {
    const Result<EnabledController> enabled = co_await enable_controller(*admin_, CommandSet::nvm, deadline);
    if (!enabled) {
        co_return unexpected(enabled.error());
    }
    capabilities_ = enabled->capabilities;
    facts_.version = enabled->version;
    configuration_ = enabled->configuration;
    co_return Result<void>{};
}

net::Task<Result<void>> Controller::identify_controller(Nanoseconds deadline) {
    IdentifyController data;
    const Sqe sqe = identify(cns::kController, 0);
    const Result<Completion> done =
        co_await admin_->succeed(sqe, Transfer::to_host, writable(data), deadline, "Identify Controller");
    if (!done) {
        co_return unexpected(done.error());
    }
    Result<ControllerIdentity> identity = decode_controller(data, capabilities_);
    if (!identity) {
        co_return unexpected(identity.error());
    }
    identity_ = std::move(*identity);
    if (options_.keep_alive_ms != 0 && identity_.keep_alive_granularity == 0) {
        co_return failure(ENOTSUP,
                          "the controller does not support keep-alive (KAS 0), without which a lost path "
                          "goes unnoticed: set keep_alive_tmo=0 to do without");
    }
    if (facts_.version >= kVersionOfCns) {
        IdentifyNvmController nvm;
        const Sqe identify_nvm = identify(cns::kCommandSetController, 0);
        const Result<Completion> limits = co_await admin_->execute(
            identify_nvm, Transfer::to_host, writable(nvm), deadline, "Identify (NVM command set)");
        if (!limits) {
            co_return unexpected(limits.error());
        }
        if (limits->status.ok()) { // what a controller does not say is no limit
            add_nvm_limits(identity_, nvm, capabilities_);
        }
    }
    facts_.model = identity_.model;
    facts_.mdts = identity_.mdts;
    facts_.reports_state = identity_.ana_reporting;
    facts_.anatt_seconds = identity_.anatt_seconds;
    facts_.in_capsule = identity_.in_capsule;
    facts_.keep_alive_granularity_ms =
        static_cast<std::uint32_t>(identity_.keep_alive_granularity / kMillisecond);
    facts_.traffic_based_keep_alive = identity_.traffic_based_keep_alive;
    facts_.retry_delays = identity_.retry_delays;
    facts_.command_quiesce_time = identity_.command_quiesce_time;
    facts_.max_queue_entries = static_cast<std::uint16_t>(std::min(capabilities_.mqes() + 1, 0xffff));
    facts_.max_commands = identity_.max_commands;
    if (options_.keep_alive_ms != 0) {
        const Nanoseconds timeout = options_.keep_alive_ms * kMillisecond;
        keep_alive_ = std::make_unique<KeepAlive>(
            *admin_, timeout, keep_alive_period(timeout, identity_.traffic_based_keep_alive));
    }
    co_return Result<void>{};
}

/// Number of queues, and which events to send.
net::Task<Result<void>> Controller::configure(Nanoseconds deadline) {
    const std::uint32_t wanted = options_.io_queues - 1U;
    const Sqe set_queues = set_features(feature::kNumberOfQueues, wanted | (wanted << 16));
    const Result<Completion> queues =
        co_await admin_->succeed(set_queues, Transfer::none, {}, deadline, "Set Features (Number of Queues)");
    if (!queues) {
        co_return unexpected(queues.error());
    }
    const std::uint32_t allowed = std::min(queues->dw0 & 0xffff, queues->dw0 >> 16) + 1;
    facts_.io_queues_asked = options_.io_queues;
    facts_.io_queues_allowed = static_cast<std::uint16_t>(std::min(allowed, 0xffffU));
    facts_.io_queues = std::min(facts_.io_queues_asked, facts_.io_queues_allowed);
    facts_.queue_size_asked = options_.queue_size;
    facts_.queue_size = std::min({options_.queue_size, facts_.max_queue_entries, kMaxQueueSize});
    if (facts_.max_commands != 0) {
        facts_.queue_size = std::min(facts_.queue_size, facts_.max_commands);
    }
    facts_.queue_size = std::max<std::uint16_t>(facts_.queue_size, 2);

    const std::uint32_t events = identity_.events & kEventsWanted;
    if (events != 0) {
        const Sqe set_events = set_features(feature::kAsyncEventConfiguration, events);
        const Result<Completion> done = co_await admin_->execute(set_events, Transfer::none, {}, deadline,
                                                                 "Set Features (Async Event Configuration)");
        if (!done) {
            co_return unexpected(done.error());
        }
        facts_.events = done->status.ok() ? events : 0;
    }
    if (identity_.retry_delays[0] != 0) {
        // Without it a controller may not say how long to wait; one that refuses says nothing, and that is
        // fine.
        HostBehavior behavior{.acre = 1};
        const Sqe set_behavior = set_features(feature::kHostBehaviorSupport, 0);
        const Result<Completion> done =
            co_await admin_->execute(set_behavior, Transfer::to_controller, writable(behavior), deadline,
                                     "Set Features (Host Behavior Support)");
        if (!done) {
            co_return unexpected(done.error());
        }
    }
    co_return Result<void>{};
}

/// The list of active namespaces from ours on must begin with ours.
net::Task<Result<void>> Controller::find_namespace(Nanoseconds deadline) {
    std::array<std::byte, kIdentifySize> list{};
    const Sqe from_ours = identify(cns::kActiveNamespaces, uri_.nsid - 1);
    const Result<Completion> done = co_await admin_->succeed(from_ours, Transfer::to_host, list, deadline,
                                                             "Identify (active namespaces)");
    if (!done) {
        co_return unexpected(done.error());
    }
    const std::vector<std::uint32_t> found = decode_namespace_list(list);
    if (!found.empty() && found.front() == uri_.nsid) {
        co_return Result<void>{};
    }
    const Sqe from_first = identify(cns::kActiveNamespaces, 0);
    const Result<Completion> all = co_await admin_->succeed(from_first, Transfer::to_host, list, deadline,
                                                            "Identify (active namespaces)");
    if (!all) {
        co_return unexpected(all.error());
    }
    co_return failure(ENODEV, "subsystem {} shows this host no namespace {}; there are: {}", uri_.subnqn,
                      uri_.nsid, list_text(decode_namespace_list(list)));
}

net::Task<Result<Controller::NamespaceLook>> Controller::identify_namespace(Nanoseconds deadline) {
    IdentifyNamespace data;
    const Sqe identify_ns = identify(cns::kNamespace, uri_.nsid);
    const Result<Completion> done = co_await admin_->succeed(identify_ns, Transfer::to_host, writable(data),
                                                             deadline, "Identify Namespace");
    if (!done) {
        co_return unexpected(done.error());
    }
    const Result<NamespaceFacts> facts = decode_namespace(data, uri_.nsid, identity_);
    if (!facts) {
        co_return unexpected(facts.error());
    }
    NamespaceLook look;
    look.facts = *facts;
    look.facts.ana_group = identity_.ana_reporting ? facts->ana_group : 0;

    // Controllers before NVMe 1.3 do not know the list; what they do not answer is as good as empty.
    std::array<std::byte, kIdentifySize> list{};
    const Sqe descriptors = identify(cns::kNamespaceDescriptors, uri_.nsid);
    const Result<Completion> listed = co_await admin_->execute(descriptors, Transfer::to_host, list, deadline,
                                                               "Identify (namespace descriptors)");
    if (!listed) {
        co_return unexpected(listed.error());
    }
    if (!listed->status.ok()) {
        list.fill(std::byte{0});
    }
    Result<DeviceIdentity> identity = decode_identity(list, data, uri_.nsid);
    if (!identity) {
        co_return unexpected(identity.error());
    }
    look.identity = std::move(*identity);
    co_return look;
}

net::Task<Result<PathState>> Controller::read_path_state(Nanoseconds deadline) {
    if (!ana_) {
        const std::uint64_t expected = sizeof(AnaLogHeader) +
                                       std::uint64_t{identity_.ana_groups} * sizeof(AnaGroupDescriptor) +
                                       std::uint64_t{identity_.namespaces} * sizeof(Le32);
        const std::uint64_t piece = identity_.mdts == 0 ? kAnaPiece : identity_.mdts;
        const AnaLimits limits{identity_.max_ana_group, identity_.namespaces};
        ana_ = std::make_unique<AnaReader>(*admin_, limits, piece, expected);
    }
    const Result<AnaLog> log = co_await ana_->read(deadline);
    if (!log) {
        statistics_.ana_logs_refused += admin_->closing() ? 0 : 1;
        co_return unexpected(log.error());
    }
    const AnaGroup* group = log->group_of(uri_.nsid, facts_.group);
    if (group == nullptr) {
        ++statistics_.ana_logs_refused;
        co_return failure(EPROTO, "the ANA log does not say to which group namespace {} belongs", uri_.nsid);
    }
    ++statistics_.ana_logs_read;
    facts_.group = group->id;
    co_return group->state;
}

} // namespace mpath::nvme
