// SPDX-License-Identifier: Apache-2.0
// Alters a training's live state: what ddl-alter would draw from its checkpoint, with the same seed.
#pragma once

#include "base/contract/trials.hpp"
#include "ddl-workloads/models/model.hpp"

#include <cstdint>
#include <string>

namespace ddl {

// Does the trial alter that rank?
bool alters(const base::Trial& trial, int rank);

struct DrawnAlteration {
    std::string path = {};    // of the tensors altered, once each, base::path_separator between
    std::string bits = {};    // that flipped in any of them, from the left
    std::string index = {};   // of the first number of each path
    double drawn_from = 0.0;  // bits that might have flipped
};

// Flips bits as a row of kind trial says. Throws Error as check_alteration() does.
DrawnAlteration alter_state(Model& model, const base::Trial& trial);

// Throws Error if the model has no such tensor, not as many bits in a number, or too few numbers: names what it has.
void check_alteration(Model& model, const base::Trial& trial);

// The first number of the model's last tensor of parameters becomes NaN. Throws Error as check_positive() does.
DrawnAlteration put_nan(Model& model);

// Throws Error if the model has no parameters of 32 bits.
void check_positive(Model& model);

// Count and checksum of all floating-point numbers of the state.
struct StateNumbers {
    double largest = 0.0;  // absolute, of the finite ones
    std::int64_t not_finite = 0;
};
StateNumbers numbers_of(Model& model);

// FNV-1a of the CRC-32C of each tensor of the state.
std::string state_checksum(Model& model);

}  // namespace ddl
