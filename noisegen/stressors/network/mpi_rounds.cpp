// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/network/mpi_rounds.hpp"

#if CROSSTALK_HAS_MPI

#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "noisegen/stressors/network/mpi_transport.hpp"
#include "noisegen/stressors/turn_end.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <limits>
#include <utility>

#include <sched.h>
#include <unistd.h>

namespace noisegen {

namespace {

// Time for the ranks to complete their rounds at the end of the run while mpirun lives: mpirun treats a rank that exits
// without the others as failed.
constexpr std::int64_t last_patience_ns = 5'000'000'000;
constexpr int fruitless_steps = 100;  // steps without progress after which a rank sleeps

// MPI, from the first stressor that needs it to the end of the process: it cannot be initialised twice.
class Session {
 public:
    static Session& get(bool under_mpi)
    {
        static Session session{under_mpi};
        return session;
    }

    // Without its launcher MPI_Finalize may wait forever.
    ~Session()
    {
        if (at_rest && launcher_lives()) MPI_Finalize();
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    bool launcher_lives() const { return ::getppid() == launcher_; }

    int rank = 0;
    int size = 1;
    bool many_threads = false;
    std::string route;                // "ob1, btl vader (single copy cma); nothing leaves the node"
    std::atomic<bool> at_rest{true};  // all ranks have completed their last round

 private:
    explicit Session(bool under_mpi)
    {
        // A single process needs no Open MPI daemon, which would run on any CPU.
        if (!under_mpi) ::setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
        int provided = MPI_THREAD_SINGLE;
        check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "start");
        if (provided < MPI_THREAD_SERIALIZED) base::unavailable("this MPI allows no calls from noise threads");
        many_threads = provided == MPI_THREAD_MULTIPLE;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        const int here = ranks_on_this_node();
        route = mpi_transport(here, size);
        if (here == size) route += "; nothing leaves the node";
    }

    static int ranks_on_this_node()
    {
        MPI_Comm node = MPI_COMM_NULL;
        int count = 1;
        check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "find the node");
        MPI_Comm_size(node, &count);
        MPI_Comm_free(&node);
        return count;
    }

    pid_t launcher_ = ::getppid();
};

// Progress of the ranks, exchanged at the end of a turn. All members are maxima over the ranks.
struct Standing {
    long most = 0;     // number of rounds begun
    long least = 0;    // minus the number of rounds begun
    long goes_on = 0;  // 0: the run ends for all ranks
    static constexpr int numbers = 3;
};

// Memory that MPI may still use if rounds could not be completed, so it outlives the stressor. Messages and agreements
// have separate communicators, since ranks begin them in different orders.
struct Lane {
    MPI_Comm messages = MPI_COMM_NULL;
    MPI_Comm agreements = MPI_COMM_NULL;
    std::unique_ptr<Pattern> pattern;
    std::vector<MPI_Request> requests;
    Standing mine;
    Standing all;
    MPI_Request agreement = MPI_REQUEST_NULL;
};

struct MpiShared final : Shared {
    explicit MpiShared(const Place& place) : session{Session::get(place.job.under_mpi)}
    {
        int least = session.many_threads ? static_cast<int>(place.count) : 1;
        check_mpi(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "count CPUs");
        lanes.resize(static_cast<std::size_t>(least));
        for (Lane& lane : lanes) {
            check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &lane.messages), "make a communicator");
            check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &lane.agreements), "make a communicator");
        }
    }

    ~MpiShared() override
    {
        if (std::uncaught_exceptions() > 0) session.at_rest = false;
    }
    MpiShared(const MpiShared&) = delete;
    MpiShared& operator=(const MpiShared&) = delete;

    Session& session;
    std::vector<Lane> lanes;  // one for each CPU index that every rank has
};

// Waiting for other ranks after the end of stress: first by polling, then with short sleeps.
class Patience {
 public:
    explicit Patience(std::int64_t patience_ns) : begin_ns_{base::now_ns()}, deadline_ns_{begin_ns_ + patience_ns} {}

    // Returns false when the patience is over.
    bool wait() const
    {
        constexpr std::int64_t awake_ns = 200'000;
        const std::int64_t now = base::now_ns();
        if (now - begin_ns_ < awake_ns)
            ::sched_yield();
        else
            base::sleep_until_ns(now + exchange_nap_ns);
        return now < deadline_ns_;
    }

 private:
    std::int64_t begin_ns_;
    std::int64_t deadline_ns_;
};

class MpiRounds final : public Stressor {
 public:
    MpiRounds(Session& session, Lane& lane) : session_{session}, lane_{lane} {}

    ~MpiRounds() override
    {
        if (!come_to_rest(last_patience_ns, true)) session_.at_rest = false;
    }

    void begin(const Turn& turn) override
    {
        constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();
        const auto portion = [](double per_s) {
            return per_s > 0.0 ? static_cast<std::uint64_t>(std::max(1.0, per_s / 1000.0)) : no_end;
        };
        most_bytes_ = portion(turn.bytes_per_s);
        most_operations_ = portion(turn.operations_per_s);
        turn_patience_ns_ = patience_ns(turn);
    }

