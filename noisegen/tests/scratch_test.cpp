// SPDX-License-Identifier: Apache-2.0
// However noisegen ends, its files are removed from a directory and files of others stay.
#include "base/csv.hpp"
#include "base/system/cpus.hpp"
#include "base/system/launcher.hpp"
#include "noisegen/stressors/io/remove_tree.hpp"
#include "noisegen/stressors/io/scratch_directory.hpp"
#include "testing/child.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using noisegen::ScratchDirectory;
using testing::Child;
using testing::eventually;
using testing::Outcome;
using testing::Scratch;

using testing::program;
const std::string random_part = "0123456789abcdef";

void put(const fs::path& path)
{
    fs::create_directories(path.parent_path());
    std::ofstream{path} << "content";
}

// Creates a directory as a killed noisegen of this host would leave it.
fs::path leave_tree(const fs::path& directory, const std::string& name, bool marked = true)
{
    fs::create_directory(directory / name);
    fs::permissions(directory / name, fs::perms::owner_all);
    put(directory / name / "cpu0/files1/00000001");
    if (marked) put(directory / name / ScratchDirectory::mark);
    return directory / name;
}

std::string our_name(const std::string& host = base::host_name())
{
    return ".noisegen." + host + ".4711." + random_part;
}

class OpenDirectory {
 public:
    explicit OpenDirectory(const fs::path& path) : file_{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)}
    {
        REQUIRE(file_ >= 0);
    }
    ~OpenDirectory() { ::close(file_); }
    OpenDirectory(const OpenDirectory&) = delete;
    OpenDirectory& operator=(const OpenDirectory&) = delete;
    int descriptor() const { return file_; }

 private:
    int file_;
};

std::string stressors(const fs::path& directory)
{
    const std::string options = "[files=200,directory=" + directory.string() + "]";
    return "metadata.create" + options + " 50ms; metadata.unlink" + options + " 50ms; metadata.stat" + options +
           " 50ms";
}

std::vector<std::string> words(const Scratch& scratch, const std::string& schedule, const std::string& duration)
{
    return {program,      "--schedule", schedule, "--cpus",       std::to_string(*base::allowed_cpus().rbegin()),
            "--duration", duration,     "--out",  scratch / "run"};
}

// Are the header and three rows written?
bool works(const Scratch& scratch)
{
    const fs::path csv = part(scratch) / "noise.csv";
    if (!fs::exists(csv)) return false;
    const std::string text = base::read_whole(csv);
    return std::count(text.begin(), text.end(), '\n') > 3;
}

// Guardians of the directories that process `maker` made.
std::vector<pid_t> guardians_of(pid_t maker)
{
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator{"/proc"}) {
        const std::string pid = entry.path().filename();
        if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
        std::string line;
        try {
            line = base::read_whole(entry.path() / "cmdline");
        } catch (const std::exception&) {  // the process has ended
            continue;
        }
        if (line.find("--guard-scratch") != std::string::npos &&
            line.find("." + std::to_string(maker) + ".") != std::string::npos)
            found.push_back(std::stoi(pid));
    }
    return found;
}

bool may_mount()
{
    const bool may = testing::run({"unshare", "-m", "true"}).status == 0;
    if (!may) testing::skip("mounting in a namespace of one's own is not allowed here");
    return may;
}

}  // namespace

TEST_CASE("removal follows no symlink and touches nothing outside")
{
    const Scratch scratch;
    put(scratch / "foreign/file");
    put(scratch / "tree/a/b/c/file");
    put(scratch / "tree/file");
    fs::create_directory_symlink(scratch / "foreign", scratch / "tree/a/link");
    fs::create_symlink(scratch / "foreign/file", scratch / "tree/link");
    const OpenDirectory parent{scratch.path()};
    const OpenDirectory tree{scratch / "tree"};
    const OpenDirectory foreign{scratch / "foreign"};
    CHECK(!noisegen::remove_tree(parent.descriptor(), "foreign", tree.descriptor()));  // another directory has the name
    CHECK(fs::exists(scratch / "tree/file"));
    CHECK(noisegen::remove_tree(parent.descriptor(), "tree", tree.descriptor()));
    CHECK(!fs::exists(scratch / "tree"));
    CHECK(fs::exists(scratch / "foreign/file"));
    fs::create_directory_symlink(scratch / "foreign", scratch / "name");
    CHECK(!noisegen::remove_tree(parent.descriptor(), "name", foreign.descriptor()));
    CHECK(fs::exists(scratch / "foreign/file"));
}

