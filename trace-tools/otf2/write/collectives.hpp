// OTF2's collective callbacks on a Team: how the processes of one archive agree about its files.
#pragma once

#include "trace-tools/otf2/write/team.hpp"

#include <otf2/otf2.h>

namespace otf2 {

// The team must live until the archive is closed.
void use_team(OTF2_Archive* archive, Team& team);

}  // namespace otf2
