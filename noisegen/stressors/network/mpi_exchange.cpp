// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/network/mpi_exchange.hpp"

#include "base/error.hpp"
#include "noisegen/stressors/network/mpi_rounds.hpp"

#include <algorithm>

namespace noisegen {

#if CROSSTALK_HAS_MPI

namespace {

std::string ranks(int size)
{
    return base::join(size, size == 1 ? " rank" : " ranks");
}

class Ring final : public Pattern {
 public:
    Ring(int rank, int size, std::size_t bytes, int window)
        : rank_{rank}, size_{size}, bytes_{bytes}, out_(bytes, 1), in_(static_cast<std::size_t>(window), out_)
    {
    }

    void begin(long, MPI_Comm communicator, std::vector<MPI_Request>& requests) override
    {
        const int next = (rank_ + 1) % size_;
        const int previous = (rank_ + size_ - 1) % size_;
        const int count = static_cast<int>(bytes_);
        for (std::vector<char>& in : in_) {
            check_mpi(MPI_Irecv(in.data(), count, MPI_BYTE, previous, 0, communicator, &requests.emplace_back()),
                      "receive");
            check_mpi(MPI_Isend(out_.data(), count, MPI_BYTE, next, 0, communicator, &requests.emplace_back()), "send");
        }
    }

    Work work(long) const override { return {.bytes = in_.size() * bytes_, .operations = in_.size()}; }

    std::string text() const override
    {
        return base::join("ring of ", ranks(size_), ", ", in_.size(), " messages of ", bytes_, " bytes a round");
    }

 private:
    int rank_;
    int size_;
    std::size_t bytes_;
    std::vector<char> out_;
    std::vector<std::vector<char>> in_;
};

class AllToAll final : public Pattern {
 public:
    AllToAll(int size, std::size_t bytes)
        : size_{size}, bytes_{bytes}, out_(bytes * static_cast<std::size_t>(size), 1), in_(out_)
    {
    }

    void begin(long, MPI_Comm communicator, std::vector<MPI_Request>& requests) override
    {
        const int count = static_cast<int>(bytes_);
        check_mpi(MPI_Ialltoall(out_.data(), count, MPI_BYTE, in_.data(), count, MPI_BYTE, communicator,
                                &requests.emplace_back()),
                  "send all to all");
    }

    Work work(long) const override
    {
        return {.bytes = bytes_ * static_cast<std::size_t>(std::max(size_ - 1, 1)), .operations = 1};
    }

    std::string text() const override
    {
        return base::join("all to all of ", ranks(size_), ", ", bytes_, " bytes a pair");
    }

 private:
    int size_;
    std::size_t bytes_;
    std::vector<char> out_;
    std::vector<char> in_;
};

class AllReduce final : public Pattern {
 public:
    AllReduce(int size, std::size_t bytes, std::size_t bucket)
        : size_{size},
          bucket_{std::min(bucket, bytes) / sizeof(float)},
          out_(bytes / sizeof(float), 1.0F),
          in_(out_),
          buckets_{static_cast<long>((out_.size() + bucket_ - 1) / bucket_)}
    {
    }

    void begin(long round, MPI_Comm communicator, std::vector<MPI_Request>& requests) override
    {
        const std::size_t at = first(round);
        check_mpi(MPI_Iallreduce(out_.data() + at, in_.data() + at, static_cast<int>(items(round)), MPI_FLOAT, MPI_SUM,
                                 communicator, &requests.emplace_back()),
                  "reduce");
    }

    Work work(long round) const override
    {
        const std::size_t bytes = items(round) * sizeof(float);
        const auto size = static_cast<std::size_t>(size_);
        return {.bytes = size_ == 1 ? bytes : 2 * (size - 1) * bytes / size,
                .operations = (round + 1) % buckets_ == 0 ? 1U : 0U};
    }

    std::string text() const override
    {
        return base::join("allreduce of ", ranks(size_), ", ", out_.size() * sizeof(float), " bytes in buckets of ",
                          bucket_ * sizeof(float));
    }

 private:
    std::size_t first(long round) const { return static_cast<std::size_t>(round % buckets_) * bucket_; }
    std::size_t items(long round) const { return std::min(bucket_, out_.size() - first(round)); }

