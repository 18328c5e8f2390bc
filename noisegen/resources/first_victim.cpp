#include "noisegen/resources/first_victim.hpp"

#include <fstream>

namespace noisegen {

int be_first_victim()
{
    constexpr const char* file = "/proc/self/oom_score_adj";
    constexpr int first = 1000;
    std::ofstream{file} << first << std::flush;
    int has = 0;
    std::ifstream{file} >> has;
    return has;
}

}  // namespace noisegen
