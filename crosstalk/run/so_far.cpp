// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/so_far.hpp"

#include "base/contract/run_directory.hpp"
#include "base/files.hpp"
#include "crosstalk/programs/programs.hpp"

#include <nlohmann/json.hpp>

namespace crosstalk {

std::vector<std::string> so_far_words(const Request& request)
{
    std::vector<std::string> words{"nice",     "-n",           "19",    program("interference"), "so-far", request.out,
                                   "--budget", request.budget, "--json"};
    if (request.until_decided) words.insert(words.end(), {"--until", base::until_decided});
    return words;
}

SoFar read_so_far(const std::filesystem::path& answer)
{
    const auto found = nlohmann::json::parse(base::read_whole(answer), nullptr, false);
    if (!found.is_object()) return {};
    const auto line = found.find("line");
    const auto decided = found.find("decided");
    return {line != found.end() && line->is_string() ? line->get<std::string>() : std::string{},
            decided != found.end() && decided->is_boolean() && decided->get<bool>()};
}

}  // namespace crosstalk
