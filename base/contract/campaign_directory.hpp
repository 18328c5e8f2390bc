// SPDX-License-Identifier: Apache-2.0
// Names in the directory of a campaign, DIR:
//
//     DIR/{spec.ini, plan.csv}       the runs to do
//     DIR/runs/<run>/                a run that counts; it appears by rename
//     DIR/runs/<run>.partial/        a run in progress, or one that was cut off
//     DIR/failed/<run>.<attempt>/    a run that does not count; its status.json says why
//     DIR/report/{runs.csv, left_out.csv, effects.csv, designed.csv, index.html}
//     DIR/{driver.lock, block-<block>.lock, stop, site.sh, log/}
#pragma once

namespace base::campaign {

inline constexpr const char* spec = "spec.ini";
inline constexpr const char* plan = "plan.csv";
inline constexpr const char* runs = "runs";
inline constexpr const char* failed = "failed";
inline constexpr const char* partial = ".partial";  // suffix of a run's name
inline constexpr const char* log = "log";
inline constexpr const char* stop = "stop";     // if this file exists, the campaign's driver ends
inline constexpr const char* site = "site.sh";  // the cluster's lines for job scripts
inline constexpr const char* driver_lock = "driver.lock";

inline constexpr const char* run_table = "runs.csv";  // files in report/: from here to designed.csv
inline constexpr const char* left_out_table = "left_out.csv";
inline constexpr const char* effect_table = "effects.csv";
inline constexpr const char* designed_table = "designed.csv";

inline constexpr const char* sweep_table = "sweep.csv";  // in DIR: trials of a sweep
inline constexpr const char* importance_table = "importance.csv";

inline constexpr const char* no_noise = "none";      // value of the column noise: the training runs without noise
inline constexpr const char* designed = "designed";  // value of the column noise: noise and quiet slots, random order

// Environment variable of every process of a run: the run's directory while it is in progress.
inline constexpr const char* variable = "CROSSTALK_CAMPAIGN_RUN";

}  // namespace base::campaign
