/* SPDX-License-Identifier: Apache-2.0 */
/* Marks the steps of a program and their phases for Crosstalk. Callable from C and C++; Fortran and Python use it
 * through bindings. Link with -lcrosstalk-mark.
 *
 *     while (training) {
 *         crosstalk_step();
 *         crosstalk_phase("load");     load();
 *         crosstalk_phase("forward");  forward();
 *         crosstalk_phase(NULL);       this_is_in_no_phase();
 *     }
 *     crosstalk_end();
 *
 * Under `crosstalk run -- ./program` each process writes its steps to the run's directory: train/steps.csv and an OTF2
 * archive in train/trace. Without the environment variable CROSSTALK_OUT these calls do nothing. Errors are
 * reported in one line on stderr, and the program continues.
 *
 *   CROSSTALK_OUT            directory of the run
 *   CROSSTALK_CONTROL_DELAY  delay of a step while `noisegen` requests control.delay: a time, or a share of a quiet
 *                            step such as 5%. All processes must be on one host. If unset, steps are not delayed.
 *
 * Rank and number of ranks come from the environment that mpirun, srun or torchrun sets. One thread marks the steps;
 * any thread may mark phases, but not two threads at the same time.
 */
#ifndef CROSSTALK_MARK_H
#define CROSSTALK_MARK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the current step, if any, and begins the next. The first call starts the recording, and waits until every
 * process of the job has made it. */
void crosstalk_step(void);

/* Ends the current step. Time until the next crosstalk_step() belongs to no step. */
void crosstalk_step_end(void);

/* Discards the current step, because the program ends before the step does. Without this call the last step ends with
 * the program. */
void crosstalk_step_drop(void);

/* Ends the current phase and begins this one, such as load, to_device, forward, backward, wait_exchange, update or
 * checkpoint. A name that is no phase of steps.csv becomes a region in the archive. NULL: no phase. Does nothing
 * outside of steps. */
void crosstalk_phase(const char* name);

/* Ends the current step and the recording. Not needed if the process exits, or is ended by SIGTERM, SIGINT or SIGHUP.
 */
void crosstalk_end(void);

/* For bindings that learn late that a step has begun: like crosstalk_step() and crosstalk_phase(), but at an earlier
 * time, in ns of CLOCK_MONOTONIC, not before the last time given. crosstalk_control() then makes the delay, if
 * requested. */
void crosstalk_step_at(int64_t at_ns);
void crosstalk_phase_at(const char* name, int64_t at_ns);
void crosstalk_control(void);

/* Once a step, in it or before the next one: 1 if `noisegen` (job.checkpoint) wants a checkpoint now and the program to
 * wait for it, 2 if it wants one that is written beside the next steps, 0 if none. All ranks of a step get the same
 * answer. Needs CROSSTALK_CONTROL_DELAY, which `crosstalk run` sets. */
int crosstalk_checkpoint_wanted(void);

/* 1 if this process records steps, else 0. */
int crosstalk_records(void);

/* Rank of this process, as in steps.csv; -1 if it does not record steps. */
int crosstalk_rank(void);

#ifdef __cplusplus
}
#endif

#endif
