#include "trace-tools/replay/replay_archive.hpp"

#include "base/words.hpp"
#include "trace-tools/otf2/read/fan_out.hpp"
#include "trace-tools/otf2/read/soundness.hpp"

#include <iostream>

namespace otf2 {

void replay_archive(Reader& reader, MpiReplay& replay, const char* program)
{
    Soundness soundness{reader.archive()};
    FanOut both{&soundness, &replay};
    reader.read(both);
    refuse_unsound(reader, soundness);
    replay.finish();
    for (const std::vector<std::string>& list : {soundness.oddities(), reader.oddities(), replay.problems()})
        for (const std::string& one : list) std::cerr << program << ": " << base::printable(one) << '\n';
}

}  // namespace otf2
