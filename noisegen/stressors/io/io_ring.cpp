// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/io/io_ring.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/system/clock.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <sched.h>
#include <sys/uio.h>
#include <unistd.h>

#if CROSSTALK_HAS_URING
#include <liburing.h>
#endif

namespace noisegen {

IoRing::Engine IoRing::engine(const std::string& word)
{
    if (word == "auto") return Engine::automatic;
    if (word == "io_uring") return Engine::io_uring;
    if (word == "pread") return Engine::pread;
    base::fail_usage("must be auto, io_uring or pread, not ", word);
}

IoRing::IoRing(const Setup& setup)
    : file_{setup.file},
      block_{setup.block},
      bytes_{setup.block},
      depth_{setup.depth},
      place_{setup.place},
      buffer_{setup.block * setup.depth, setup.pages}
{
    // Random data, since some file systems do not store zeros.
    base::Random random{1};
    auto* words = static_cast<std::uint64_t*>(buffer_.data());
    for (std::size_t i = 0; i < block_ / sizeof(std::uint64_t); ++i) words[i] = random();
    for (unsigned slot = 1; slot < depth_; ++slot) std::memcpy(memory(slot), memory(0), block_);
}

void IoRing::ended(std::int64_t took_ns)
{
    latency_ns_ = latency_ns_ == 0 ? took_ns : latency_ns_ + (took_ns - latency_ns_) / 8;
}

// A transfer may be shorter than requested; only the bytes moved are counted.
void IoRing::add(Work& work, Transfer::Kind kind, std::int64_t result, int code) const
{
    if (result > 0) {
        work.bytes += static_cast<std::uint64_t>(result);
        ++work.operations;
        return;
    }
    const bool write = kind == Transfer::Kind::write;
    const std::string what = (write ? "cannot write to a file in " : "cannot read a file in ") + place_;
    if (result < 0) throw std::system_error{code, std::generic_category(), what};
    base::fail(what, write ? ": the disk is full" : ": it was truncated");
}

namespace {

class OneByOne final : public IoRing {
 public:
    explicit OneByOne(const Setup& setup) : IoRing{{setup.file, setup.block, 1, setup.engine, setup.place, setup.pages}}
    {
    }

    void start(Transfer transfer) override
    {
        next_ = transfer;
        in_flight_ = 1;
    }

    Work take(unsigned, std::int64_t) override
    {
        Work work;
        if (in_flight_ == 0) return work;
        in_flight_ = 0;
        const bool write = next_.kind == Transfer::Kind::write;
        const std::int64_t begin = base::now_ns();
        const ssize_t result =
            write ? ::pwrite(file_, memory(0), bytes_, next_.offset) : ::pread(file_, memory(0), bytes_, next_.offset);
        add(work, next_.kind, result, errno);
        ended(base::now_ns() - begin);
        return work;
    }

    void settle() override { in_flight_ = 0; }
    std::string name() const override { return "pread and pwrite"; }

 private:
    Transfer next_;
};

#if CROSSTALK_HAS_URING

class Uring final : public IoRing {
 public:
    // Returns nullptr if the kernel refuses io_uring (too old, or forbidden in a container). Kernel workers stay on the
    // calling thread's CPUs.
    static std::unique_ptr<IoRing> make(const Setup& setup)
    {
        auto ring = std::unique_ptr<Uring>{new Uring{setup}};
        if (!ring->open() || !ring->stay_on_these_cpus()) return nullptr;
        ring->spare_the_kernel_work();
        return ring;
    }

    ~Uring() override
    {
        if (!open_) return;
        try {
            settle();
        } catch (...) {  // in a destructor, so the error is dropped
        }
        io_uring_queue_exit(&ring_);
    }

    void start(Transfer transfer) override
    {
        io_uring_sqe* entry = io_uring_get_sqe(&ring_);
        if (entry == nullptr || free_.empty()) base::fail("io_uring's queue is full although nothing is in flight");
        const unsigned slot = free_.back();
        free_.pop_back();
        prepare(entry, transfer, slot);
        io_uring_sqe_set_data64(entry, slot);
        slots_[slot].kind = transfer.kind;
        fresh_.push_back(slot);
        ++in_flight_;
    }

    Work take(unsigned least, std::int64_t patience_ns) override
    {
        Work work;
        if (in_flight_ == 0) return work;
        submit_and_wait(std::min(least, in_flight_), patience_ns);
        reap(work);
        return work;
    }

    void settle() override
    {
        constexpr std::int64_t second_ns = 1'000'000'000;
        while (in_flight_ > 0) take(in_flight_, second_ns);
    }

    std::string name() const override { return "io_uring"; }

 private:
    struct Slot {
        Transfer::Kind kind = Transfer::Kind::read;
        std::int64_t begin_ns = 0;
    };

    explicit Uring(const Setup& setup) : IoRing{setup}, slots_(setup.depth)
    {
        for (unsigned slot = setup.depth; slot > 0; --slot) free_.push_back(slot - 1);
    }

