# SPDX-License-Identifier: Apache-2.0
# Runs at every build: writes version.cpp if the version or the state of the checkout has changed. -D SOURCE=the source
# tree -D PROJECT_VERSION=... -D OUT=version.cpp

execute_process(COMMAND git -c safe.directory=* -C ${SOURCE} describe --always --dirty --abbrev=12
  OUTPUT_VARIABLE CROSSTALK_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT CROSSTALK_REVISION)
  set(CROSSTALK_REVISION unknown)
endif()
execute_process(COMMAND git -c safe.directory=* -C ${SOURCE} log -1 --format=%cs
  OUTPUT_VARIABLE CROSSTALK_REVISION_DATE OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
configure_file(${SOURCE}/base/version.cpp.in ${OUT} @ONLY)
