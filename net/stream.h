// SPDX-License-Identifier: GPL-2.0-only
// One connected TCP socket on a reactor: batched sends, staged receives.
//
// Sending: headers are written into the open batch, payloads are only referenced; flush() sends the batch as
// one message while the next one is being filled. Batches have ascending numbers, so an owner of a payload
// knows from sent_batch() when the network has let go of it.
//
// Receiving: what arrives lands in a staging buffer that the handler parses. Once it knows where the next
// bytes belong, receive_direct() has them received there, past the staging buffer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "net/reactor.h"

namespace mpath::net {

class Stream {
public:
    class Handler {
    public:
        Handler() = default;
        Handler(const Handler&) = delete;
        Handler& operator=(const Handler&) = delete;
        virtual ~Handler() = default;

        /// New bytes. Returns how many it has consumed; the rest is shown again together with what follows.
        virtual std::size_t on_data(std::span<const std::byte> bytes) noexcept = 0;
        /// All bytes of receive_direct() are where they belong.
        virtual void on_direct_received() noexcept = 0;
        /// sent_batch() has moved.
        virtual void on_sent() noexcept = 0;
        /// The socket is closed and the kernel holds none of our memory any more. `error.code` is 0 when
        /// it was us who closed it.
        virtual void on_closed(const Error& error) noexcept = 0;
    };

    struct Statistics {
        std::uint64_t bytes_sent = 0;
        std::uint64_t bytes_received = 0;
        std::uint64_t bytes_received_direct = 0; ///< of these, straight to where they belong
    };

    static constexpr std::size_t kStagingSize = 256 * 1024;
    static constexpr std::size_t kBatchHeaderSize = 64 * 1024;
    static constexpr std::size_t kBatchPieces = 512;

    Stream(Reactor& reactor, UniqueFd socket, Handler& handler);
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream();

    /// Begins receiving.
    void start() noexcept { receive(); }

    /// Whether headers of `header` bytes and payloads still fit the open batch, together `pieces`. Headers
    /// that follow one another are one piece.
    [[nodiscard]] bool has_room(std::size_t header, std::size_t pieces = 2) const noexcept {
        return open_->used + header <= kBatchHeaderSize && open_->pieces + pieces <= kBatchPieces;
    }
    /// Space for a header in the open batch. Precondition: has_room(length).
    std::byte* append_header(std::size_t length) noexcept;
    /// Adds a payload, which must not change or go until sent_batch() >= open_batch() as it was here.
    void append_payload(const std::byte* data, std::size_t length) noexcept;
    [[nodiscard]] std::uint64_t open_batch() const noexcept { return open_->number; }
    [[nodiscard]] std::uint64_t sent_batch() const noexcept { return sent_batch_; }
    /// A batch is on its way.
    [[nodiscard]] bool sending() const noexcept { return sending_ != nullptr; }
    /// Stages the open batch for the reactor's next run; when the previous one is still under way, right
    /// after that.
    void flush() noexcept;

    /// From on_data() only: the next `length` bytes belong at `target`. Bytes behind them go to staging;
    /// `behind` of these are known to come, and worth waiting for in the same receive.
    void receive_direct(std::byte* target, std::size_t length, std::size_t behind = 0) noexcept;
    /// How many bytes a receive may put into staging: small while large payloads are expected, so that
    /// these are received where they belong.
    void set_window(std::size_t window) noexcept { window_ = window; }

    enum class Ending : std::uint8_t {
        orderly, ///< what was sent still arrives
        abort,   ///< RST: the kernel drops what it has not sent, so no byte of a payload leaves afterwards
    };
    /// Ends the connection; the first call decides how. on_closed() follows from the reactor.
    /// Precondition: start() was called.
    void close(Error reason, Ending ending) noexcept;
    [[nodiscard]] bool closing() const noexcept { return closing_; }
    [[nodiscard]] int fd() const noexcept { return socket_.get(); }
    [[nodiscard]] const Statistics& statistics() const noexcept { return statistics_; }

private:
    struct Batch {
        std::unique_ptr<std::byte[]> headers = std::make_unique<std::byte[]>(kBatchHeaderSize);
        std::array<iovec, kBatchPieces> iov{};
        std::size_t used = 0;
        std::size_t pieces = 0;
        std::size_t bytes = 0;
        std::uint64_t number = 0;
    };

    static void received(Operation& operation, int result) noexcept;
    static void sent(Operation& operation, int result) noexcept;
    void append(const std::byte* data, std::size_t length) noexcept;
    void receive() noexcept;
    void parse() noexcept;
    void on_received(std::size_t count) noexcept;
    void on_sent(std::size_t count) noexcept;
    void finish_close() noexcept;

    Reactor& reactor_;
    UniqueFd socket_;
    Handler& handler_;

    std::array<Batch, 2> batches_;
    Batch* open_ = &batches_[0];
    Batch* sending_ = nullptr;
    bool flush_wanted_ = false;
    std::uint64_t sent_batch_ = 0;
    Operation send_operation_;
    msghdr send_message_{};

    std::unique_ptr<std::byte[]> staging_ = std::make_unique<std::byte[]>(kStagingSize);
    std::size_t begin_ = 0; ///< first byte not consumed
    std::size_t end_ = 0;   ///< behind the last byte received
    std::size_t window_ = kStagingSize;
    std::byte* direct_ = nullptr;
    std::size_t direct_left_ = 0;
    std::size_t direct_behind_ = 0;
    Operation receive_operation_;
    msghdr receive_message_{};
    std::array<iovec, 2> receive_iov_{};

    bool closing_ = false;
    Ending ending_ = Ending::orderly;
    Error close_reason_{0, {}};
    Statistics statistics_;
};

} // namespace mpath::net
