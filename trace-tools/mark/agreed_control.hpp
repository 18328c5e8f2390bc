// SPDX-License-Identifier: Apache-2.0
// The positive control for a program whose ranks exchange data in every step, but not through us. Rank 0 writes what
// the next step shall do to a page shared by all ranks of the host, before it enters the exchange that the other ranks
// need in order to reach that step.
#pragma once

#include "base/contract/control_file.hpp"
#include "trace-tools/training/phase_clock.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>

namespace mark {

struct RankPage {
    std::array<std::atomic<std::uint64_t>, 16> wishes;  // by step modulo 16: (step + 1) * 8 + the ControlRequest
    std::atomic<std::uint64_t> arrived;                 // at all barriers so far, by all ranks
    std::atomic<std::uint32_t> given_up;                // a rank did not come: no further step is controlled
};
static_assert(sizeof(RankPage) <= 4096);  // it must fit into one page

class AgreedControl {
 public:
    // Maps `file`, made by rank 0 with make(). All ranks must be on this host. `delay` is a text such as "4ms", or "5%"
    // of a quiet step; only rank 0's is used. Throws UsageError for any other text.
    AgreedControl(const std::filesystem::path& file, int rank, int size, const std::string& delay,
                  base::ControlPage& page);
    ~AgreedControl();
    AgreedControl(const AgreedControl&) = delete;
    AgreedControl& operator=(const AgreedControl&) = delete;

    static void make(const std::filesystem::path& file);

    // Call right after a step has begun on this rank: rank 0 writes the request for the next step, then all ranks carry
    // out the request for this step, as in ddl-train.
    void at_begin(std::uint64_t step, training::PhaseClock& clock);

    // Passes the step's times; rank 0 learns from the first steps how long a quiet step takes.
    void at_end(const training::StepTimes& times);

    std::int64_t delay_ns() const { return delay_ns_; }  // 0: not known yet

    // The checkpoint that noisegen asks for in the step at hand, once a slot; the same on all ranks. Counts as taken
    // up.
    base::ControlRequest take_checkpoint();

 private:
    base::ControlRequest request_for_next_step(std::int64_t now_ns, bool this_is_controlled);
    bool barrier();
    void make_delay(base::ControlRequest request, training::PhaseClock& clock);

    RankPage* shared_;
    base::ControlPage& page_;
    int rank_;
    std::uint64_t size_;
    std::uint64_t barriers_ = 0;
    double share_ = 0.0;  // share of a quiet step; 0: the delay is an absolute time
    std::int64_t delay_ns_ = 0;
    std::int64_t last_plain_ns_ = 0;
    std::int64_t checkpoint_slot_end_ns_ = 0;  // rank 0: of the last slot with a checkpoint
    base::ControlRequest checkpoint_ = base::ControlRequest::none;
    std::vector<std::int64_t> quiet_ns_;
};

}  // namespace mark
