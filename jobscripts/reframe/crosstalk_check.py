# SPDX-License-Identifier: Apache-2.0
"""Is this node still quiet? A check for ReFrame: a training under noise, whose verdict must not be unsafe.

    reframe -c crosstalk_check.py -r -S 'NodeIsQuiet.budget=2%' -S 'NodeIsQuiet.length=5m'

crosstalk must be on PATH, by a module or a package. What the neighbour costs is kept as performance, so that a change
of a kernel, of the firmware or of Slurm shows."""

import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import performance_function, run_before, sanity_function, variable


@rfm.simple_test
class NodeIsQuiet(rfm.RunOnlyRegressionTest):
    descr = "Training on this node stands a neighbour on its idle cores"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "crosstalk"
    time_limit = "1h"
    keep_files = ["verdict.json", "run/report"]

    training = variable(str, value="mpirun -n 2 ddl-train --model 'emulated[compute=15ms,gradients=4MiB]' --data synthetic")
    budget = variable(str, value="1%")
    length = variable(str, value="150s")
    fail_on = variable(str, value="unsafe")

    @run_before("run")
    def say_what_to_run(self):
        self.executable_opts = ["run", "--budget", self.budget, "--duration", self.length, "--fail-on", self.fail_on,
                                "--out", "run", "--export-json", "verdict.json", "--", self.training]

    def verdict(self):
        with open(os.path.join(self.stagedir, "verdict.json"), encoding="utf-8") as file:
            return json.load(file)

    @sanity_function
    def nothing_is_unsafe(self):
        return sn.all([
            sn.assert_eq(self.job_exit_code(), 0, "crosstalk ended with {0}"),
            sn.assert_true(os.path.exists(os.path.join(self.stagedir, "verdict.json")), "there is no verdict"),
        ])

    def job_exit_code(self):
        return 0 if self.job.exitcode is None else self.job.exitcode

    @run_before("performance")
    def keep_effects(self):
        if self.is_dry_run():
            return
        for name, factor in self.verdict()["factors"].items():
            self.perf_variables[name] = sn.make_performance_function(sn.defer(factor["effect_percent"]), "%")

    @performance_function("ms")
    def quiet_step(self):
        return self.verdict()["quiet_step_ms"]
