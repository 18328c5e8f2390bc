/* SPDX-License-Identifier: Apache-2.0 */
/* Tells Crosstalk where the steps of a program begin and which phase each is in: from C, C++, and through it Fortran
 * and Python. Link with -lcrosstalk-mark.
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
 * archive in train/trace. Elsewhere, without the variable CROSSTALK_OUT, all of this does nothing. Whatever goes wrong
 * is said in one line on stderr; the program continues.
 *
 *   CROSSTALK_OUT            directory of the run
 *   CROSSTALK_CONTROL_DELAY  how long a step is delayed while `noisegen` asks for control.delay: a time, or a share of
 *                            a quiet step such as 5%; without it never. All processes must be on one host then.
 *
 * Rank and number of ranks come from the environment that mpirun, srun or torchrun sets. Steps are those of one thread;
 * phases may be told by any, if not at the same time.
 */
#ifndef CROSSTALK_MARK_H
#define CROSSTALK_MARK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the step that was, and begins the next. The first call begins the recording: then every process of the job has
 * to come here. */
void crosstalk_step(void);

/* Ends the step that was: what comes until the next crosstalk_step() is in no step. */
void crosstalk_step_end(void);

/* The step that was does not come to its end, for the program ends before: it is no step. Without this call the end of
 * the program is the end of its last step. */
void crosstalk_step_drop(void);

/* Ends the phase that was, and begins this one: load, to_device, forward, backward, wait_exchange, update, checkpoint.
 * Another name is a region in the archive, but no phase of the report. NULL: none. Outside of steps it does nothing. */
void crosstalk_phase(const char* name);

/* Ends step and recording. A process that exits, or is ended by SIGTERM, SIGINT or SIGHUP, need not call it. */
void crosstalk_end(void);

/* For bindings that learn late that a step has begun: the same at an earlier time of CLOCK_MONOTONIC, in ns, which must
 * not lie before the last one told. The step has no delay of the control until crosstalk_control(), now, says so. */
void crosstalk_step_at(int64_t at_ns);
void crosstalk_phase_at(const char* name, int64_t at_ns);
void crosstalk_control(void);

/* Once a step, before its end: 1 if `noisegen` (job.checkpoint) wants a checkpoint now and the program to wait for it,
 * 2 if it wants one that is written beside the next steps, 0 if none. All ranks of a step get the same answer. Needs
 * CROSSTALK_CONTROL_DELAY, which `crosstalk run` sets. */
int crosstalk_checkpoint_wanted(void);

/* 1 if this process records steps, else 0. */
int crosstalk_records(void);

#ifdef __cplusplus
}
#endif

#endif