TEST_CASE("a scratch directory is for its maker alone and goes with it")
{
    const Scratch scratch;
    {
        const ScratchDirectory directory{scratch.path()};
        CHECK(fs::status(directory.path()).permissions() == fs::perms::owner_all);
        CHECK(directory.path().starts_with((scratch / ".noisegen.").string() + base::host_name() + "."));
        const noisegen::Folder folder{directory.descriptor(), "cpu0"};
        put(fs::path{directory.path()} / "cpu0/sub/file");
        CHECK_THROWS_AS((noisegen::Folder{directory.descriptor(), "cpu0"}), std::system_error);
    }
    CHECK(fs::is_empty(scratch.path()));
    CHECK_THROWS_AS(ScratchDirectory{scratch / "absent"}, std::system_error);
}

TEST_CASE("a symlink where a folder is to be is not followed")
{
    const Scratch scratch;
    fs::create_directory(scratch / "foreign");
    const ScratchDirectory directory{scratch.path()};
    fs::create_directory_symlink(scratch / "foreign", fs::path{directory.path()} / "cpu0");
    CHECK_THROWS_AS((noisegen::Folder{directory.descriptor(), "cpu0"}), std::system_error);
    CHECK(fs::is_empty(scratch / "foreign"));
}

TEST_CASE("a tree that a killed noisegen left is removed and what only looks like one is not")
{
    const Scratch scratch;
    const fs::path stale = leave_tree(scratch.path(), our_name());
    std::vector<fs::path> foreign{leave_tree(scratch.path(), our_name("another-host")),
                                  leave_tree(scratch.path(), our_name() + "0"),
                                  leave_tree(scratch.path(), ".noisegen." + base::host_name() + ".backup"),
                                  leave_tree(scratch.path(), ".noisegen." + base::host_name() + ".x." + random_part),
                                  leave_tree(scratch.path(), "noisegen"),
                                  leave_tree(scratch.path(), our_name().substr(0, our_name().size() - 1) + "0", false)};
    foreign.push_back(leave_tree(scratch.path(), our_name().substr(0, our_name().size() - 1) + "1"));
    fs::permissions(foreign.back(), fs::perms::all);
    if (::geteuid() == 0) {
        foreign.push_back(leave_tree(scratch.path(), our_name().substr(0, our_name().size() - 1) + "2"));
        REQUIRE(::chown(foreign.back().c_str(), 12345, 12345) == 0);
    }
    const fs::path target = leave_tree(scratch.path(), "target");
    const fs::path link = scratch / (our_name().substr(0, our_name().size() - 1) + "3");
    fs::create_directory_symlink(target, link);
    const fs::path file = scratch / (our_name().substr(0, our_name().size() - 1) + "4");
    put(file);

    {
        const ScratchDirectory directory{scratch.path()};
    }
    CHECK(!fs::exists(stale));
    for (const fs::path& tree : foreign) {
        CAPTURE(tree);
        CHECK(fs::exists(tree / "cpu0/files1/00000001"));
    }
    CHECK(fs::exists(target / "cpu0/files1/00000001"));
    CHECK(fs::is_symlink(link));
    CHECK(fs::exists(file));
}

TEST_CASE("a tree whose maker lives is left alone")
{
    const Scratch scratch;
    const ScratchDirectory first{scratch.path()};
    put(fs::path{first.path()} / "file");
    {
        const ScratchDirectory second{scratch.path()};
    }
    CHECK(fs::exists(fs::path{first.path()} / "file"));

    const fs::path tree = leave_tree(scratch.path(), our_name());
    {
        const OpenDirectory maker{tree};
        REQUIRE(::flock(maker.descriptor(), LOCK_EX) == 0);
        {
            const ScratchDirectory third{scratch.path()};
        }
        CHECK(fs::exists(tree / "cpu0/files1/00000001"));
    }
    {
        const ScratchDirectory fourth{scratch.path()};
    }
    CHECK(!fs::exists(tree));
}

TEST_CASE("SIGTERM leaves neither file nor process")
{
    const Scratch scratch;
    fs::create_directory(scratch / "io");
    Child child{words(scratch, stressors(scratch / "io"), "10min")};
    REQUIRE(eventually([&] { return works(scratch); }));
    const pid_t pid = child.pid();
    CHECK(guardians_of(pid).size() == 3);
    CHECK(!fs::is_empty(scratch / "io"));
    child.signal(SIGTERM);
    CHECK(child.wait() == 0);
    CHECK(fs::is_empty(scratch / "io"));
    CHECK(guardians_of(pid).empty());
}

TEST_CASE("SIGKILL leaves neither file nor process")
{
    const Scratch scratch;
    fs::create_directory(scratch / "io");
    Child child{words(scratch, stressors(scratch / "io"), "10min")};
    REQUIRE(eventually([&] { return works(scratch); }));
    const pid_t pid = child.pid();
    REQUIRE(eventually([&] { return guardians_of(pid).size() == 3; }));  // they are started side by side
    const std::vector<pid_t> guardians = guardians_of(pid);
    // Signals that end noisegen do not end its guardians, and a reader of noisegen's output does not wait for them.
    for (const pid_t guardian : guardians)
        for (const std::string output : {"1", "2"})
            CHECK(fs::read_symlink("/proc/" + std::to_string(guardian) + "/fd/" + output) == "/dev/null");
    for (const pid_t guardian : guardians)
        for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::kill(guardian, signal);
    CHECK(guardians_of(pid) == guardians);
    child.signal(SIGKILL);
    CHECK(child.wait() == 128 + SIGKILL);
    CHECK(eventually([&] { return fs::is_empty(scratch / "io"); }));
    CHECK(eventually([&] { return guardians_of(pid).empty(); }));
}

