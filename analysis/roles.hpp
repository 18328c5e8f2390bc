// What a factor is there for, by the name of its stressor.
#pragma once

#include <string>

namespace analysis {

enum class Role {
    treatment,  // noise whose effect is asked for
    placebo,    // does nothing
    delay,      // asks the training for a known delay: barriers, a rest and the delay
    sham,       // asks for the same barriers and rest without a delay: what the delay is measured against
    pause,      // stops the training's processes for known times
};

inline Role role_of(const std::string& stressor)
{
    if (stressor == "placebo") return Role::placebo;
    if (stressor == "control.delay") return Role::delay;
    if (stressor == "control.sham") return Role::sham;
    if (stressor == "control.pause") return Role::pause;
    return Role::treatment;
}

// Has it steps of its own, which it lengthens as wholes?
inline bool acts_on_whole_steps(Role role)
{
    return role == Role::delay || role == Role::sham;
}

}  // namespace analysis
