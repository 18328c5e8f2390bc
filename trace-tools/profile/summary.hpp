// What trace-info reports about an archive: for people, for programs, or only its problems.
#pragma once

#include "trace-tools/profile/profile.hpp"

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace otf2 {

struct Summary {
    const Archive& archive;
    const Profile& profile;
    std::vector<std::string> problems;  // unsound: events are missing, in the wrong order, refer to nothing
    std::vector<std::string> oddities;  // sound, but worth a word
    bool sound() const { return problems.empty(); }
};

// Of the reader's archive, after it was read into the profile, which is finished.
Summary summary(const Reader& reader, const Profile& profile);

void write_text(std::ostream& out, const Summary& summary);

// One object; names and units of its members as in Archive and Profile, what an archive does not state is null.
void write_json(std::ostream& out, const Summary& summary);

// A line for each problem and oddity, then whether the archive is sound.
void write_check(std::ostream& out, const Summary& summary);

}  // namespace otf2
