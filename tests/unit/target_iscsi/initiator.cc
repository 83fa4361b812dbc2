// SPDX-License-Identifier: GPL-2.0-only
#include "initiator.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/crc32c.h"

namespace mpath::target::scsi {

Bytes pattern(std::size_t length, unsigned seed) {
    Bytes bytes(length);
    for (std::size_t i = 0; i < length; ++i) {
        bytes[i] = static_cast<std::byte>(1 + (i * 7 + i / 251 + seed * 31) % 255);
    }
    return bytes;
}

Options Bench::small() {
    Options options;
    options.size = 4 << 20;
    options.block_size = 512;
    options.device_id = "bench";
    options.iscsi.power_on_attention = false;
    return options;
}

Bench::Bench(Options options) {
    options.listeners = {*parse_listener("127.0.0.1:3260,name=a", Protocol::iscsi),
                         *parse_listener("127.0.0.2:3260,name=b", Protocol::iscsi),
                         *parse_listener("127.0.0.1:0,name=n")};
    auto fine = checked(options);
    EXPECT_TRUE(fine) << (fine ? "" : fine.error().text);
    subsystem = *Subsystem::create(*fine);
    node = std::make_unique<Node>(*subsystem);
    std::vector<Listener*> known = {&a, &b, &nvme};
    for (std::size_t i = 0; i < known.size(); ++i) {
        known[i]->options = fine->listeners[i];
        known[i]->address = fmt::format("{}:{}", known[i]->options.address, known[i]->options.port);
        context_.listeners.push_back(known[i]->options.name);
        context_.protocols.push_back(known[i]->options.protocol);
    }
    node->add_portal(a);
    node->add_portal(b);
    context_.groups = subsystem->group_count();
    context_.block_size = options.block_size;
    context_.most_bytes = options.size * Namespace::kGrowth;
    injector_ = std::make_unique<FaultInjector>(*subsystem, known, static_cast<Premises&>(*this));
    script_ = std::make_unique<ScriptRunner>(*injector_, 1);
}

void Bench::play(std::string_view text) {
    const auto statements = parse_script(text, "test", context_);
    ASSERT_TRUE(statements) << statements.error().text;
    script_->load(*statements, now);
    subsystem->observer = script_->watches_commands() ? script_.get() : nullptr;
}

std::string Bench::refusal(std::string_view text) const {
    const auto statements = parse_script(text, "test", context_);
    return statements ? "" : statements.error().text;
}

void Bench::wait(Nanoseconds time) {
    now += time;
    script_->run(now);
    subsystem->observer = script_->watches_commands() ? script_.get() : nullptr;
    subsystem->late_writes().run(now);
}

void Bench::each_connection(const std::function<void(ServedConnection&)>& visit) {
    for (Initiator* initiator : initiators_) {
        if (!initiator->connection().closed()) {
            visit(initiator->connection());
        }
    }
}

void Bench::take_connects(Listener& /*changed*/, bool taken) {
    connects.push_back(taken);
}

std::string Pdu::text() const {
    return {reinterpret_cast<const char*>(data.data()), data.size()};
}

KeyValues Pdu::keys() const {
    const auto parsed = parse_text(text());
    EXPECT_TRUE(parsed);
    return parsed.value_or(KeyValues{});
}

std::string Ended::sense() const {
    return fmt::format("{:x}/{:02x}/{:02x}", key, asc, ascq);
}

Initiator::Initiator(Bench& bench, Listener& portal) : bench_(bench) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    socket_.reset(ends[0]);
    connection_ = std::make_unique<Connection>(UniqueFd(ends[1]), *bench.node, portal);
    bench.reaches(*this);
}

void Initiator::pump() {
    if (!connection_->closed()) {
        connection_->on_writable();
        connection_->on_readable(bench_.now);
        if (connection_->next_due() <= bench_.now) {
            connection_->on_timer(bench_.now);
        }
    }
    std::array<std::byte, 65536> buffer;
    for (;;) {
        const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (count <= 0) {
            at_end_ = at_end_ || count == 0 || errno == ECONNRESET;
            return;
        }
        received_.insert(received_.end(), buffer.begin(), buffer.begin() + count);
    }
}

void Initiator::send(std::span<const std::byte> bytes) {
    while (!bytes.empty() && !connection_->closed()) {
        const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(count));
        }
        pump();
    }
}