    // Completions are processed when this thread asks for them, without an interrupt or another thread, as far as the
    // kernel supports that (flags of Linux 6.1, those of 5.19, or none).
    bool open()
    {
        for (const unsigned flags :
             {IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, IORING_SETUP_COOP_TASKRUN, 0U}) {
            const int code = io_uring_queue_init(depth(), &ring_, flags);
            open_ = code >= 0;
            if (code != -EINVAL) break;
        }
        return open_;
    }

    // Deferred work of the kernel (buffered writes) runs in worker threads; they are bound to this CPU, not the
    // training's.
    bool stay_on_these_cpus()
    {
        cpu_set_t here;
        return ::sched_getaffinity(0, sizeof here, &here) == 0 &&
               io_uring_register_iowq_aff(&ring_, sizeof here, &here) >= 0;
    }

    // Registers file and buffers once instead of at each transfer. If the limit of locked memory is too low, works
    // without.
    void spare_the_kernel_work()
    {
        fixed_file_ = io_uring_register_files(&ring_, &file_, 1) >= 0;
        std::vector<iovec> buffers;
        for (unsigned slot = 0; slot < depth(); ++slot) buffers.push_back({memory(slot), block_});
        fixed_buffers_ = io_uring_register_buffers(&ring_, buffers.data(), depth()) >= 0;
    }

    void prepare(io_uring_sqe* entry, Transfer transfer, unsigned slot)
    {
        const int file = fixed_file_ ? 0 : file_;
        const auto bytes = static_cast<unsigned>(bytes_);
        const auto offset = static_cast<std::uint64_t>(transfer.offset);
        const bool write = transfer.kind == Transfer::Kind::write;
        if (fixed_buffers_ && write)
            io_uring_prep_write_fixed(entry, file, memory(slot), bytes, offset, static_cast<int>(slot));
        else if (fixed_buffers_)
            io_uring_prep_read_fixed(entry, file, memory(slot), bytes, offset, static_cast<int>(slot));
        else if (write)
            io_uring_prep_write(entry, file, memory(slot), bytes, offset);
        else
            io_uring_prep_read(entry, file, memory(slot), bytes, offset);
        if (fixed_file_) io_uring_sqe_set_flags(entry, IOSQE_FIXED_FILE);
    }

    // Submits all started transfers and waits, in one system call.
    void submit_and_wait(unsigned least, std::int64_t patience_ns)
    {
        const std::int64_t now = base::now_ns();
        for (const unsigned slot : fresh_) slots_[slot].begin_ns = now;
        fresh_.clear();
        constexpr std::int64_t second_ns = 1'000'000'000;
        __kernel_timespec patience{patience_ns / second_ns, patience_ns % second_ns};
        io_uring_cqe* first = nullptr;
        const int code = io_uring_submit_and_wait_timeout(&ring_, &first, least, &patience, nullptr);
        if (code >= 0 || code == -ETIME || code == -EAGAIN || code == -EINTR || code == -EBUSY) return;
        throw std::system_error{-code, std::generic_category(), "cannot submit to io_uring"};
    }

    void reap(Work& work)
    {
        const std::int64_t now = base::now_ns();
        unsigned count = 0;
        unsigned head = 0;
        std::optional<std::pair<Transfer::Kind, int>> failure;
        io_uring_cqe* entry = nullptr;
        io_uring_for_each_cqe(&ring_, head, entry)
        {
            ++count;
            if (entry->user_data == LIBURING_UDATA_TIMEOUT) continue;  // the timeout's entry, before kernel 5.11
            const auto slot = static_cast<unsigned>(entry->user_data);
            free_.push_back(slot);
            --in_flight_;
            ended(now - slots_[slot].begin_ns);
            if (entry->res > 0)
                add(work, slots_[slot].kind, entry->res, 0);
            else
                failure = {slots_[slot].kind, entry->res};
        }
        io_uring_cq_advance(&ring_, count);
        if (failure) add(work, failure->first, failure->second, -failure->second);
    }

    std::vector<Slot> slots_;
    std::vector<unsigned> free_;
    std::vector<unsigned> fresh_;  // started since the last system call
    bool open_ = false;
    bool fixed_file_ = false;
    bool fixed_buffers_ = false;
    io_uring ring_{};
};

#endif

}  // namespace

std::unique_ptr<IoRing> IoRing::make(const Setup& setup)
{
#if CROSSTALK_HAS_URING
    if (setup.engine == Engine::io_uring || (setup.engine == Engine::automatic && setup.depth > 1))
        if (auto ring = Uring::make(setup)) return ring;
#endif
    if (setup.engine == Engine::io_uring)
        base::unavailable("engine=io_uring: this kernel, container or build has no io_uring; use engine=auto or pread");
    return std::make_unique<OneByOne>(setup);
}

}  // namespace noisegen
