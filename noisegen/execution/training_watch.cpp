// SPDX-License-Identifier: Apache-2.0
#include "noisegen/execution/training_watch.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/system/mapped_page.hpp"

#include <algorithm>

namespace noisegen {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t look_ns = second_ns;
constexpr std::int64_t least_ns = 10 * second_ns;
constexpr std::int64_t gaps = 10;  // a phase may take this many times the longest gap so far

}  // namespace

TrainingWatch::TrainingWatch(const std::filesystem::path& run, const std::string& host, bool needs, std::int64_t now_ns)
    : path_{run / base::part::control / host}, began_ns_{now_ns}
{
    if (needs) {
        control_.emplace(base::ControlFile::open(run, host));
    } else if (std::filesystem::exists(path_)) {
        try {
            control_.emplace(base::ControlFile::open(run, host));
        } catch (const std::exception&) {  // file of another user or version: noise runs without it
        }
    }
}

std::optional<std::string> TrainingWatch::news(std::int64_t now_ns)
{
    if (!control_ || now_ns < looked_ns_ + look_ns) return {};
    looked_ns_ = now_ns;
    const std::int64_t updated = control_->page().updated_ns.load();
    if (base::page_lost(&control_->page())) {  // base::page_lost() has already been reported
        control_.reset();
        return {};
    }
    const bool came = updated > began_ns_;
    if (came && updated != updated_ns_) {
        if (updated_ns_ != 0) longest_gap_ns_ = std::max(longest_gap_ns_, updated - updated_ns_);
        updated_ns_ = updated;
    }
    const std::int64_t gap = now_ns - std::max(updated, began_ns_);
    const std::int64_t patience = std::max(least_ns, gaps * longest_gap_ns_);
    if (gap <= patience) {
        if (!silent_) return {};
        silent_ = false;
        return "the training continues";
    }
    if (silent_) return {};
    silent_ = true;
    if (!came) return base::join("no training uses ", path_.string(), ": noise continues alone");
    return base::join("the training has made no progress for ", gap / second_ns,
                      " s: it hangs or has ended; noise continues alone");
}

}  // namespace noisegen
