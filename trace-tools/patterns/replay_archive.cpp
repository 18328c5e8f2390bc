#include "trace-tools/patterns/replay_archive.hpp"

#include <iostream>

namespace otf2 {

void replay_archive(Reader& reader, MpiReplay& replay, const char* program)
{
    reader.read(replay);
    replay.finish();
    for (const std::vector<std::string>& problems : {reader.archive().problems, reader.problems(), replay.problems()})
        for (const std::string& problem : problems) std::cerr << program << ": " << problem << '\n';
}

}  // namespace otf2
