// SPDX-License-Identifier: Apache-2.0
// Names in the directory of a run, DIR. Each program writes its own part and reads those of the others:
//
//     DIR/control/<host>                             the control file
//     DIR/control/<host>.ranks                       shared state of ranks that report their steps by markers
//     DIR/train/{run.json, steps.csv, trace/traces.otf2}, and the tables of soft_error_tables.hpp and of
//         checkpoint_table.hpp
//     DIR/noise/<host>.<rank>/{noise.json, noise.csv, trace/traces.otf2}
//     DIR/os/<host>/{os.csv, os.json, trace/traces.otf2}, see os_table.hpp
//     DIR/report/{run.json, verdict.json, summary.json, ...}
//     DIR/log, DIR/status.json, DIR/request.json     written by the program that started the others
//     DIR/part-2/{train, noise, ..}, DIR/part-3/..   parts that were added to the run
//     DIR/run-1/{train, noise, ..}, DIR/run-2/..     a set of runs, in a directory without train/
//     OUT/probe/{probe.json, pressure.json}          written by noisegen probe, which runs without a training
#pragma once

namespace base::part {

inline constexpr const char* control = "control";
inline constexpr const char* train = "train";
inline constexpr const char* noise = "noise";  // folder with a subfolder for each process
inline constexpr const char* report = "report";
inline constexpr const char* log = "log";
inline constexpr const char* probe = "probe";       // written by noisegen probe, in a directory of its own
inline constexpr const char* added = "part-";       // prefix of the part's number
inline constexpr const char* one_of_runs = "run-";  // prefix of the run's number

}  // namespace base::part

namespace base {

constexpr int first_added_part = 2;                      // the first part is the run itself
inline constexpr const char* until_decided = "decided";  // value of "until" in request.json

}  // namespace base

namespace base::file {

inline constexpr const char* run_record = "run.json";  // file in train/ and report/
inline constexpr const char* steps = "steps.csv";
inline constexpr const char* pauses = "pauses.csv";
inline constexpr const char* of_ranks = ".ranks";  // suffix of the host's name in control/
inline constexpr const char* trace = "trace";      // folder of an archive
inline constexpr const char* archive = "traces";
inline constexpr const char* anchor = "traces.otf2";
inline constexpr const char* anchor_in_part = "trace/traces.otf2";
inline constexpr const char* noise_record = "noise.json";
inline constexpr const char* noise_rows = "noise.csv";
inline constexpr const char* noise_plan = "plan.json";  // this and the token: common to all noise processes of a run
inline constexpr const char* noise_token = "token";
inline constexpr const char* verdict = "verdict.json";
inline constexpr const char* summary = "summary.json";
inline constexpr const char* verdicts = "verdicts.csv";
inline constexpr const char* effects = "effects.csv";
inline constexpr const char* cores = "cores.csv";          // number of cores that the job needs, as a table
inline constexpr const char* cores_record = "cores.json";  // as JSON, in report/; in DIR for crosstalk cores --threads
inline constexpr const char* status = "status.json";       // outcome of the whole run
inline constexpr const char* request = "request.json";     // options of crosstalk run
inline constexpr const char* pressure = "pressure.json";   // in probe/: a program's pressure on each resource

}  // namespace base::file
