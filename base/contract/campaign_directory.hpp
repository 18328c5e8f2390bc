// SPDX-License-Identifier: Apache-2.0
// Names in the directory of a campaign, DIR:
//
//     DIR/{spec.ini, plan.csv}       what is to be run
//     DIR/runs/<run>/                a run that counts; it appears by rename
//     DIR/runs/<run>.partial/        one in progress, or was cut off
//     DIR/failed/<run>.<attempt>/    one that does not count; its status.json says why
//     DIR/report/{runs.csv, left_out.csv, effects.csv, designed.csv, index.html}
//     DIR/{driver.lock, block-<block>.lock, stop, site.sh, log/}
#pragma once

namespace base::campaign {

inline constexpr const char* spec = "spec.ini";
inline constexpr const char* plan = "plan.csv";
inline constexpr const char* runs = "runs";
inline constexpr const char* failed = "failed";
inline constexpr const char* partial = ".partial";  // behind a run's name
inline constexpr const char* log = "log";
inline constexpr const char* stop = "stop";     // is there: whoever runs the campaign is to end
inline constexpr const char* site = "site.sh";  // lines of a cluster, for its jobs
inline constexpr const char* driver_lock = "driver.lock";

inline constexpr const char* run_table = "runs.csv";  // of report/, as the next
inline constexpr const char* left_out_table = "left_out.csv";
inline constexpr const char* effect_table = "effects.csv";
inline constexpr const char* designed_table = "designed.csv";

inline constexpr const char* no_noise = "none";      // in the column noise: nothing runs beside the training
inline constexpr const char* designed = "designed";  // .. slots in random order, noise and quiet

// In the environment of everything that a run starts: its directory while it is in progress.
inline constexpr const char* variable = "CROSSTALK_CAMPAIGN_RUN";

}  // namespace base::campaign