Bytes Initiator::sealed(iscsi::Bhs header, std::span<const std::byte> data) const {
    Bytes bytes(sizeof(header));
    std::memcpy(bytes.data(), &header, sizeof(header));
    const auto append = [&bytes](std::span<const std::byte> more) {
        bytes.insert(bytes.end(), more.begin(), more.end());
    };
    if (header_digest) {
        const Le32 digest(crc32c(bytes));
        append(std::as_bytes(std::span(&digest, 1)));
    }
    if (!data.empty()) {
        Bytes filled(data.begin(), data.end());
        filled.resize(iscsi::padded(static_cast<std::uint32_t>(filled.size())));
        append(filled);
        if (data_digest) {
            const Le32 digest(crc32c(filled));
            append(std::as_bytes(std::span(&digest, 1)));
        }
    }
    return bytes;
}

std::optional<Pdu> Initiator::receive() {
    // Long answers come in as many rounds as the socket's buffer makes of them.
    for (int idle = 0; idle < 3;) {
        if (received_.size() >= iscsi::kBhsSize) {
            Pdu pdu;
            std::memcpy(static_cast<void*>(&pdu.header), received_.data(), sizeof(pdu.header));
            const std::uint32_t length = pdu.header.data_length;
            const std::size_t at = sizeof(pdu.header) + (header_digest ? 4 : 0);
            const std::size_t filled = iscsi::padded(length);
            const std::size_t whole = at + filled + (data_digest && length != 0 ? 4 : 0);
            if (received_.size() >= whole) {
                const std::span<const std::byte> all(received_);
                if (header_digest) {
                    pdu.header_digest_right =
                        read_at<Le32>(received_, sizeof(pdu.header)) == crc32c(all.first(sizeof(pdu.header)));
                }
                if (data_digest && length != 0) {
                    pdu.data_digest_right =
                        read_at<Le32>(received_, at + filled) == crc32c(all.subspan(at, filled));
                }
                const auto data = all.subspan(at, length);
                pdu.data.assign(data.begin(), data.end());
                received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(whole));
                const auto numbers = pdu.as<iscsi::NopIn>(); // all have theirs at the same place
                last_max_cmd_sn = numbers.max_cmd_sn;
                last_exp_cmd_sn = numbers.exp_cmd_sn;
                return pdu;
            }
        }
        const std::size_t before = received_.size();
        pump();
        idle = received_.size() == before ? idle + 1 : 0;
    }
    return std::nullopt;
}

bool Initiator::ended() {
    pump();
    return at_end_ || connection_->closed();
}

Keys Initiator::names(bool discovery) const {
    Keys keys = {{"InitiatorName", name}};
    if (discovery) {
        keys.emplace_back("SessionType", "Discovery");
    } else {
        keys.emplace_back("SessionType", "Normal");
        keys.emplace_back("TargetName", IscsiOptions().name);
    }
    return keys;
}

std::optional<Pdu> Initiator::login_step(iscsi::LoginStage current, std::optional<iscsi::LoginStage> next,
                                         const Keys& keys) {
    iscsi::LoginRequest request;
    request.flags = iscsi::login_stages(current, next.value_or(iscsi::LoginStage::security));
    request.flags |= next ? iscsi::login_flag::kTransit : 0;
    request.isid = isid;
    request.task_tag = next_tag;
    request.cmd_sn = cmd_sn;
    std::string text;
    for (const auto& [key, value] : keys) {
        append_key(text, key, value);
    }
    send_pdu(request, std::as_bytes(std::span(text)));
    return receive();
}

void Initiator::log_in(const Keys& keys, bool discovery) {
    Keys all = names(discovery);
    all.insert(all.end(), keys.begin(), keys.end());
    const auto answer = login_step(iscsi::LoginStage::operational, iscsi::LoginStage::full_feature, all);
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->opcode(), iscsi::Opcode::login_response);
    ASSERT_EQ(answer->as<iscsi::LoginResponse>().status_class, 0);
    const auto agreed = answer->keys();
    const std::string* header = find_key(agreed, "HeaderDigest");
    const std::string* data = find_key(agreed, "DataDigest");
    header_digest = header != nullptr && *header == "CRC32C";
    data_digest = data != nullptr && *data == "CRC32C";
}

