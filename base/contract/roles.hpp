// SPDX-License-Identifier: Apache-2.0
// Purpose of a factor of an experiment. Recorded with each slot of a noise archive.
#pragma once

#include <string>

namespace base {

enum class Role {
    treatment,  // noise whose effect is asked for
    placebo,    // does nothing
    delay,      // asks the training for a known delay: barriers, a rest and the delay
    sham,       // asks for the same barriers and rest without a delay: what the delay is measured against
    pause,      // stops the training's processes for known times
};

// "treatment", "placebo", "delay", "sham", "pause". parse_role() throws Error for any other word.
std::string text(Role role);
Role parse_role(const std::string& word);

// Does the training do what it asks for, or have done to it, so that it must be connected? All but noise and placebo.
inline bool is_control(Role role)
{
    return role == Role::delay || role == Role::sham || role == Role::pause;
}

// Has it steps of its own, which it lengthens as wholes?
inline bool acts_on_whole_steps(Role role)
{
    return role == Role::delay || role == Role::sham;
}

}  // namespace base
