// SPDX-License-Identifier: Apache-2.0
// How often to write checkpoints: the intervals of Young and Daly, and the share of time that an interval loses.
#pragma once

namespace analysis {

// Costs of checkpoints and failures, in seconds.
struct CheckpointCosts {
    double checkpoint_s = 0.0;  // time that a checkpoint adds to the training
    double mtbf_s = 0.0;        // mean time between failures, which are a Poisson process
    double restart_s = 0.0;     // from a failure until the training continues from a checkpoint; it may fail, too
    double unfinished_s = 0.0;  // time until a checkpoint can be read back, beyond checkpoint_s: that of an async write
};

// Time of training between two checkpoints, in seconds. Young 1974: sqrt(2 C M), a first-order approximation. Daly
// 2006, of higher order: sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + C / 2M / 9) - C for C < 2 M, else M.
double young_interval_s(double checkpoint_s, double mtbf_s);
double daly_interval_s(double checkpoint_s, double mtbf_s);

// Shares of the elapsed time, 0 to 1.
struct LostShares {
    double checkpoints = 0.0;
    double rework = 0.0;  // work since the last checkpoint, done again after a failure
    double restarts = 0.0;

    double total() const { return checkpoints + rework + restarts; }
};

// Expected shares with `interval_s` of training between checkpoints: Daly's complete model (2006), in which the elapsed
// time is M exp(R / M) (exp((T + C) / M) - 1) for each interval T. In addition a failure repeats the time
// until the checkpoint before it could be read back.
LostShares lost_shares(double interval_s, const CheckpointCosts& costs);

}  // namespace analysis
