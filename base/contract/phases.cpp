#include "base/contract/phases.hpp"

#include "base/error.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <vector>

namespace base {

namespace {

const std::vector<std::string>& words_of_phases()  // in the order of TrainingPhase
{
    static const std::vector<std::string> all{"none",          "load",           "to_device", "forward",
                                              "backward",      "wait_exchange",  "update",    "checkpoint",
                                              "control_delay", "control_settle", "other"};
    return all;
}

}  // namespace

std::string text(TrainingPhase phase)
{
    const auto number = static_cast<std::size_t>(phase);
    return number < words_of_phases().size() ? words_of_phases()[number] : "unknown";
}

TrainingPhase parse_training_phase(const std::string& word)
{
    const std::vector<std::string> real{words_of_phases().begin() + 1, words_of_phases().end() - 1};
    const auto found = std::find(real.begin(), real.end(), word);
    if (found == real.end())
        fail_usage("'", word, "' is no phase of a training (", join_words(real, ", "), ")", did_you_mean(word, real));
    return static_cast<TrainingPhase>(found - real.begin() + 1);
}

}  // namespace base
