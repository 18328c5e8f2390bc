// SPDX-License-Identifier: Apache-2.0
// Alters a training's live state in the same way as ddl-alter would alter its checkpoint with the same seed.
#pragma once

#include "base/contract/trials.hpp"
#include "ddl-workloads/models/model.hpp"

#include <cstdint>
#include <string>

namespace ddl {

// True if the trial alters the state of that rank.
bool alters(const base::Trial& trial, int rank);

struct DrawnAlteration {
    std::string path = {};    // paths of the altered tensors, without repetition, joined by base::path_separator
    std::string bits = {};    // positions of the flipped bits in any altered number, from the left
    std::string index = {};   // index of the first altered number of each path
    double drawn_from = 0.0;  // number of bits that might have been flipped
};

// Flips bits as described by a row of kind `trial`. Throws Error as check_alteration() does.
DrawnAlteration alter_state(Model& model, const base::Trial& trial);

// Throws Error, naming what the model has, if the model lacks such a tensor, if its numbers have too few bits, or if it
// has too few numbers.
void check_alteration(Model& model, const base::Trial& trial);

// Sets the first number of the model's last parameter tensor to NaN. Throws Error as check_positive() does.
DrawnAlteration put_nan(Model& model);

// Throws Error if the model has no 32-bit parameters, which positive trials alter.
void check_positive(Model& model);

// Summary of all floating-point numbers of the state.
struct StateNumbers {
    double largest = 0.0;  // largest absolute value among the finite numbers
    std::int64_t not_finite = 0;
};
StateNumbers numbers_of(Model& model);

// FNV-1a over the CRC-32C of each tensor of the state.
std::string state_checksum(Model& model);

}  // namespace ddl
