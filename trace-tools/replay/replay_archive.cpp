#include "trace-tools/replay/replay_archive.hpp"

#include "base/words.hpp"
#include "trace-tools/otf2/read/soundness.hpp"
#include "trace-tools/replay/handover.hpp"

#include <iostream>

namespace replay {

void replay_archive(otf2::Reader& reader, MpiReplay& replay, const char* program, int threads)
{
    otf2::Soundness soundness{reader.archive()};
    otf2::read_beside(reader, soundness, replay, threads);
    otf2::refuse_unsound(reader, soundness);
    replay.finish();
    for (const std::vector<std::string>& list : {soundness.oddities(), reader.oddities(), replay.problems()})
        for (const std::string& one : list) std::cerr << program << ": " << base::printable(one) << '\n';
}

}  // namespace replay