std::uint32_t Initiator::command(const iscsi::Cdb& descriptor, std::uint32_t expected, std::uint8_t flags,
                                 std::span<const std::byte> immediate, bool final) {
    iscsi::ScsiCommand request;
    request.flags =
        static_cast<std::uint8_t>((final ? iscsi::kFinal : 0) | flags | iscsi::command_flag::kSimple);
    request.lun = lun;
    request.task_tag = next_tag++;
    request.expected_length = expected;
    request.cmd_sn = cmd_sn++;
    request.cdb = descriptor;
    send_pdu(request, immediate);
    return request.task_tag;
}

void Initiator::data_out(std::uint32_t tag, std::uint32_t target_tag, std::uint32_t data_sn,
                         std::uint32_t offset, std::span<const std::byte> data, bool final) {
    iscsi::DataOut pdu;
    pdu.flags = final ? iscsi::kFinal : 0;
    pdu.lun = lun;
    pdu.task_tag = tag;
    pdu.target_tag = target_tag;
    pdu.data_sn = data_sn;
    pdu.offset = offset;
    send_pdu(pdu, data);
}

Ended Initiator::end_of(std::uint32_t tag, std::span<const std::byte> data) {
    Ended ended;
    while (auto pdu = receive()) {
        switch (pdu->opcode()) {
        case iscsi::Opcode::r2t: {
            const auto& r2t = r2ts.emplace_back(pdu->as<iscsi::R2t>());
            data_out(r2t.task_tag, r2t.target_tag, 0, r2t.offset,
                     data.subspan(r2t.offset, r2t.desired_length), true);
            break;
        }
        case iscsi::Opcode::data_in: {
            const auto header = pdu->as<iscsi::DataIn>();
            EXPECT_EQ(header.task_tag, tag);
            EXPECT_EQ(header.data_sn, ended.data_pdus);
            EXPECT_EQ(header.offset, ended.data.size());
            EXPECT_TRUE(pdu->header_digest_right && pdu->data_digest_right);
            ++ended.data_pdus;
            ended.data.insert(ended.data.end(), pdu->data.begin(), pdu->data.end());
            if ((header.flags & iscsi::data_in_flag::kStatus) != 0) {
                ended.status = header.status;
                ended.flags = header.flags;
                ended.residual = header.residual;
                ended.with_data = true;
                return ended;
            }
            break;
        }
        case iscsi::Opcode::scsi_response: {
            const auto header = pdu->as<iscsi::ScsiResponse>();
            EXPECT_EQ(header.task_tag, tag);
            ended.status = header.status;
            ended.flags = header.flags;
            ended.residual = header.residual;
            const auto sense = read_at<iscsi::FixedSense>(pdu->data, 2);
            ended.key = sense.key;
            ended.asc = sense.asc;
            ended.ascq = sense.ascq;
            return ended;
        }
        default:
            ADD_FAILURE() << "a PDU of opcode " << static_cast<int>(pdu->header.opcode);
            return ended;
        }
    }
    return ended;
}

Ended Initiator::write(const iscsi::Cdb& descriptor, std::span<const std::byte> data) {
    const auto length = static_cast<std::uint32_t>(data.size());
    return end_of(command(descriptor, length, iscsi::command_flag::kWrite), data);
}

std::uint8_t Initiator::manage(std::uint8_t function, std::uint32_t referenced, std::uint32_t ref_cmd_sn) {
    iscsi::TaskManagement request;
    request.opcode = static_cast<std::uint8_t>(iscsi::Opcode::task_management) | iscsi::kImmediate;
    request.function = iscsi::kFinal | function;
    request.lun = lun;
    request.task_tag = next_tag++;
    request.referenced_task_tag = referenced;
    request.ref_cmd_sn = ref_cmd_sn;
    request.cmd_sn = cmd_sn;
    send_pdu(request);
    const auto answer = receive();
    EXPECT_TRUE(answer && answer->opcode() == iscsi::Opcode::task_management_response);
    return answer ? answer->as<iscsi::TaskManagementResponse>().response : 0xff;
}

iscsi::Cdb cdb(std::initializer_list<std::uint8_t> bytes) {
    iscsi::Cdb descriptor{};
    std::copy(bytes.begin(), bytes.end(), descriptor.begin());
    return descriptor;
}

iscsi::Cdb blocks_cdb(std::uint8_t opcode, std::uint64_t lba, std::uint32_t blocks, std::uint8_t flags) {
    iscsi::BlockCdb descriptor;
    descriptor.opcode = opcode;
    descriptor.flags = flags;
    descriptor.lba = lba;
    descriptor.blocks = blocks;
    return std::bit_cast<iscsi::Cdb>(descriptor);
}

} // namespace mpath::target::scsi
