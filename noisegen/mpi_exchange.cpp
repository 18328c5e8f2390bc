#include "noisegen/mpi_exchange.hpp"

#include "base/error.hpp"

#if CROSSTALK_HAS_MPI
#define OMPI_SKIP_MPICXX
#include "base/clock.hpp"

#include <mpi.h>

#include <atomic>
#include <cstring>
#include <exception>
#endif

namespace noisegen {

#if CROSSTALK_HAS_MPI

namespace {

constexpr std::int64_t step_ns = 1'000'000;
constexpr std::int64_t rest_ns = 500'000'000;  // so long a ring may take to come to rest

void check(int code, const char* what)
{
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    base::fail("MPI cannot ", what, ": ", text);
}

// MPI from the first stressor that needs it to the last.
class Session {
 public:
    static std::shared_ptr<Session> get()
    {
        static std::weak_ptr<Session> known;
        std::shared_ptr<Session> session = known.lock();
        if (!session) known = session = std::shared_ptr<Session>{new Session};
        return session;
    }

    ~Session()
    {
        if (at_rest && std::uncaught_exceptions() == 0) MPI_Finalize();
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    int rank = 0;
    int size = 1;
    bool many_threads = false;
    std::atomic<bool> at_rest{true};

 private:
    Session()
    {
        int provided = MPI_THREAD_SINGLE;
        check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "start");
        if (provided < MPI_THREAD_SERIALIZED) base::unavailable("this MPI allows no calls from noise threads");
        many_threads = provided == MPI_THREAD_MULTIPLE;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    }
};

// What MPI may still touch after a ring could not be brought to rest, so it lives longer than the stressor. The buffers
// are made by the stressor's thread, to be near.
struct Ring {
    MPI_Comm communicator = MPI_COMM_NULL;
    std::vector<char> out;
    std::vector<std::vector<char>> in;
    std::vector<MPI_Request> requests;
    long mine = 0;  // rounds begun, when coming to rest
    long last = 0;  // the largest of all ranks'
};

struct MpiShared final : Shared {
    explicit MpiShared(std::size_t cpus) : session{Session::get()}
    {
        int least = session->many_threads ? static_cast<int>(cpus) : 1;
        check(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "count CPUs");
        rings.resize(static_cast<std::size_t>(least));
        for (Ring& ring : rings) check(MPI_Comm_dup(MPI_COMM_WORLD, &ring.communicator), "make a ring");
    }

    std::vector<Ring> rings;           // one for each CPU that every rank has
    std::shared_ptr<Session> session;  // ends first
};

class MpiExchange final : public Stressor {
 public:
    MpiExchange(MpiShared& shared, Ring& ring, std::size_t bytes, int window)
        : session_{shared.session}, ring_{ring}, bytes_{bytes}
    {
        const auto messages = static_cast<std::size_t>(window);
        ring_.out.assign(bytes, 1);
        ring_.in.assign(messages, std::vector<char>(bytes));
        ring_.requests.assign(2 * messages, MPI_REQUEST_NULL);
    }

    ~MpiExchange() override
    {
        if (!come_to_rest()) session_->at_rest = false;
    }

    // A round is over when both neighbours' parts are: no rank gets far ahead of another, and nothing piles up.
    // An unfinished round waits for this stressor's next chip.
    Work step() override
    {
        if (!under_way_) begin_round();
        const std::int64_t end = base::now_ns() + step_ns;
        while (!round_done())
            if (base::now_ns() >= end) return {};
        return {.bytes = ring_.in.size() * bytes_, .operations = ring_.in.size()};
    }

    std::string note() const override
    {
        return base::join("MPI, ring of ", session_->size, " ranks, ", ring_.in.size(), " messages of ", bytes_,
                          " bytes a round");
    }

 private:
    void begin_round()
    {
        const int next = (session_->rank + 1) % session_->size;
        const int previous = (session_->rank + session_->size - 1) % session_->size;
        const int count = static_cast<int>(bytes_);
        for (std::size_t i = 0; i < ring_.in.size(); ++i) {
            check(
                MPI_Irecv(ring_.in[i].data(), count, MPI_BYTE, previous, 0, ring_.communicator, &ring_.requests[2 * i]),
                "receive");
            check(MPI_Isend(ring_.out.data(), count, MPI_BYTE, next, 0, ring_.communicator, &ring_.requests[2 * i + 1]),
                  "send");
        }
        under_way_ = true;
        ++rounds_;
    }

    bool round_done()
    {
        int done = 0;
        check(MPI_Testall(static_cast<int>(ring_.requests.size()), ring_.requests.data(), &done, MPI_STATUSES_IGNORE),
              "exchange");
        if (done != 0) under_way_ = false;
        return done != 0;
    }

    // All ranks go on to the last round that any of them has begun. False if one does not come.
    bool come_to_rest() noexcept
    try {
        const std::int64_t deadline = base::now_ns() + rest_ns;
        ring_.mine = rounds_;
        MPI_Request agreed = MPI_REQUEST_NULL;
        check(MPI_Iallreduce(&ring_.mine, &ring_.last, 1, MPI_LONG, MPI_MAX, ring_.communicator, &agreed),
              "agree on the end");
        int known = 0;
        while (known == 0) {
            check(MPI_Test(&agreed, &known, MPI_STATUS_IGNORE), "agree on the end");
            if (under_way_) round_done();
            if (base::now_ns() > deadline) return false;
        }
        while (under_way_ || rounds_ < ring_.last) {
            if (!under_way_) begin_round();
            round_done();
            if (base::now_ns() > deadline) return false;
        }
        return true;
    } catch (...) {
        return false;
    }

    std::shared_ptr<Session> session_;
    Ring& ring_;
    std::size_t bytes_;
    bool under_way_ = false;
    long rounds_ = 0;  // begun
};

}  // namespace

bool mpi_available()
{
    return true;
}

std::unique_ptr<Shared> share_mpi(const Place& place)
{
    return std::make_unique<MpiShared>(place.count);
}

std::unique_ptr<Stressor> make_mpi_exchange(const Place& place, std::size_t bytes, int window)
{
    auto& shared = static_cast<MpiShared&>(*place.shared);
    if (place.index >= shared.rings.size()) return nullptr;
    return std::make_unique<MpiExchange>(shared, shared.rings[place.index], bytes, window);
}

#else

bool mpi_available()
{
    return false;
}

std::unique_ptr<Shared> share_mpi(const Place&)
{
    base::unavailable("noisegen was built without MPI");
}

std::unique_ptr<Stressor> make_mpi_exchange(const Place&, std::size_t, int)
{
    base::unavailable("noisegen was built without MPI");
}

#endif

}  // namespace noisegen
