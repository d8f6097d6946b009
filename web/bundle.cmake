# The page: bundled by esbuild (`npm run build`) into web/dist, then embedded in the executable.
# web/dist and web/node_modules are shared by all presets of a clone.
#
# The build includes this file, and runs it as a script (cmake -DSTAMP=… -DLOCK=… -P) to bundle.

set(web ${CMAKE_CURRENT_LIST_DIR})

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(stamp ${CMAKE_BINARY_DIR}/embedded/web.stamp)
  file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${web}/src/* ${web}/static/*)
  file(GLOB web_settings CONFIGURE_DEPENDS ${web}/*.json ${web}/*.mjs)
  add_custom_command(
    OUTPUT ${stamp}
    COMMAND ${CMAKE_COMMAND} -DSTAMP=${stamp} -DLOCK=${CMAKE_SOURCE_DIR}/build/web.lock
            -P ${web}/bundle.cmake
    DEPENDS ${web_sources} ${web_settings} ${devices} ${web}/bundle.cmake
    COMMENT "Bundling the page"
    VERBATIM)
  kcharter_embed(embedded_site FOLDER ${web}/dist DEPENDS ${stamp})
  return()
endif()

find_program(NPM npm)
if(NOT NPM)
  message(FATAL_ERROR "npm was not found, so the page cannot be bundled: run scripts/setup")
endif()
file(LOCK ${LOCK} GUARD PROCESS TIMEOUT 600)  # presets that build at once take turns

function(run_npm)
  execute_process(COMMAND ${NPM} ${ARGN} WORKING_DIRECTORY ${web} RESULT_VARIABLE status
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " arguments)
    message(FATAL_ERROR "web: `npm ${arguments}` failed:\n${output}")
  endif()
endfunction()

# Packages are installed anew only when the lock file says something else than last time.
set(installed ${web}/node_modules/.kcharter-lock)
file(SHA256 ${web}/package-lock.json wanted)
set(found "")
if(EXISTS ${installed})
  file(READ ${installed} found)
endif()
if(NOT found STREQUAL wanted)
  run_npm(ci --no-audit --no-fund --loglevel=error)
  file(WRITE ${installed} ${wanted})
endif()
run_npm(run build)
file(TOUCH ${STAMP})
