// SPDX-License-Identifier: Apache-2.0
// Transports carry the exchange between ranks: the calls of one library, made on the transport thread and nowhere else.
#pragma once

#include "base/cli/capabilities.hpp"
#include "base/cli/cards.hpp"
#include "base/gpu/cuda_driver.hpp"
#include "ddl-workloads/transports/half.hpp"
#include "ddl-workloads/transports/mailbox.hpp"
#include "ddl-workloads/transports/progress.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <nlohmann/json_fwd.hpp>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ddl {

// NaN as one pattern of bits: of two different ones a sum has that which the processor was given first, and so differs
// by algorithm and rank.
inline float with_one_nan(float value)
{
    return std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : value;
}

// Numbers in a GPU's memory, and the stream of CUDA's whose work comes before what is done with them.
struct GpuNumbers {
    base::cuda::Address address = 0;
    std::size_t count = 0;  // floats
    base::cuda::Stream stream = nullptr;
};

// Exchange of numbers in a GPU's memory. Calls return as soon as the work is queued; later work on that stream
// uses the result.
class GpuExchange {
 public:
    virtual ~GpuExchange() = default;
    // In place, over all ranks.
    virtual void mean(const GpuNumbers& numbers) = 0;
};

// The plug-in. Every call but ask_abort() comes on the transport thread, which also made the transport and will destroy
// it; collective calls come in the same order on all ranks and return when this rank's part is done. Memory is the
// host's, but that of a GpuExchange.
class Transport {
 public:
    virtual ~Transport() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;

    // In place, element by element over all ranks; every rank ends with the same bits.
    virtual void sum(std::span<float> values) = 0;

    // The same in half precision.
    virtual void sum(std::span<Half> values) = 0;

    // The mean, with the bits of the sum times 1/ranks, and with one NaN.
    virtual void mean(std::span<float> values)
    {
        sum(values);
        const float share = 1.0F / static_cast<float>(size());
        if (size() > 1)
            for (float& value : values) value = with_one_nan(value * share);
    }

    // Like sum(), but of each rank's part alone: parts lie one after the other in rank order, as long as `lengths` says
    // (the same on all ranks). Afterwards this rank's part holds its sums, of two ranks with the bits of sum(); what
    // the others hold is anything.
    virtual void reduce_scatter(std::span<float> values, std::span<const int> /*lengths*/) { sum(values); }
    virtual void reduce_scatter(std::span<Half> values, std::span<const int> /*lengths*/) { sum(values); }

    // In place, bit by bit: what is set on every rank.
    virtual void bitwise_and(std::span<std::uint64_t> words) = 0;

    // Gathers the bytes of every rank, in rank order, on every rank: all.size() is ranks x mine.size().
    virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;

    // To every rank its part of `mine`, from every rank its part for this one into `all`. Parts lie one after the other
    // in rank order, as long as the counts say; counts of the ranks fit each other.
    virtual void all_to_all(std::span<const std::byte> mine, std::span<const int> sent_bytes, std::span<std::byte> all,
                            std::span<const int> received_bytes) = 0;

    virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
    virtual void barrier() = 0;

    // Messages between these ranks. Lives as long as the transport.
    virtual Mailbox& mailbox() { base::fail("this transport has no messages"); }

    // Between other calls: see Mailbox::advance().
    virtual bool advance() { return false; }

    // Collective over these ranks alone, all of which give the same list: their own transport, in which their place in
    // the list is their rank. To be destroyed before this one, by all of them.
    virtual std::unique_ptr<Transport> group(const std::vector<int>& /*ranks*/)
    {
        base::fail("this transport has no groups");
    }

    // Collective: connects the ranks' GPUs; `number` is this rank's. Lives as long as the transport. Null: not
    // supported, data of a GPU is exchanged through the host's memory.
    virtual GpuExchange* connect_gpus(int /*number*/) { return nullptr; }

    // On rank 0 the texts of all ranks in rank order, elsewhere nothing.
    virtual std::vector<std::string> gather(const std::string& text) = 0;

    // The ranks as a team that writes one trace; to be destroyed before the transport.
    virtual std::unique_ptr<otf2::Team> team() = 0;

    // From here on the library's calls are events of that location; null: no longer.
    virtual void record(otf2::LocationRecorder* location) = 0;

    // Ends all ranks of the job immediately, with this exit code.
    [[noreturn]] virtual void abort(int code) noexcept = 0;

    // For the run record: library, version, progress policy that is really in effect.
    virtual nlohmann::ordered_json describe() const = 0;

    // From any thread: a call that waits for other ranks shall give up waiting and abort().
    virtual void ask_abort(int code) noexcept { abort_code_ = code; }

 protected:
    int abort_code() const noexcept { return abort_code_; }

 private:
    std::atomic<int> abort_code_ = 0;  // 0: go on
};

// The job that a transport connects.
struct TransportPlan {
    Progress progress;
    std::filesystem::path run;  // directory that all ranks see
};

struct TransportCard {
    std::string name;
    std::string summary;
    base::Capabilities offers = {};
    base::Capabilities needs = {};
    std::vector<base::OptionCard> options;
    std::unique_ptr<Transport> (*make)(const base::Settings& settings, const TransportPlan& plan);
};

inline constexpr base::Capability host_exchange{"a transport that exchanges buckets in host memory"};
inline constexpr base::Capability messages{"a transport with messages between ranks"};
inline constexpr base::Capability groups{"a transport with groups of ranks"};
inline constexpr base::Capability progress_policy{"a transport with --progress"};

const base::Registry<TransportCard>& transports();

}  // namespace ddl
