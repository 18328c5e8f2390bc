// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/mark/agreed_control.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/mapped_page.hpp"
#include "base/system/waiting.hpp"
#include "base/units.hpp"
#include "trace-tools/training/known_delay.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace mark {

namespace {

constexpr std::int64_t barrier_within_ns = 2'000'000'000;  // longest wait for all ranks at a barrier
constexpr std::int64_t look_again_ns = 20'000;
constexpr std::uint64_t request_bits = 3;

}  // namespace

void AgreedControl::make(const std::filesystem::path& file)
{
    const base::Descriptor made = base::check_errno(
        ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600), "create ", file.string());
    const int why = ::posix_fallocate(made, 0, sizeof(RankPage));
    if (why != 0) throw std::system_error{why, std::generic_category(), "create " + file.string()};
}

AgreedControl::AgreedControl(const std::filesystem::path& file, int rank, int size, const std::string& delay,
                             base::ControlPage& page)
    : page_{page}, rank_{rank}, size_{static_cast<std::uint64_t>(size)}
{
    if (delay.ends_with('%'))
        share_ = base::parse<base::Percent>(delay).fraction();
    else
        delay_ns_ = base::parse<base::Nanoseconds>(delay).count();
    const base::Descriptor opened =
        base::check_errno(::open(file.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC), "open ", file.string());
    void* const memory = ::mmap(nullptr, sizeof(RankPage), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    if (memory == MAP_FAILED) throw std::system_error{errno, std::generic_category(), "map " + file.string()};
    base::keep_without_file(memory);  // if the file is truncated, the ranks lose only the control
    shared_ = static_cast<RankPage*>(memory);
}

AgreedControl::~AgreedControl()
{
    base::forget_page(shared_);
    ::munmap(shared_, sizeof(RankPage));
}

void AgreedControl::at_begin(std::uint64_t step, training::PhaseClock& clock)
{
    if (shared_->given_up.load() != 0) return;
    const auto wish_for = [this](std::uint64_t number) -> std::atomic<std::uint64_t>& {
        return shared_->wishes[number % shared_->wishes.size()];
    };
    const std::uint64_t wished = wish_for(step).load(std::memory_order_acquire);
    const bool for_this_step = wished >> request_bits == step + 1;
    const auto request = static_cast<base::ControlRequest>(wished & ((1U << request_bits) - 1));
    if (rank_ == 0) {
        page_.acknowledged.fetch_add(1, std::memory_order_relaxed);
        const bool controlled = for_this_step && request != base::ControlRequest::none && !base::is_checkpoint(request);
        const auto next = static_cast<std::uint64_t>(request_for_next_step(base::now_ns(), controlled));
        wish_for(step + 1).store((step + 2) << request_bits | next, std::memory_order_release);
    }
    checkpoint_ = for_this_step && base::is_checkpoint(request) ? request : base::ControlRequest::none;
    if (for_this_step && !base::is_checkpoint(request)) make_delay(request, clock);
}

base::ControlRequest AgreedControl::take_checkpoint()
{
    if (checkpoint_ != base::ControlRequest::none && rank_ == 0) page_.served.fetch_add(1, std::memory_order_relaxed);
    return std::exchange(checkpoint_, base::ControlRequest::none);
}

base::ControlRequest AgreedControl::request_for_next_step(std::int64_t now_ns, bool this_is_controlled)
{
    if (const auto asked = base::new_checkpoint(page_, now_ns, checkpoint_slot_end_ns_);
        asked != base::ControlRequest::none)
        return asked;
    if (delay_ns_ == 0) return base::ControlRequest::none;
    return base::request_for_next_step(page_, now_ns, last_plain_ns_, this_is_controlled, delay_ns_);
}

bool AgreedControl::barrier()
{
    const std::uint64_t all = ++barriers_ * size_;
    shared_->arrived.fetch_add(1, std::memory_order_acq_rel);
    const std::int64_t deadline_ns = base::now_ns() + barrier_within_ns;
    while (shared_->arrived.load(std::memory_order_acquire) < all) {
        if (shared_->given_up.load() != 0) return false;
        if (base::now_ns() > deadline_ns) {
            if (shared_->given_up.exchange(1) == 0)
                base::warn("not all ranks reached the barrier of the control, perhaps because they do not exchange in ",
                           "every step; from now on no step is delayed");
            return false;
        }
        base::sleep_until_ns(base::now_ns() + look_again_ns);
    }
    return true;
}

void AgreedControl::make_delay(base::ControlRequest request, training::PhaseClock& clock)
{
    if (request == base::ControlRequest::none) return;
    const bool together = training::make_known_delay(request, delay_ns_, rank_, clock, [this] { return barrier(); });
    if (together && rank_ == 0) page_.controlled.fetch_add(1, std::memory_order_relaxed);
}

void AgreedControl::at_end(const training::StepTimes& times)
{
    last_plain_ns_ = times.without_control_ns();
    if (share_ == 0.0 || delay_ns_ != 0 || times.step < base::control_first_quiet_step) return;
    quiet_ns_.push_back(last_plain_ns_);
    if (quiet_ns_.size() < base::control_quiet_steps) return;
    std::sort(quiet_ns_.begin(), quiet_ns_.end());
    delay_ns_ = std::llround(share_ * static_cast<double>(quiet_ns_[quiet_ns_.size() / 2]));
}

}  // namespace mark
