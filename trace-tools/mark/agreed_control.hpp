// SPDX-License-Identifier: Apache-2.0
// The positive control (known delay) for a program that marks its steps and exchanges data among all ranks in every
// step. Before rank 0 enters that exchange, it writes the request for the next step to a page shared by all ranks of
// the host; no other rank can reach the next step earlier.
#pragma once

#include "base/contract/control_file.hpp"
#include "trace-tools/training/phase_clock.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>

namespace mark {

struct RankPage {
    std::array<std::atomic<std::uint64_t>, 16> wishes;  // requests by step modulo 16: (step + 1) * 8 + ControlRequest
    std::atomic<std::uint64_t> arrived;                 // number of arrivals at barriers so far, of all ranks
    std::atomic<std::uint32_t> given_up;                // a rank did not arrive in time: no further step is controlled
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

    // The checkpoint that noisegen requests for the current step, at most one per slot; the same on all ranks. Marks
    // the request as served.
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
