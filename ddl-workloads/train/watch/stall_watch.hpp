// SPDX-License-Identifier: Apache-2.0
// Reports a stall instead of hanging silently: which ranks wait, since when and for what, and which have not arrived.
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

// State of a rank that made no progress.
struct StalledRank {
    int rank = 0;
    bool waits = false;  // for other ranks
    std::string where;   // "wait_exchange of step 12 for 60 s, bucket 1 being exchanged"
};

// One line: "no progress for 60s; waiting: rank 0 (..); not arrived: rank 1 (..); silent (stopped, dead or cut off):
// rank 3". Silent ranks wrote no report: they are stopped, dead, or on an unreachable node.
std::string stall_report(const std::vector<StalledRank>& stalled, int ranks, base::Nanoseconds after);

// A thread that regularly checks whether the rank's main thread still enters new phases. If it has not for `after`, the
// rank writes a report to `directory`, which all ranks see; shortly afterwards the first of the reporting ranks prints
// a summary and ends the job with exit code 1.
class StallWatch {
 public:
    StallWatch(base::Nanoseconds after, std::filesystem::path directory, Instruments& instruments,
               ExchangeThread& exchanges);
    ~StallWatch();
    StallWatch(const StallWatch&) = delete;
    StallWatch& operator=(const StallWatch&) = delete;

 private:
    void watch();
    bool rest(base::Nanoseconds time);  // false: the watch is ending
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
