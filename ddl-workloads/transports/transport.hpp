// SPDX-License-Identifier: Apache-2.0
// Transports carry the exchanges between ranks. Each wraps one library, whose calls are made on the transport thread
// only.
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

// Replaces any NaN by one bit pattern: the sum of two different NaNs is the processor's first operand, and so would
// differ by algorithm and rank.
inline float with_one_nan(float value)
{
    return std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : value;
}

// Numbers in GPU memory, and the CUDA stream whose queued work must end before they are used.
struct GpuNumbers {
    base::cuda::Address address = 0;
    std::size_t count = 0;  // floats
    base::cuda::Stream stream = nullptr;
};

// Exchange of numbers in GPU memory. Calls return as soon as the work is queued; later work on that stream sees the
// result.
class GpuExchange {
 public:
    virtual ~GpuExchange() = default;
    // The mean over all ranks, in place.
    virtual void mean(const GpuNumbers& numbers) = 0;
};

// The plug-in's interface. All calls except ask_abort() are made on the transport thread, which also creates and
// destroys the transport. Collective calls come in the same order on all ranks and return when this rank's part is
// done. All memory is host memory, except in GpuExchange.
class Transport {
 public:
    virtual ~Transport() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;

    // Elementwise sum over all ranks, in place; every rank ends with the same bits.
    virtual void sum(std::span<float> values) = 0;

    // The same sum in half precision.
    virtual void sum(std::span<Half> values) = 0;

    // The mean, bitwise equal to the sum times 1/ranks, with every NaN replaced by with_one_nan().
    virtual void mean(std::span<float> values)
    {
        sum(values);
        const float share = 1.0F / static_cast<float>(size());
        if (size() > 1)
            for (float& value : values) value = with_one_nan(value * share);
    }

    // Like sum(), but each rank gets only its own part of the sum. Parts lie in rank order and `lengths` holds their
    // sizes (the same on all ranks). On two ranks the result is bitwise equal to sum(). The contents of the other parts
    // are undefined afterwards.
    virtual void reduce_scatter(std::span<float> values, std::span<const int> /*lengths*/) { sum(values); }
    virtual void reduce_scatter(std::span<Half> values, std::span<const int> /*lengths*/) { sum(values); }

    // Bitwise AND over all ranks, in place.
    virtual void bitwise_and(std::span<std::uint64_t> words) = 0;

    // Gathers the bytes of all ranks in rank order; every rank gets the result: all.size() is ranks x mine.size().
    virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;

    // Sends each rank its part of `mine`, and receives the parts for this rank into `all`. Parts lie in rank order; the
    // counts are their sizes in bytes, and counts of sender and receiver must agree.
    virtual void all_to_all(std::span<const std::byte> mine, std::span<const int> sent_bytes, std::span<std::byte> all,
                            std::span<const int> received_bytes) = 0;

    virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
    virtual void barrier() = 0;

    // Messages between the ranks of this transport. Lives as long as the transport.
    virtual Mailbox& mailbox() { base::fail("this transport has no messages"); }

    // Called between other calls: see Mailbox::advance().
    virtual bool advance() { return false; }

    // Collective over the listed ranks, all of which pass the same list. Returns a transport of these ranks, numbered
    // by their place in the list. All of them must destroy it before this transport.
    virtual std::unique_ptr<Transport> group(const std::vector<int>& /*ranks*/)
    {
        base::fail("this transport has no groups");
    }

    // Collective: connects the ranks' GPUs; `number` is this rank's GPU. The result lives as long as the transport.
    // Null: not supported, so data on a GPU is exchanged through host memory.
    virtual GpuExchange* connect_gpus(int /*number*/) { return nullptr; }

    // Gathers the texts of all ranks in rank order on rank 0; empty on other ranks.
    virtual std::vector<std::string> gather(const std::string& text) = 0;

    // The ranks as a team that writes one trace; must be destroyed before the transport.
    virtual std::unique_ptr<otf2::Team> team() = 0;

    // Records the library's later calls as events at `location`; null stops recording.
    virtual void record(otf2::LocationRecorder* location) = 0;

    // Ends all ranks of the job immediately, with this exit code.
    [[noreturn]] virtual void abort(int code) noexcept = 0;

    // For the run record: the library, its version, and the progress policy in effect.
    virtual nlohmann::ordered_json describe() const = 0;

    // May be called from any thread: asks a call that waits for other ranks to stop waiting and abort.
    virtual void ask_abort(int code) noexcept { abort_code_ = code; }

 protected:
    int abort_code() const noexcept { return abort_code_; }

 private:
    std::atomic<int> abort_code_ = 0;  // 0: no abort requested
};

// Parameters that every transport gets.
struct TransportPlan {
    Progress progress;
    std::filesystem::path run;  // run directory, visible to all ranks
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
