// SPDX-License-Identifier: GPL-2.0-only
#include "run/transform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "files.h"

namespace mpath::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Wish wish() {
    Wish wish;
    wish.engine = "/lib/fio-mpath.so";
    wish.paths = "P";
    wish.log_prefix = "/tmp/x/job";
    return wish;
}

Surroundings surroundings() {
    return {
        [](const std::string& name) {
            return name == "DEV" ? std::optional<std::string>("/dev/sdx") : std::nullopt;
        },
        [](const std::string& name) { return name == "/data/file" ? FileKind::regular : FileKind::absent; }};
}

Transformed transformed(const std::string& text, const Wish& wanted = wish()) {
    const auto result = transform(sections_of(text), wanted, surroundings());
    EXPECT_TRUE(result) << result.error().text;
    return result.value_or(Transformed{});
}

std::string refusal(const std::string& text, const Wish& wanted = wish()) {
    const auto result = transform(sections_of(text), wanted, surroundings());
    return result ? "not refused:\n" + result->text : result.error().text;
}

TEST(Transform, ReplacesEngineAndDeviceAndLeavesEveryOtherLine) {
    const Transformed file = transformed("; why\n"
                                         "[global]\n"
                                         "ioengine = libaio ; the usual\n"
                                         "  bs=4k   # small\n"
                                         "size=${SIZE}\n"
                                         "\n"
                                         "[a]\n"
                                         "filename=/dev/sda\n"
                                         "iodepth=8\n"
                                         "stonewall\n");
    EXPECT_EQ(file.text, "[global]\n"
                         "ioengine=external:/lib/fio-mpath.so\n"
                         "  bs=4k   # small\n"
                         "size=${SIZE}\n"
                         "\n"
                         "[a]\n"
                         "filename=sda\n"
                         "iodepth=8\n"
                         "stonewall\n"
                         "; what fio-mpath run was told\n"
                         "paths=P\n"
                         "mpath_log=/tmp/x/job\n");
    EXPECT_THAT(file.notes, IsEmpty());
    EXPECT_THAT(file.log_prefixes, ElementsAre("/tmp/x/job"));
}

TEST(Transform, PutsTheEngineIntoJobsThatNameNone) {
    EXPECT_THAT(transformed("[a]\nfilename=/dev/sda\n").text,
                HasSubstr("ioengine=external:/lib/fio-mpath.so\npaths=P\n"));
}

TEST(Transform, GivesEveryJobTheOptionsAskedFor) {
    Wish wanted = wish();
    wanted.engine_options = {{"iopolicy", "numa"}, {"nr_io_queues", "4"}};
    const std::string text =
        transformed("[global]\nioengine=libaio\nfilename=/dev/sda\n[a]\n[b]\n", wanted).text;
    EXPECT_THAT(text,
                HasSubstr("[a]\n; what fio-mpath run was told\npaths=P\niopolicy=numa\nnr_io_queues=4\n"));
    EXPECT_THAT(text,
                HasSubstr("[b]\n; what fio-mpath run was told\npaths=P\niopolicy=numa\nnr_io_queues=4\n"));
}

TEST(Transform, GivesEachDeviceItsPaths) {
    Wish wanted = wish();
    wanted.paths.reset();
    wanted.maps = {"/dev/sda=P", "${DEV}=Q"};
    const std::string text =
        transformed("[global]\nioengine=io_uring\n[a]\nfilename=/dev/sda\n[b]\nfilename=${DEV}\n", wanted)
            .text;
    EXPECT_THAT(text, HasSubstr("filename=sda\n; what fio-mpath run was told\npaths=P\n"));
    EXPECT_THAT(text, HasSubstr("filename=sdx\n; what fio-mpath run was told\npaths=Q\n"));
}

TEST(Transform, ALaterGlobalChangesOnlyTheSectionsAfterIt) {
    EXPECT_THAT(refusal("[global]\nfilename=/dev/sda\n[a]\n[global]\ndirectory=/data\n[b]\n"),
                HasSubstr("job.fio:5: [b] has directory=/data"));
    EXPECT_THAT(transformed("[global]\nfilename=/dev/sda\n[a]\n[global]\niodepth=8\n[b]\n").notes,
                ElementsAre(HasSubstr("job.fio:5: [b] iodepth=8 is 1")));
}

TEST(Transform, ASynchronousEngineStaysAtDepthOne) {
    for (const char* engine : {"", "ioengine=sync\n", "ioengine=pvsync2\n"}) {
        const Transformed file =
            transformed("[a]\n" + std::string(engine) + "filename=/dev/sda\niodepth=32\n");
        EXPECT_THAT(file.text, HasSubstr("\niodepth=1\n"));
        EXPECT_THAT(file.notes, ElementsAre(HasSubstr("job.fio:")));
    }
    EXPECT_THAT(transformed("[a]\nioengine=libaio\nfilename=/dev/sda\niodepth=32\n").text,
                Not(HasSubstr("iodepth=1\n")));
}

TEST(Transform, LeavesOptionsOfTheOtherEngineOutWithANoteForEach) {
    const Transformed file = transformed("[global]\nioengine=io_uring\nhipri\nsqthread_poll=1\ndirect=1\n"
                                         "[a]\nfilename=/dev/sda\nioscheduler=none\n");
    EXPECT_THAT(file.text, Not(HasSubstr("hipri")));
    EXPECT_THAT(file.text, HasSubstr("direct=1\n"));
    EXPECT_THAT(file.notes, ElementsAre(HasSubstr("job.fio:3: [global] hipri"),
                                        HasSubstr("job.fio:4: [global] sqthread_poll=1"),
                                        HasSubstr("job.fio:8: [a] ioscheduler=none")));
}

