// SPDX-License-Identifier: Apache-2.0
// Values that no trial can have are refused, and the error names their place.
#include "base/contract/trials.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_CASE("outcomes with a class that there is not or an accuracy that cannot be are refused with line and column")
{
    const testing::Scratch scratch;
    const auto read_with = [&](const std::string& what, const std::string& accuracy) {
        base::write_whole(scratch / "outcomes.csv",
                          "trial,kind,strategy,rank,step,path,bits,guard,class,accuracy,loss,first_difference,caught,"
                          "checksum,state_checksum,index,drawn_from,accuracies,largest,not_finite,steps,seconds\n"
                          "a,trial,ddp,all,5,model/w,1,none," +
                              what + "," + accuracy + ",0.1,,,a,a,0,10,0:0.9 5:0.9,1,0,5,0.1\n");
        return base::read_outcomes(scratch / "outcomes.csv");
    };
    CHECK(read_with("ended", "1").front().accuracy == 1.0);
    CHECK_FALSE(read_with("crashed", "").front().accuracy);
    CHECK_THROWS_WITH_AS(read_with("weird", "0.9"), doctest::Contains("line 2 column class: 'weird' is not one of"),
                         base::Error);
    for (const char* wrong : {"nan", "1.5", "-0.1"})
        CHECK_THROWS_WITH_AS(read_with("ended", wrong), doctest::Contains("line 2 column accuracy"), base::Error);
}
