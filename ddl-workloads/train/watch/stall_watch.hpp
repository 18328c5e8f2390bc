// SPDX-License-Identifier: Apache-2.0
// A report instead of a silent hang: says which ranks wait, since when and for what, and which have not come.
#pragma once

#include "ddl-workloads/instruments/instruments.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ddl {

// Report of a stalled rank.
struct StalledRank {
    int rank = 0;
    bool waits = false;  // for other ranks
    std::string where;   // "wait_exchange of step 12 for 60 s, bucket 1 being exchanged"
};

// One line: "no progress for 60s; waiting: rank 0 (..); not come: rank 1 (..); silent: rank 3". Ranks that said nothing
// are silent: stopped, dead, or on a node that is gone.
std::string stall_report(const std::vector<StalledRank>& stalled, int ranks, base::Nanoseconds after);

// A thread of this rank that looks now and then whether its main thread still goes from phase to phase. If not for so
// long, the rank leaves a word in `directory`, which all ranks see; a little later the first of those that did reports,
// and ends the job with exit code 1.
class StallWatch {
 public:
    StallWatch(base::Nanoseconds after, std::filesystem::path directory, Instruments& instruments,
               ExchangeThread& exchanges);
    ~StallWatch();
    StallWatch(const StallWatch&) = delete;
    StallWatch& operator=(const StallWatch&) = delete;

 private:
    void watch();
    bool rest(base::Nanoseconds time);  // false: this is over
    StalledRank myself() const;
    void report() const;

    base::Nanoseconds after_;
    std::filesystem::path directory_;
    Instruments& instruments_;
    ExchangeThread& exchanges_;
    std::mutex mutex_;
    std::condition_variable over_changed_;
    bool over_ = false;
    std::thread thread_;
};

}  // namespace ddl
