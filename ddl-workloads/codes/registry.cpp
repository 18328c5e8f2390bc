// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/codes/code.hpp"

#include <algorithm>

namespace ddl {

#define CODE(card) extern const CodeCard card;
#include "ddl-workloads/codes/codes.inc"
#undef CODE

const base::Registry<CodeCard>& codes()
{
    static const base::Registry<CodeCard> registry{"code",
                                                   "ddl-code",
                                                   {
#define CODE(card) &(card),
#include "ddl-workloads/codes/codes.inc"
#undef CODE
                                                   }};
    return registry;
}

std::vector<base::OptionCard> code_options()
{
    std::vector<base::OptionCard> all;
    for (const CodeCard* card : codes().cards())
        for (const base::OptionCard& option : card->options)
            if (std::ranges::find(all, option.name, &base::OptionCard::name) == all.end()) all.push_back(option);
    return all;
}

}  // namespace ddl
