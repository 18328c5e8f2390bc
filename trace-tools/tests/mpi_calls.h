// SPDX-License-Identifier: Apache-2.0
// Declarations shared by the two sources of mpi-calls.
#pragma once

#include <mpi.h>

extern int rank;

void count(const char* name);

// Calls the function and counts the call.
#define DO(function, ...) (count(#function), (void)function(__VA_ARGS__))

void call_everything(void);
void failures(void);  // calls that MPI refuses
void use_and_free(MPI_Comm made);
