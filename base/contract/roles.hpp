// SPDX-License-Identifier: Apache-2.0
// Purpose of a factor of an experiment. Recorded with each slot of a noise archive.
#pragma once

#include <string>

namespace base {

enum class Role {
    treatment,  // noise whose effect is measured
    placebo,    // does nothing
    delay,      // asks the training for a known delay: barriers, a rest, and the delay
    sham,       // asks for the same barriers and rest without a delay: the baseline of the delay
    pause,      // stops the training's processes for known times
};

// "treatment", "placebo", "delay", "sham", "pause". parse_role() throws Error for any other word.
std::string text(Role role);
Role parse_role(const std::string& word);

// Does the role act on the training itself, so that the training must be connected? True for all roles but treatment
// and placebo.
inline bool is_control(Role role)
{
    return role == Role::delay || role == Role::sham || role == Role::pause;
}

// Does the role lengthen whole steps, which belong to it alone?
inline bool acts_on_whole_steps(Role role)
{
    return role == Role::delay || role == Role::sham;
}

}  // namespace base