    int size_;
    std::size_t bucket_;  // number of items
    std::vector<float> out_;
    std::vector<float> in_;
    long buckets_;
};

class Incast final : public Pattern {
 public:
    Incast(int rank, int size, std::size_t bytes, int window, std::optional<int> root)
        : rank_{rank}, size_{size}, bytes_{bytes}, window_{window}, root_{root}, out_(bytes, 1)
    {
        if (root_ && *root_ >= size_)
            base::fail_usage("network.incast[root]: no rank ", *root_, " among ", ranks(size_), "; give 0 to ",
                             size_ - 1, ", or rotate");
        if (!root_ || *root_ == rank_) in_.assign(bytes * static_cast<std::size_t>(window * senders()), 0);
    }

    void begin(long round, MPI_Comm communicator, std::vector<MPI_Request>& requests) override
    {
        const int root = root_.value_or(static_cast<int>(round % size_));
        if (root == rank_) receive(communicator, requests);
        if (root != rank_ || size_ == 1) send(root, communicator, requests);
    }

    Work work(long) const override
    {
        const auto messages = static_cast<std::size_t>(window_);
        return {.bytes = messages * bytes_, .operations = messages};
    }

    std::string text() const override
    {
        return base::join("incast of ", ranks(size_), " to ",
                          root_ ? base::join("rank ", *root_) : std::string{"each rank in turn"}, ", ", window_,
                          " messages of ", bytes_, " bytes a round");
    }

 private:
    int senders() const { return std::max(size_ - 1, 1); }

    void receive(MPI_Comm communicator, std::vector<MPI_Request>& requests)
    {
        char* to = in_.data();
        for (int message = 0; message < window_; ++message)
            for (int from = 0; from < size_; ++from) {
                if (from == rank_ && size_ > 1) continue;
                check_mpi(
                    MPI_Irecv(to, static_cast<int>(bytes_), MPI_BYTE, from, 0, communicator, &requests.emplace_back()),
                    "receive");
                to += bytes_;
            }
    }

    // The last message is synchronous: no sender gets far ahead of the root, where messages would pile up.
    void send(int root, MPI_Comm communicator, std::vector<MPI_Request>& requests)
    {
        for (int message = 0; message < window_; ++message) {
            const auto begin_send = message + 1 < window_ ? &MPI_Isend : &MPI_Issend;
            check_mpi(begin_send(out_.data(), static_cast<int>(bytes_), MPI_BYTE, root, 0, communicator,
                                 &requests.emplace_back()),
                      "send");
        }
    }

    int rank_;
    int size_;
    std::size_t bytes_;
    int window_;
    std::optional<int> root_;
    std::vector<char> out_;
    std::vector<char> in_;
};

}  // namespace

bool mpi_available()
{
    return true;
}

std::unique_ptr<Shared> share_mpi(const Place& place)
{
    return share_rounds(place);
}

std::unique_ptr<Stressor> make_mpi_exchange(const Place& place, std::size_t bytes, int window)
{
    return make_rounds(place, [=](int rank, int size) { return std::make_unique<Ring>(rank, size, bytes, window); });
}

std::unique_ptr<Stressor> make_mpi_alltoall(const Place& place, std::size_t bytes)
{
    return make_rounds(place, [=](int, int size) { return std::make_unique<AllToAll>(size, bytes); });
}

std::unique_ptr<Stressor> make_mpi_allreduce(const Place& place, std::size_t bytes, std::size_t bucket)
{
    return make_rounds(place, [=](int, int size) { return std::make_unique<AllReduce>(size, bytes, bucket); });
}

std::unique_ptr<Stressor> make_mpi_incast(const Place& place, std::size_t bytes, int window, std::optional<int> root)
{
    return make_rounds(place,
                       [=](int rank, int size) { return std::make_unique<Incast>(rank, size, bytes, window, root); });
}

#else

namespace {

constexpr const char* without_mpi = "noisegen was built without MPI";

}

bool mpi_available()
{
    return false;
}

std::unique_ptr<Shared> share_mpi(const Place&)
{
    base::unavailable(without_mpi);
}

std::unique_ptr<Stressor> make_mpi_exchange(const Place&, std::size_t, int)
{
    base::unavailable(without_mpi);
}

std::unique_ptr<Stressor> make_mpi_alltoall(const Place&, std::size_t)
{
    base::unavailable(without_mpi);
}

std::unique_ptr<Stressor> make_mpi_allreduce(const Place&, std::size_t, std::size_t)
{
    base::unavailable(without_mpi);
}

std::unique_ptr<Stressor> make_mpi_incast(const Place&, std::size_t, int, std::optional<int>)
{
    base::unavailable(without_mpi);
}

#endif

std::string mpi_summary(const std::string& summary)
{
    return mpi_available() ? summary : summary + " (this noisegen was built without MPI)";
}

}  // namespace noisegen