TEST(Transform, HonoursTheJobFilesOwnRecord) {
    const Transformed file =
        transformed("[global]\nioengine=external:/x/fio-mpath.so\nmpath_log=mine\n[a]\n[b]\nmpath_log=b\n");
    EXPECT_THAT(file.text, Not(HasSubstr("/tmp/x/job")));
    EXPECT_THAT(file.log_prefixes, ElementsAre("mine", "b"));
}

TEST(Transform, AJobOfOurEngineNeedsNoDeviceAndMayBringItsPaths) {
    Wish wanted = wish();
    wanted.paths.reset();
    const std::string head = "[global]\nioengine=external:/x/fio-mpath.so\n";
    EXPECT_THAT(transformed(head + "paths=OWN\n[a]\nfilename=label\n", wanted).text,
                Not(HasSubstr("paths=P")));
    EXPECT_THAT(transformed(head + "paths=OWN\n[a]\n").text, HasSubstr("\npaths=P\n"));
    EXPECT_THAT(refusal(head + "[a]\n", wanted), HasSubstr("job.fio:3: [a] has no paths="));
    EXPECT_THAT(refusal(head + "paths=${UNSET}\n[a]\n", wanted), HasSubstr("has no paths="));
}

TEST(Transform, LeavesOutPathsThatAreReplacedOrThatAnUnsetVariableLeavesEmpty) {
    const std::string file =
        "[global]\nioengine=external:${FIO_MPATH}\npaths=${UNSET}\n[a]\nfilename=label\n";
    EXPECT_THAT(transformed(file).text, Not(HasSubstr("UNSET")));
    Wish wanted = wish();
    wanted.paths.reset();
    wanted.maps = {"label=Q"};
    EXPECT_THAT(transformed(file, wanted).text, Not(HasSubstr("UNSET")));
}

TEST(Transform, TakesTheSectionsThatRunOnly) {
    Wish wanted = wish();
    wanted.sections = {"a"};
    const std::string text = transformed("[a]\nfilename=/dev/sda\n[files]\ndirectory=/data\n", wanted).text;
    EXPECT_THAT(text, Not(HasSubstr("[files]")));
}

TEST(Transform, RefusesJobsOnFilesAndSaysWhere) {
    const struct {
        const char* text;
        const char* sentence;
    } cases[] = {
        {"[a]\nrw=read\n", "job.fio:1: [a] has no filename=, so fio would make files for it"},
        {"[a]\ndirectory=/data\n", "job.fio:2: [a] has directory=/data, so it works on files"},
        {"[a]\nfilename=/dev/sda\nopendir=/data\n", "job.fio:3: [a] has opendir=/data"},
        {"[a]\nfilename=/dev/sda\nnrfiles=4\n", "job.fio:3: [a] has nrfiles=4"},
        {"[a]\nfilename=/dev/sda\nnr_files=4\n", "job.fio:3: [a] has nrfiles=4"},
        {"[a]\nfilename=/dev/sda\ncreate_on_open=1\n", "job.fio:3: [a] has create_on_open=1"},
        {"[a]\nfilename=/dev/sda\nfilename_format=x.$jobnum\n", "job.fio:3: [a] has filename_format="},
        {"[a]\nfilename=/data/file\n", "job.fio:2: [a] has filename=/data/file, a file"},
        {"[a]\nfilename=fio.dat\n", "job.fio:2: [a] has filename=fio.dat, which would be a file"},
        {"[a]\nfilename=${UNSET}\n", "job.fio:1: [a] has no filename="},
        {"[a]\nfilename=/dev/sda:/dev/sdb\n",
         "job.fio:2: [a] works on 2 devices at once (/dev/sda, /dev/sdb)"},
        {"[global]\nfilename=/dev/sda\n[a]\nfilename=/dev/sdb\n",
         "job.fio:4: [a] works on 2 devices at once"},
        {"[a]\nfilename=/dev/sda\nioengine=net\n",
         "job.fio:3: [a] has ioengine=net, which does not stand for"},
        {"[a]\nfilename=/dev/sda\nioengine=sg\nwritefua=1\n", "job.fio:4: [a] has writefua=1: "},
        {"[global]\nbs=4k\n", "job.fio: there is no job to run"},
    };
    for (const auto& one : cases) {
        EXPECT_THAT(refusal(one.text), HasSubstr(one.sentence)) << one.text;
    }
}

TEST(Transform, RefusesValuesThatAJobFileCanNotHold) {
    Wish wanted = wish();
    for (const char* paths : {"nvme+tcp://h/nqn.x;y/1", "nvme+tcp://h/nqn.x#y/1", "${HOME}"}) {
        wanted.paths = paths;
        EXPECT_THAT(refusal("[a]\nfilename=/dev/sda\n", wanted), HasSubstr("[a] can't be given paths="))
            << paths;
    }
    wanted.paths = std::string(5000, 'p');
    EXPECT_THAT(refusal("[a]\nfilename=/dev/sda\n", wanted),
                HasSubstr("it has 5006 bytes, and fio reads 4094"));
}

} // namespace
} // namespace mpath::run
