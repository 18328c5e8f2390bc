// SPDX-License-Identifier: Apache-2.0
// MPI: nonblocking collectives, which the transport thread polls as the progress policy says.
#include "base/error.hpp"
#include "base/system/launcher.hpp"
#include "ddl-workloads/transports/mpi/check.hpp"
#include "ddl-workloads/transports/mpi/mpi_mailbox.hpp"
#include "ddl-workloads/transports/mpi/sum_algorithm.hpp"
#include "ddl-workloads/transports/transport.hpp"
#include "trace-tools/mpi/mpi_team.hpp"
#include "trace-tools/mpi/record_mpi.hpp"

#include <mpi.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>

#include <unistd.h>

namespace ddl {

namespace {

constexpr std::size_t largest_count = 1U << 30U;  // elements per call; MPI's counts are int

// Whether Open MPI itself yields the CPU while it waits; mpirun enables this if ranks outnumber slots.
std::string yield_when_idle()
{
    int index = 0;
    int provided = 0;
    std::string answer = "unknown";
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return answer;
    MPI_T_cvar_handle handle = nullptr;
    int count = 0;
    if (MPI_T_cvar_get_index("mpi_yield_when_idle", &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
        int value = 0;
        if (count == 1 && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS) answer = value != 0 ? "yes" : "no";
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return answer;
}

std::string library_version()
{
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    const std::string whole{text.data(), static_cast<std::size_t>(length)};
    return whole.substr(0, whole.find(','));
}

std::vector<int> begins(std::span<const int> lengths)
{
    std::vector<int> begins(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), begins.begin(), 0);
    return begins;
}

void add_halves(void* given, void* sums, int* count, MPI_Datatype*)
{
    const std::span<const Half> values{static_cast<const Half*>(given), static_cast<std::size_t>(*count)};
    Half* const sum = static_cast<Half*>(sums);
    std::transform(values.begin(), values.end(), sum, sum,
                   [](Half one, Half other) { return to_half(to_float(one) + to_float(other)); });
}

// Reduction operator for two ranks: the mean in one pass, bitwise equal to halving the sum afterwards.
void mean_of_two(void* given, void* means, int* count, MPI_Datatype*)
{
    const std::span<const float> values{static_cast<const float*>(given), static_cast<std::size_t>(*count)};
    float* const mean = static_cast<float*>(means);
    std::transform(values.begin(), values.end(), mean, mean,
                   [](float one, float other) { return with_one_nan((one + other) * 0.5F); });
}

// Calls MPI_Init when constructed and MPI_Finalize when destroyed.
class MpiLibrary {
 public:
    MpiLibrary()
    {
        int provided = 0;
        check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
        if (provided < MPI_THREAD_FUNNELED) base::unavailable("this MPI allows calls from a rank's first thread only");
    }
    ~MpiLibrary() { MPI_Finalize(); }
    MpiLibrary(const MpiLibrary&) = delete;
    MpiLibrary& operator=(const MpiLibrary&) = delete;
};

class MpiTransport : public Transport {
 public:
    // Takes ownership of the communicator.
    MpiTransport(MPI_Comm communicator, const Progress& progress, std::shared_ptr<SumAlgorithm> algorithm)
        : communicator_{communicator},
          waiting_{progress},
          algorithm_{std::move(algorithm)},
          mailbox_{std::in_place, communicator, progress, [this] { abort_if_asked(); }}
    {
        MPI_Comm_rank(communicator_, &rank_);
        MPI_Comm_size(communicator_, &size_);
        check_mpi(MPI_Type_contiguous(sizeof(Half), MPI_BYTE, &half_type_), "MPI_Type_contiguous");
        check_mpi(MPI_Type_commit(&half_type_), "MPI_Type_commit");
        check_mpi(MPI_Op_create(add_halves, 1, &sum_of_halves_), "MPI_Op_create");
        check_mpi(MPI_Op_create(mean_of_two, 1, &mean_of_two_), "MPI_Op_create");
    }

    ~MpiTransport() override
    {
        mailbox_.reset();
        MPI_Op_free(&mean_of_two_);
        MPI_Op_free(&sum_of_halves_);
        MPI_Type_free(&half_type_);
        if (communicator_ != MPI_COMM_WORLD) MPI_Comm_free(&communicator_);
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }

    void sum(std::span<float> values) override { sum(values, MPI_FLOAT, MPI_SUM); }
    void sum(std::span<Half> values) override { sum(values, half_type_, sum_of_halves_); }

    void mean(std::span<float> values) override
    {
        if (size_ == 2)
            sum(values, MPI_FLOAT, mean_of_two_);
        else
            Transport::mean(values);
    }

    void reduce_scatter(std::span<float> values, std::span<const int> lengths) override
    {
        reduce_scatter(values, lengths, MPI_FLOAT, MPI_SUM);
    }
    void reduce_scatter(std::span<Half> values, std::span<const int> lengths) override
    {
        reduce_scatter(values, lengths, half_type_, sum_of_halves_);
    }

    void bitwise_and(std::span<std::uint64_t> words) override
    {
        algorithm_->choose_for(words.size(), size_);
        finish(
            [this, words](MPI_Request* request) {
                return MPI_Iallreduce(MPI_IN_PLACE, words.data(), static_cast<int>(words.size()), MPI_UINT64_T,
                                      MPI_BAND, communicator_, request);
            },
            "MPI_Iallreduce");
    }

    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override
    {
        if (mine.size() > largest_count) base::fail("an all-gather is limited to 1 GiB per rank");
        const int bytes = static_cast<int>(mine.size());
        finish(
            [this, mine, all, bytes](MPI_Request* request) {
                return MPI_Iallgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, communicator_,
                                      request);
            },
            "MPI_Iallgather");
    }

    void all_to_all(std::span<const std::byte> mine, std::span<const int> sent_bytes, std::span<std::byte> all,
                    std::span<const int> received_bytes) override
    {
        if (std::max(mine.size(), all.size()) > largest_count) base::fail("an all-to-all is limited to 1 GiB per rank");
        const std::vector<int> sent_begins = begins(sent_bytes);
        const std::vector<int> received_begins = begins(received_bytes);
        finish(
            [&](MPI_Request* request) {
                return MPI_Ialltoallv(mine.data(), sent_bytes.data(), sent_begins.data(), MPI_BYTE, all.data(),
                                      received_bytes.data(), received_begins.data(), MPI_BYTE, communicator_, request);
            },
            "MPI_Ialltoallv");
    }

    void broadcast(std::span<std::byte> bytes, int root) override
    {
        while (!bytes.empty()) {
            const std::span<std::byte> part = bytes.first(std::min(bytes.size(), largest_count));
            finish(
                [this, part, root](MPI_Request* request) {
                    return MPI_Ibcast(part.data(), static_cast<int>(part.size()), MPI_BYTE, root, communicator_,
                                      request);
                },
                "MPI_Ibcast");
            bytes = bytes.subspan(part.size());
        }
    }

    void barrier() override
    {
        finish([this](MPI_Request* request) { return MPI_Ibarrier(communicator_, request); }, "MPI_Ibarrier");
    }

    std::vector<std::string> gather(const std::string& text) override
    {
        barrier();  // waits as the progress policy says, so that the blocking calls below do not wait
        const int length = static_cast<int>(text.size());
        const std::size_t ranks = rank_ == 0 ? static_cast<std::size_t>(size_) : 0;
        std::vector<int> lengths(ranks);
        check_mpi(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, communicator_), "MPI_Gather");
        const std::vector<int> places = begins(lengths);
        std::string all(ranks == 0 ? 0 : static_cast<std::size_t>(places.back() + lengths.back()), '\0');
        check_mpi(MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), places.data(), MPI_CHAR, 0,
                              communicator_),
                  "MPI_Gatherv");
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < ranks; ++i)
            texts.push_back(all.substr(static_cast<std::size_t>(places[i]), static_cast<std::size_t>(lengths[i])));
        return texts;
    }

    Mailbox& mailbox() override { return *mailbox_; }
    bool advance() override { return mailbox_->advance(); }

    std::unique_ptr<Transport> group(const std::vector<int>& ranks) override
    {
        MPI_Group all = MPI_GROUP_NULL;
        MPI_Group some = MPI_GROUP_NULL;
        MPI_Comm made = MPI_COMM_NULL;
        check_mpi(MPI_Comm_group(communicator_, &all), "MPI_Comm_group");
        check_mpi(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some), "MPI_Group_incl");
        check_mpi(MPI_Comm_create_group(communicator_, some, 0, &made), "MPI_Comm_create_group");
        MPI_Group_free(&some);
        MPI_Group_free(&all);
        return std::make_unique<MpiTransport>(made, waiting_.progress(), algorithm_);
    }

    std::unique_ptr<otf2::Team> team() override { return std::make_unique<otf2::MpiTeam>(communicator_); }

    void record(otf2::LocationRecorder* location) override
    {
        if (location != nullptr)
            otf2::record_mpi_here(*location);
        else
            otf2::record_mpi_no_more();
    }

    void abort(int code) noexcept override
    {
        MPI_Abort(MPI_COMM_WORLD, code);
        _exit(code);
    }

    nlohmann::ordered_json describe() const override
    {
        return {{"name", "mpi"},
                {"library", library_version()},
                {"progress", format(waiting_.progress())},
                {"half_precision", "MPI type and operation defined by ddl-train"},
                {"mpi_yield_when_idle", yield_when_idle()}};
    }

 private:
    template <class Value>
    void sum(std::span<Value> values, MPI_Datatype type, MPI_Op operation)
    {
        if (values.empty()) barrier();
        while (!values.empty()) {
            const std::span<Value> part = values.first(std::min(values.size(), largest_count));
            algorithm_->choose_for(part.size(), size_);
            finish(
                [&](MPI_Request* request) {
                    return MPI_Iallreduce(MPI_IN_PLACE, part.data(), static_cast<int>(part.size()), type, operation,
                                          communicator_, request);
                },
                "MPI_Iallreduce");
            values = values.subspan(part.size());
        }
    }

    template <class Value>
    void reduce_scatter(std::span<Value> values, std::span<const int> lengths, MPI_Datatype type, MPI_Op operation)
    {
        if (values.size() > largest_count) base::fail("a reduce-scatter is limited to 2^30 values");
        finish(
            [&](MPI_Request* request) {
                return MPI_Ireduce_scatter(MPI_IN_PLACE, values.data(), lengths.data(), type, operation, communicator_,
                                           request);
            },
            "MPI_Ireduce_scatter");
        // With MPI_IN_PLACE, MPI stores this rank's sums at the start of the buffer, where the first rank's part
        // begins.
        const auto mine = static_cast<std::size_t>(lengths[static_cast<std::size_t>(rank_)]);
        const auto begin = static_cast<std::size_t>(begins(lengths)[static_cast<std::size_t>(rank_)]);
        std::memmove(values.data() + begin, values.data(), mine * sizeof(Value));
    }

    template <class Start>
    void finish(Start start, const char* call)
    {
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(start(&request), call);
        waiting_.begin();
        for (int done = 0; done == 0;) {
            check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (done != 0) return;
            abort_if_asked();
            waiting_.pause();
        }
    }

    void abort_if_asked() noexcept
    {
        if (abort_code() != 0) abort(abort_code());
    }

    MPI_Comm communicator_;
    Waiting waiting_;
    std::shared_ptr<SumAlgorithm> algorithm_;
    int rank_ = 0;
    int size_ = 1;
    MPI_Datatype half_type_ = MPI_DATATYPE_NULL;
    MPI_Op sum_of_halves_ = MPI_OP_NULL;
    MPI_Op mean_of_two_ = MPI_OP_NULL;
    std::optional<MpiMailbox> mailbox_;  // exists as long as the communicator
};

// The transport of all ranks (MPI_COMM_WORLD).
class WorldTransport : private MpiLibrary, public MpiTransport {
 public:
    explicit WorldTransport(const Progress& progress)
        : MpiTransport{MPI_COMM_WORLD, progress, std::make_shared<SumAlgorithm>()}
    {
        base::check_job_size(size());
    }
};

}  // namespace

extern const TransportCard mpi_transport{
    .name = "mpi",
    .summary = "the ranks of an MPI job",
    .offers = {&host_exchange, &messages, &groups, &progress_policy},
    .options = {},
    .make = [](const base::Settings&, const TransportPlan& plan) -> std::unique_ptr<Transport> {
        return std::make_unique<WorldTransport>(plan.progress);
    },
};

}  // namespace ddl