    // Does the rounds due in a thousandth of a second, or works for a millisecond. A round that other ranks delay
    // continues in the next step; while they delay it for long, this rank hardly uses its CPU.
    Work step() override
    {
        if (under_way_ && fruitless_ >= fruitless_steps && !round_done())
            return {.bytes = 0, .operations = 0, .rest_until_ns = base::now_ns() + exchange_nap_ns};
        const std::int64_t end = base::now_ns() + exchange_step_ns;
        do {
            if (!under_way_) begin_round();
            if (!round_done()) continue;
            if (done_.bytes >= most_bytes_ || done_.operations >= most_operations_) break;
        } while (base::now_ns() < end);
        ++fruitless_;
        return std::exchange(done_, {});
    }

    void end() override
    {
        if (!come_to_rest(turn_patience_ns_, false)) ++restless_turns_;
    }

    std::string note() const override
    {
        std::string text =
            base::join("MPI, ", lane_.pattern->text(), ", ", rounds_, " rounds, through ", session_.route);
        if (restless_turns_ > 0) text += base::join("; ", restless_turns_, " turns ended during a round");
        return text;
    }

 private:
    void begin_round()
    {
        lane_.requests.clear();
        lane_.pattern->begin(rounds_, lane_.messages, lane_.requests);
        under_way_ = true;
        ++rounds_;
    }

    bool round_done()
    {
        int done = 0;
        check_mpi(
            MPI_Testall(static_cast<int>(lane_.requests.size()), lane_.requests.data(), &done, MPI_STATUSES_IGNORE),
            "exchange messages");
        if (done == 0) return false;
        under_way_ = false;
        fruitless_ = 0;
        const Work work = lane_.pattern->work(rounds_ - 1);
        done_.bytes += work.bytes;
        done_.operations += work.operations;
        return true;
    }

    // Agrees with the other ranks on the last round that any of them has begun and completes it, until all ranks have
    // begun the same number of rounds. Returns false if that takes too long; the ranks continue from there in the next
    // turn.
    //
    // Ranks may have different numbers of turns (a rank may start late, or sleep through a burst). So an agreement that
    // was not reached in one turn remains pending, and its data about this rank may be outdated when the others join
    // it. If this rank has begun another number of rounds than was agreed on, a further agreement follows.
    bool come_to_rest(std::int64_t patience_ns, bool last) noexcept
    try {
        const Patience patience{patience_ns};
        while (true) {
            if (lane_.agreement == MPI_REQUEST_NULL) propose(last);
            while (!agreed()) {
                if (under_way_) round_done();
                if (!patience.wait() || (last && !session_.launcher_lives())) return false;
            }
            const Standing all = lane_.all;
            while (under_way_ || rounds_ < all.most) {
                if (!under_way_) begin_round();
                if (!round_done() && !patience.wait()) return false;
            }
            const bool same = all.most == -all.least && rounds_ == all.most;
            if (same && (!last || all.goes_on == 0)) return true;
        }
    } catch (...) {
        return false;
    }

    void propose(bool last)
    {
        lane_.mine = {.most = rounds_, .least = -rounds_, .goes_on = last ? 0 : 1};
        check_mpi(MPI_Iallreduce(&lane_.mine.most, &lane_.all.most, Standing::numbers, MPI_LONG, MPI_MAX,
                                 lane_.agreements, &lane_.agreement),
                  "agree on the last round");
    }

    // MPI sets the request to null on completion.
    bool agreed()
    {
        int known = 0;
        check_mpi(MPI_Test(&lane_.agreement, &known, MPI_STATUS_IGNORE), "agree on the last round");
        return known != 0;
    }

    Session& session_;
    Lane& lane_;
    std::uint64_t most_bytes_ = 0;  // maximum in a step
    std::uint64_t most_operations_ = 0;
    Work done_;  // work not reported yet
    bool under_way_ = false;
    long rounds_ = 0;    // number of rounds begun
    int fruitless_ = 0;  // steps since a round was completed
    long restless_turns_ = 0;
    std::int64_t turn_patience_ns_ = 0;
};

}  // namespace

void check_mpi(int code, const char* what)
{
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    base::fail("MPI cannot ", what, ": ", text);
}

std::unique_ptr<Shared> share_rounds(const Place& place)
{
    return std::make_unique<MpiShared>(place);
}

std::unique_ptr<Stressor> make_rounds(const Place& place, const MakePattern& make)
{
    auto& shared = static_cast<MpiShared&>(*place.shared);
    if (place.index >= shared.lanes.size()) return nullptr;
    Lane& lane = shared.lanes[place.index];
    lane.pattern = make(shared.session.rank, shared.session.size);
    return std::make_unique<MpiRounds>(shared.session, lane);
}

}  // namespace noisegen

#endif