TEST_CASE("when the guardian is killed too the next noisegen removes what is left and says so")
{
    const Scratch scratch;
    fs::create_directory(scratch / "io");
    const std::string schedule = "metadata.stat[files=200,directory=" + (scratch / "io").string() + "] 50ms";
    Child child{words(scratch, schedule, "10min")};
    REQUIRE(eventually([&] { return works(scratch); }));
    const pid_t pid = child.pid();
    REQUIRE(eventually([&] { return guardians_of(pid).size() == 1; }));
    const std::vector<pid_t> guardians = guardians_of(pid);
    ::kill(guardians[0], SIGKILL);
    child.signal(SIGKILL);
    child.wait();
    REQUIRE(eventually([&] { return guardians_of(pid).empty(); }));
    REQUIRE(!fs::is_empty(scratch / "io"));
    const Scratch another;
    const Outcome outcome = testing::run(words(another, schedule, "100ms"));
    CHECK(outcome.status == 0);
    CHECK(outcome.err.find("left by a killed noisegen") != std::string::npos);
    CHECK(fs::is_empty(scratch / "io"));
}

TEST_CASE("a mount inside a scratch directory is not entered")
{
    if (!may_mount()) return;
    const Scratch scratch;
    fs::create_directory(scratch / "io");
    const std::string io = scratch / "io";
    std::string line;
    for (const std::string& word : words(scratch, "metadata.stat[files=5,directory=" + io + "] 50ms", "10min"))
        line += "'" + word + "' ";
    const std::string script =
        line + "& maker=$!\n" + "for i in $(seq 300); do tree=$(echo " + io +
        "/.noisegen.*.$maker.*); [ -d $tree/cpu* ] && break; sleep 0.1; done\n"
        "mkdir $tree/mounted && mount -t tmpfs tmpfs $tree/mounted && touch $tree/mounted/keep || exit 9\n"
        "kill -TERM $maker; wait $maker; code=$?\n"
        "[ -f $tree/mounted/keep ] && [ ! -d $tree/cpu* ] || exit 8\n"
        "umount $tree/mounted; exit $code\n";
    const Outcome outcome = testing::run({"unshare", "-m", "sh", "-c", script});
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(outcome.err.find("could not remove") != std::string::npos);
    {
        const ScratchDirectory next{scratch / "io"};
    }  // the unmount is done, so that the rest can be removed
    CHECK(fs::is_empty(scratch / "io"));
}

TEST_CASE("a file system that fills up is one line, a failure, and the records until then")
{
    if (!may_mount()) return;
    const Scratch scratch;
    fs::create_directory(scratch / "io");
    const std::string io = scratch / "io";
    std::string line;
    for (const std::string& word :
         words(scratch, "quiet 100ms; metadata.create[rate=2000/s,files=3000,directory=" + io + "] 100ms", "10min"))
        line += "'" + word + "' ";
    // There is enough room for noisegen's request until other processes take it.
    const std::string script = "mount -t tmpfs -o size=16M,nr_inodes=16000 tmpfs " + io + " || exit 9\n" + line +
                               "& maker=$!\n"
                               "for i in $(seq 300); do [ -d " +
                               io +
                               "/.noisegen*/cpu* ] && break; sleep 0.1; done\n"
                               "sleep 1; mkdir " +
                               io +
                               "/others\n"
                               "(cd " +
                               io +
                               "/others; seq 20000 | xargs touch) 2>/dev/null\n"
                               "wait $maker; code=$?\n"
                               "[ -z \"$(echo " +
                               io + "/.noisegen*)\" ] || ls -A " + io +
                               "\n"
                               "exit $code\n";
    const Outcome outcome = testing::run({"unshare", "-m", "sh", "-c", script});
    INFO(outcome.err);
    REQUIRE(outcome.status == 1);
    CHECK(outcome.err.find("noisegen: cannot create a file in " + io + ": No space left on device\n") !=
          std::string::npos);
    CHECK(fs::exists(part(scratch) / "trace/traces.otf2"));
    CHECK(base::CsvTable{part(scratch) / "noise.csv"}.rows() >= 2);
    const auto record = nlohmann::json::parse(base::read_whole(part(scratch) / "noise.json"));
    CHECK(record.at("exit").at("reason") == "failure");
    CHECK(record.at("exit").at("code") == 1);
}
