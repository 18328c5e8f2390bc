#include "noisegen/write_ring.hpp"

#include "base/error.hpp"

#include <cstring>

#include <sched.h>
#include <unistd.h>

#if CROSSTALK_HAS_URING
#include <liburing.h>
#endif

namespace noisegen {

namespace {

void check_write(std::int64_t result, int code, std::size_t bytes)
{
    if (result < 0) throw std::system_error{code, std::generic_category(), "cannot write to the scratch file"};
    if (static_cast<std::size_t>(result) != bytes) base::fail("cannot write to the scratch file: the disk is full");
}

class OneByOne final : public WriteRing {
 public:
    explicit OneByOne(int file) : file_{file} {}
    bool ready() override { return true; }
    void write(const void* buffer, std::size_t bytes, std::int64_t offset) override
    {
        const ssize_t result = ::pwrite(file_, buffer, bytes, offset);
        check_write(result, errno, bytes);
    }
    void idle() override {}
    std::string name() const override { return "pwrite"; }

 private:
    int file_;
};

#if CROSSTALK_HAS_URING

class Uring final : public WriteRing {
 public:
    // nullptr where the kernel refuses io_uring (old, or forbidden in a container). Stays on the calling thread's CPUs.
    static std::unique_ptr<WriteRing> make(int file, unsigned depth)
    {
        auto ring = std::unique_ptr<Uring>{new Uring{file, depth}};
        if (io_uring_queue_init(depth, &ring->ring_, 0) < 0) return nullptr;
        ring->open_ = true;
        // What the kernel does later (buffered writes) it does in workers of its own: on this CPU, not on the
        // training's.
        cpu_set_t here;
        if (::sched_getaffinity(0, sizeof here, &here) != 0 ||
            io_uring_register_iowq_aff(&ring->ring_, sizeof here, &here) < 0)
            return nullptr;
        return ring;
    }

    ~Uring() override
    {
        if (!open_) return;
        io_uring_queue_exit(&ring_);  // what is in flight keeps its pages until it is done
    }

    bool ready() override
    {
        while (reap_one(nullptr)) {
        }
        if (in_flight_ < depth_) return true;
        __kernel_timespec millisecond{0, 1'000'000};
        return reap_one(&millisecond);
    }

    void write(const void* buffer, std::size_t bytes, std::int64_t offset) override
    {
        io_uring_sqe* entry = io_uring_get_sqe(&ring_);
        if (entry == nullptr) base::fail("io_uring has no room although nothing is waiting");
        io_uring_prep_write(entry, file_, buffer, static_cast<unsigned>(bytes), static_cast<std::uint64_t>(offset));
        io_uring_sqe_set_data64(entry, bytes);
        const int submitted = io_uring_submit(&ring_);
        if (submitted < 0) throw std::system_error{-submitted, std::generic_category(), "cannot submit a write"};
        ++in_flight_;
    }

    void idle() override
    {
        __kernel_timespec second{1, 0};
        while (in_flight_ > 0) reap_one(&second);
    }

    std::string name() const override { return "io_uring"; }

 private:
    Uring(int file, unsigned depth) : file_{file}, depth_{depth} {}

    // Takes one finished write, waiting for it so long (nullptr: not at all). False if there is none.
    bool reap_one(__kernel_timespec* patience)
    {
        if (in_flight_ == 0) return false;
        io_uring_cqe* entry = nullptr;
        const int code = patience == nullptr ? io_uring_peek_cqe(&ring_, &entry)
                                             : io_uring_wait_cqe_timeout(&ring_, &entry, patience);
        if (code == -ETIME || code == -EAGAIN || code == -EINTR) return false;
        if (code < 0) throw std::system_error{-code, std::generic_category(), "cannot wait for a write"};
        const int result = entry->res;
        const std::uint64_t bytes = io_uring_cqe_get_data64(entry);
        io_uring_cqe_seen(&ring_, entry);
        --in_flight_;
        check_write(result, -result, bytes);
        return true;
    }

    int file_;
    unsigned depth_;
    unsigned in_flight_ = 0;
    bool open_ = false;
    io_uring ring_{};
};

#endif

}  // namespace

std::unique_ptr<WriteRing> WriteRing::make(int file, unsigned depth)
{
#if CROSSTALK_HAS_URING
    if (depth > 1)
        if (auto ring = Uring::make(file, depth)) return ring;
#else
    static_cast<void>(depth);
#endif
    return std::make_unique<OneByOne>(file);
}

}  // namespace noisegen
