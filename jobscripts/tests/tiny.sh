# SPDX-License-Identifier: Apache-2.0
# A training and a noise small enough for a test. To be sourced.
# shellcheck shell=bash disable=SC2034 # used by scripts that source this file
tiny_model='emulated[compute=20ms,gradients=1MiB]'
tiny_data='synthetic[samples=320]'
tiny_schedule='rotation(memory.stream[bytes=16MiB], io.write[directory=DIRECTORY,block=64KiB], placebo, control.delay, control.sham; slot=200ms)'
tiny_schedule_in() { echo "${tiny_schedule/DIRECTORY/$1}"; }

# MPI unloads its plug-ins before a program ends: their leaks have no symbol names that a suppression could match.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0:malloc_context_size=0
