# SPDX-License-Identifier: Apache-2.0
# Functions for rooms: where programs are built, how rooms are built, tested and left out.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
include(GNUInstallDirs)

option(CROSSTALK_WERROR "treat warnings as errors" OFF)
option(CROSSTALK_CUDA "fail if there is no CUDA, instead of leaving it out" OFF)
set(CROSSTALK_ROOMS "all" CACHE STRING "rooms to build, for example base;trace-tools;noisegen")
option(CROSSTALK_FUZZ "build the libFuzzer programs; needs clang" OFF)
set(CROSSTALK_SANITIZE "" CACHE STRING "sanitizers to build with, for example address,undefined")

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without pch_defines and time_macros ccache does not cache files that use a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>)
endif()

# Compile options of all our targets. Dependencies are included as SYSTEM, without these warnings.
add_library(house_rules INTERFACE)
set(shadow -Wshadow)
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(shadow -Wshadow=local -Wno-subobject-linkage)  # sources in one unity file see each other's private names
endif()
target_compile_options(house_rules INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion ${shadow}>
  $<$<AND:$<BOOL:${CROSSTALK_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(house_rules INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)  # false alarms (GCC bug 105329)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The compiler's own garbage collection begins at 512 MiB instead of 128: a tenth less time for 160 MB more.
  target_compile_options(house_rules INTERFACE $<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=524288>)
endif()
target_include_directories(house_rules INTERFACE ${CMAKE_SOURCE_DIR})
# This property marks CMake's targets that compile each header alone. Their output is never run.
set(only_checked $<BOOL:$<TARGET_PROPERTY:DISABLE_PRECOMPILE_HEADERS>>)
target_compile_options(house_rules INTERFACE $<$<AND:${only_checked},$<COMPILE_LANGUAGE:CXX>>:-O0 -g0>)
if(CROSSTALK_SANITIZE)
  # These checks are a third of the generated code. ASan finds what null and object-size would; the fuzz programs use
  # all.
  set(checks_of_each_access null,object-size,alignment)
  if(CROSSTALK_FUZZ)
    set(checks_of_each_access function)
  endif()
  target_compile_options(house_rules INTERFACE
    $<$<AND:$<NOT:${only_checked}>,$<COMPILE_LANGUAGE:CXX>>:-fsanitize=${CROSSTALK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize=vptr,${checks_of_each_access}>)
  target_link_options(house_rules INTERFACE -fsanitize=${CROSSTALK_SANITIZE})
  if(CROSSTALK_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(house_rules INTERFACE -Wno-tsan)  # it does not know fences
  endif()
endif()
# Most of a test's compile time would go into optimising and instrumenting code that runs once. The tested code is
# optimised and instrumented in its library; in a test, only accesses outside of its stack are checked, by calls.
set(of_tests -O0)
if(CROSSTALK_SANITIZE)
  list(APPEND of_tests -fno-sanitize=undefined)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND of_tests --param=asan-stack=0 --param=asan-instrumentation-with-call-threshold=0)
  endif()
endif()
target_compile_options(house_rules INTERFACE
  "$<$<AND:$<BOOL:$<TARGET_PROPERTY:HOUSE_TESTS>>,$<COMPILE_LANGUAGE:CXX>>:${of_tests}>")
if(CROSSTALK_FUZZ)
  target_compile_options(house_rules INTERFACE -fsanitize=fuzzer-no-link)
endif()

# house_room(NAME [NEEDS DEPENDENCY...] [USES LIBRARY...]): builds the room, or leaves it out and says so in the
# summary. The libraries are those of earlier rooms.
function(house_room name)
  cmake_parse_arguments(room "" "" "NEEDS;USES" ${ARGN})
  if(NOT CROSSTALK_ROOMS STREQUAL "all" AND NOT name IN_LIST CROSSTALK_ROOMS)
    house_left_out("${name}" "place in CROSSTALK_ROOMS")
    return()
  endif()
  foreach(dependency ${room_NEEDS})
    if(NOT CROSSTALK_HAS_${dependency})
      house_left_out("${name}" "${dependency}")
      return()
    endif()
  endforeach()
  foreach(library ${room_USES})
    if(NOT TARGET ${library})
      house_left_out("${name}" "library ${library}")
      return()
    endif()
  endforeach()
  if(EXISTS ${CMAKE_SOURCE_DIR}/${name}/CMakeLists.txt)
    add_subdirectory(${name})
  endif()
endfunction()

# house_left_out(WHAT WHY): adds a line to the summary.
function(house_left_out what why)
  set_property(GLOBAL APPEND PROPERTY house_left_out "left out: ${what} (no ${why})")
endfunction()

function(house_summary)
  get_property(lines GLOBAL PROPERTY house_left_out)
  foreach(line ${lines})
    message(STATUS "${line}")
  endforeach()
endfunction()

# Code that runs once, such as option parsing, compiles in two thirds of the time with less optimisation.
set(house_quick_to_compile $<$<CONFIG:Release>:-O1>)

# house_library(NAME [FOLDERS FOLDER...] [ONCE FOLDER...] [HEADERS <HEADER>...] [USES TARGET...]): a static library of
# every .cpp in these folders (default: this one), except programs (*_main.cpp) and benchmarks (*_bench.cpp). ONCE:
# folders whose code runs once and is optimised less. Each PATH/X.gp in the folders is included as text.
# CMAKE_UNITY_BUILD compiles the sources of a folder as one, so private names in a folder must differ; a library of many
# folders precompiles the standard headers and HEADERS.
function(house_library name)
  cmake_parse_arguments(lib "" "" "FOLDERS;ONCE;HEADERS;USES" ${ARGN})
  if(NOT lib_FOLDERS AND NOT lib_ONCE)
    set(lib_FOLDERS .)
  endif()
  set(compiled_as_one ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/Unity)
  foreach(folder ${lib_ONCE})
    cmake_path(GET folder FILENAME group)
    set_source_files_properties(${compiled_as_one}/unity_${group}_cxx.cxx PROPERTIES COMPILE_OPTIONS "${house_quick_to_compile}")
  endforeach()
  list(APPEND lib_FOLDERS ${lib_ONCE})
  list(TRANSFORM lib_FOLDERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(folders_of_one ${lib_FOLDERS})
  list(FILTER folders_of_one INCLUDE REGEX "/[*]$")
  list(TRANSFORM folders_of_one REPLACE "/[*]$" "")
  list(TRANSFORM lib_FOLDERS APPEND /*.cpp OUTPUT_VARIABLE source_patterns)
  list(TRANSFORM lib_FOLDERS APPEND /*.hpp OUTPUT_VARIABLE header_patterns)
  file(GLOB sources CONFIGURE_DEPENDS ${source_patterns})
  file(GLOB headers CONFIGURE_DEPENDS ${header_patterns})
  list(FILTER sources EXCLUDE REGEX "_(main|bench)\\.cpp$")
  add_library(${name} STATIC ${sources})
  house_headers_without_source(lone_headers ${headers})
  list(REMOVE_ITEM headers ${lone_headers} "")
  target_sources(${name} PUBLIC
    FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR} FILES ${headers}
    FILE_SET lone_headers TYPE HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR} FILES ${lone_headers})
  set_target_properties(${name} PROPERTIES INTERFACE_HEADER_SETS_TO_VERIFY lone_headers UNITY_BUILD_MODE GROUP)
  foreach(source ${sources})
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder PARENT_PATH above)
    if(above IN_LIST folders_of_one)  # FOLDER/*: all its subfolders are one group
      set(folder ${above})
    endif()
    cmake_path(GET folder FILENAME folder)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
  target_link_libraries(${name} PUBLIC house_rules ${lib_USES})
  # Headers that many folders include are compiled once.
  list(LENGTH lib_FOLDERS folders)
  if(CMAKE_UNITY_BUILD AND folders GREATER 5)
    target_precompile_headers(${name} PRIVATE <algorithm> <array> <cmath> <filesystem> <functional> <map> <memory> <optional>
      <set> <span> <sstream> <string> <utility> <vector> ${lib_HEADERS})
  endif()
  list(TRANSFORM lib_FOLDERS APPEND /*.gp OUTPUT_VARIABLE script_patterns)
  file(GLOB scripts CONFIGURE_DEPENDS ${script_patterns})
  house_texts(${name} ${scripts})
endfunction()

# house_texts(LIBRARY FILE...): makes each FILE a string literal, which the library's sources include as
# "PATH/FILE.inc".
function(house_texts library)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  foreach(file ${ARGN})
    file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR} ${file})
    file(READ ${file} text)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/texts/${path}.inc CONTENT "R\"text(@text@)text\"\n" @ONLY)
  endforeach()
  if(ARGN)
    target_include_directories(${library} PRIVATE ${CMAKE_BINARY_DIR}/texts)
  endif()
endfunction()

# house_headers_without_source(VARIABLE HEADER...): headers that no source of the same name includes first. Such a
# source shows that its header compiles alone; the other headers are compiled alone to check this.
function(house_headers_without_source result)
  set(lone)
  foreach(header ${ARGN})
    string(REGEX REPLACE "\\.hpp$" ".cpp" source ${header})
    set(first)
    if(EXISTS ${source})
      file(STRINGS ${source} first REGEX "^#include" LIMIT_COUNT 1)
    endif()
    file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR} ${header})
    if(NOT first STREQUAL "#include \"${path}\"")
      list(APPEND lone ${header})
    endif()
  endforeach()
  set(${result} ${lone} PARENT_SCOPE)
endfunction()

# house_tool(NAME [IN FOLDER] FROM LIBRARY... [COMMANDS COMMAND...]): the program NAME from NAME_main.cpp (dashes become
# underscores) in that folder (default: this one), installed with its manual.
function(house_tool name)
  cmake_parse_arguments(tool "" "IN" "FROM;COMMANDS" ${ARGN})
  if(NOT tool_IN)
    set(tool_IN .)
  endif()
  string(REPLACE "-" "_" file ${name})
  add_executable(${name} ${tool_IN}/${file}_main.cpp)
  target_link_libraries(${name} PRIVATE ${tool_FROM})
  target_compile_options(${name} PRIVATE ${house_quick_to_compile})
  install(TARGETS ${name} RUNTIME)
  house_manual(${name} ${tool_COMMANDS})
  if(NOT TARGET programs)
    add_custom_target(programs)  # all installed programs
  endif()
  add_dependencies(programs ${name} ${name}-manual)
endfunction()

# house_manual(PROGRAM [COMMAND...]): the program writes its man page, the man page of each command (program-command.1)
# and its bash completion; they are installed.
function(house_manual program)
  if(CMAKE_CROSSCOMPILING)
    house_left_out("man page of ${program}" "way to run it here")
    return()
  endif()
  set(man ${CMAKE_BINARY_DIR}/share/man/man1/${program}.1)
  set(completion ${CMAKE_BINARY_DIR}/share/bash-completion/completions/${program})
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/man/man1 ${CMAKE_BINARY_DIR}/share/bash-completion/completions)
  set(run ${CMAKE_COMMAND} -E env ${CROSSTALK_TEST_ENVIRONMENT} $<TARGET_FILE:${program}>)
  set(pages ${man})
  foreach(command ${ARGN})
    string(REPLACE " " "-" name ${command})
    string(REPLACE " " ";" words ${command})
    set(page ${CMAKE_BINARY_DIR}/share/man/man1/${program}-${name}.1)
    list(APPEND pages ${page})
    add_custom_command(OUTPUT ${page}
      COMMAND ${run} ${words} --man > ${page}.new
      COMMAND ${CMAKE_COMMAND} -E rename ${page}.new ${page}
      DEPENDS ${program} COMMENT "Manual of ${program} ${command}" VERBATIM)
  endforeach()
  add_custom_command(OUTPUT ${man} ${completion}
    COMMAND ${run} --man > ${man}.new
    COMMAND ${CMAKE_COMMAND} -E rename ${man}.new ${man}
    COMMAND ${run} --completion bash > ${completion}.new
    COMMAND ${CMAKE_COMMAND} -E rename ${completion}.new ${completion}
    DEPENDS ${program} COMMENT "Manual of ${program}" VERBATIM)
  add_custom_target(${program}-manual ALL DEPENDS ${pages} ${completion})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${completion} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endfunction()

# house_tests(LIBRARY [ALONE] [RUNS PROGRAM...] [USES TARGET...] [FROM FOLDER...] [LABELS L...]): every case in
# FOLDER/*_test.cpp (default: tests/) becomes a separate ctest. A case that this machine cannot run exits 77 and says
# why. ALONE: no other test runs at the same time, whatever ctest's --parallel says. The target tests-L builds all tests
# with the label L.
function(house_tests library)
  cmake_parse_arguments(test "ALONE" "" "FROM;RUNS;USES;LABELS" ${ARGN})
  if(NOT test_FROM)
    set(test_FROM tests)
  endif()
  if(NOT BUILD_TESTING OR NOT CROSSTALK_HAS_DOCTEST)
    return()
  endif()
  list(TRANSFORM test_FROM REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/\\1/*_test.cpp")
  file(GLOB sources CONFIGURE_DEPENDS ${test_FROM})
  if(NOT sources)
    return()
  endif()
  set(target ${library}-tests)
  # The main() of test programs and the headers that most of them include are compiled once.
  if(NOT TARGET tests-main)
    add_library(tests-main OBJECT ${CMAKE_SOURCE_DIR}/cmake/test_main.cpp)
    target_link_libraries(tests-main PRIVATE testing doctest::doctest)
    set_target_properties(tests-main PROPERTIES HOUSE_TESTS ON UNITY_BUILD OFF)
    target_precompile_headers(tests-main PRIVATE
      <algorithm> <filesystem> <fstream> <map> <optional> <sstream> <string> <thread> <vector>
      <doctest/doctest.h> <nlohmann/json.hpp>)
  endif()
  add_executable(${target} ${sources} $<TARGET_OBJECTS:tests-main>)
  target_link_libraries(${target} PRIVATE ${library} ${test_USES} testing doctest::doctest)
  list(LENGTH sources count)
  if(count GREATER 2)
    target_precompile_headers(${target} REUSE_FROM tests-main)
  endif()
  target_compile_definitions(${target} PRIVATE
    CROSSTALK_BIN="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}" CROSSTALK_SOURCE="${CMAKE_SOURCE_DIR}")
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests HOUSE_TESTS ON
    UNITY_BUILD_MODE GROUP)
  # Tests are grouped by a hash of their names, so a new test does not change other groups.
  foreach(source ${sources})
    cmake_path(GET source FILENAME file)
    string(MD5 hash ${file})
    string(SUBSTRING ${hash} 0 1 digit)
    math(EXPR group "0x${digit} / 2")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  foreach(program ${test_RUNS})
    if(TARGET ${program})
      add_dependencies(${target} ${program})
    endif()
  endforeach()
  foreach(label ${test_LABELS})
    if(NOT TARGET tests-${label})
      add_custom_target(tests-${label})
    endif()
    add_dependencies(tests-${label} ${target})
  endforeach()
  set(properties SKIP_RETURN_CODE 77 TIMEOUT 600)
  if(test_ALONE)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  if(test_LABELS)
    list(APPEND properties LABELS ${test_LABELS})
  endif()
  if(CROSSTALK_TEST_ENVIRONMENT)
    # The list passes through three macros of doctest, each of which removes one level of escapes.
    string(REPLACE ";" "\\\\\\\\\\\\;" environment "${CROSSTALK_TEST_ENVIRONMENT}")
    list(APPEND properties ENVIRONMENT "${environment}")
  endif()
  doctest_discover_tests(${target} TEST_PREFIX "${library}: " PROPERTIES ${properties})
endfunction()

# house_script_test(NAME SCRIPT [ARGUMENT...] [ENVIRONMENT NAME=VALUE...] [PROPERTIES ...]): a ctest of tests/SCRIPT, or of
# the program SCRIPT of this build, which exits 77 where this machine cannot run it. Python is Debian's, which has numpy
# and otf2.
function(house_script_test name script)
  cmake_parse_arguments(test "" "" "ENVIRONMENT;PROPERTIES" ${ARGN})
  if(NOT BUILD_TESTING)
    return()
  endif()
  if(NOT TARGET ${script})
    cmake_path(ABSOLUTE_PATH script BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/tests)
  endif()
  if(script MATCHES "\\.py$")
    list(PREPEND script /usr/bin/python3)
  endif()
  add_test(NAME ${name} COMMAND ${script} ${test_UNPARSED_ARGUMENTS})
  set(environment ${test_ENVIRONMENT} ${CROSSTALK_TEST_ENVIRONMENT})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 ENVIRONMENT "${environment}" ${test_PROPERTIES})
endfunction()

# house_fuzz(NAME [REPLAYED] USES TARGET...): builds NAME_fuzz.cpp, which accepts any bytes, as the libFuzzer program
# NAME-fuzz if the preset is `fuzz`. REPLAYED: with any compiler, a test also feeds it thousands of mutations of the
# files in seeds/NAME.
function(house_fuzz name)
  cmake_parse_arguments(fuzz "REPLAYED" "" "USES" ${ARGN})
  foreach(library ${fuzz_USES})
    if(NOT TARGET ${library})
      return()
    endif()
  endforeach()
  if(CROSSTALK_FUZZ)
    add_executable(${name}-fuzz ${name}_fuzz.cpp)
    target_link_libraries(${name}-fuzz PRIVATE ${fuzz_USES} testing)
    target_link_options(${name}-fuzz PRIVATE -fsanitize=fuzzer)
  endif()
  if(fuzz_REPLAYED AND BUILD_TESTING)
    add_executable(${name}-replay ${name}_fuzz.cpp replay_main.cpp)
    target_link_libraries(${name}-replay PRIVATE ${fuzz_USES} testing)
    set_target_properties(${name}-replay PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME "fuzz: mutations of ${name} files" COMMAND ${name}-replay ${CMAKE_CURRENT_SOURCE_DIR}/seeds/${name})
    set_tests_properties("fuzz: mutations of ${name} files" PROPERTIES
      LABELS slow TIMEOUT 600 ENVIRONMENT "${CROSSTALK_TEST_ENVIRONMENT}")
  endif()
endfunction()

# house_bench(NAME USES TARGET...): a Google Benchmark program from bench/NAME_bench.cpp, run by the target `bench`.
function(house_bench name)
  cmake_parse_arguments(bench "" "" "USES" ${ARGN})
  if(NOT CROSSTALK_HAS_BENCHMARK)
    return()
  endif()
  string(REPLACE "-" "_" file ${name})
  add_executable(${name}-bench EXCLUDE_FROM_ALL bench/${file}_bench.cpp)
  target_link_libraries(${name}-bench PRIVATE ${bench_USES} testing benchmark::benchmark)
  house_bench_step(${name}-bench COMMAND $<TARGET_FILE:${name}-bench>)
endfunction()

# house_bench_step(TARGET COMMAND ... [DEPENDS PROGRAM...] [QUICK SECONDS]): adds COMMAND to the target `bench`, which
# runs one command after the other; `bench-quick` gives it about SECONDS of its 600 s. The target `benchmarks` builds
# all benchmarks without running them.
function(house_bench_step target)
  cmake_parse_arguments(step "" "QUICK" "COMMAND;DEPENDS" ${ARGN})
  if(NOT step_QUICK)
    set(step_QUICK 30)
  endif()
  if(NOT TARGET bench)
    add_custom_target(benchmarks)
    foreach(kind bench bench-quick)
      string(REGEX REPLACE "^bench-?" "" how "${kind}")
      add_custom_target(${kind} USES_TERMINAL DEPENDS benchmarks
        COMMAND ${CMAKE_SOURCE_DIR}/results/bench/bench.py --build ${CMAKE_BINARY_DIR} $<$<BOOL:${how}>:--${how}>
        COMMAND_EXPAND_LISTS)
    endforeach()
    cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL house_write_bench_steps)")
  endif()
  if(TARGET ${target})
    add_dependencies(benchmarks ${target})
  endif()
  if(step_DEPENDS)
    add_dependencies(benchmarks ${step_DEPENDS})
  endif()
  string(JOIN "\t" line ${target} ${step_QUICK} ${step_COMMAND})
  set_property(GLOBAL APPEND_STRING PROPERTY house_bench_steps "${line}\n")
endfunction()

# Writes benchmarks.txt for bench.py: lines of words separated by tabs. The first line is the environment; each other
# line is a name, its seconds in a quick run, and its command.
function(house_write_bench_steps)
  get_property(steps GLOBAL PROPERTY house_bench_steps)
  string(JOIN "\t" environment ${CROSSTALK_TEST_ENVIRONMENT})
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/benchmarks.txt CONTENT "${environment}\n${steps}")
endfunction()
