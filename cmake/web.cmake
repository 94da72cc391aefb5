# The pages of reports (web/): bundled by esbuild with d3, put into a template, and made into bytes of the program.
find_program(ESBUILD esbuild)
find_path(NODE_MODULES d3-selection/package.json PATHS /usr/share/nodejs /usr/lib/nodejs)
mark_as_advanced(ESBUILD NODE_MODULES)
set(UNCONFUSE_WEB AUTO CACHE STRING "Whether programs can write reports (--html): ON, OFF, or AUTO, if it can")
set(web_found OFF)
if(ESBUILD AND NODE_MODULES)
  set(web_found ON)
endif()
if(UNCONFUSE_WEB STREQUAL AUTO)
  set(UNCONFUSE_WEB ${web_found})
endif()
if(UNCONFUSE_WEB AND NOT web_found)
  message(FATAL_ERROR "UNCONFUSE_WEB needs esbuild and d3 (Debian: esbuild, node-d3)")
endif()

if(UNCONFUSE_WEB)
  set(web ${PROJECT_SOURCE_DIR}/web)
  set(web_out ${PROJECT_BINARY_DIR}/web)
  file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${web}/src/*.js ${web}/src/*.css ${web}/page.html)
  add_custom_command(
    OUTPUT ${web_out}/page.c
    COMMAND ${CMAKE_COMMAND} -E env NODE_PATH=${NODE_MODULES} ${ESBUILD} ${web}/src/main.js --bundle --minify
            --format=iife --target=es2020 --charset=utf8 --legal-comments=none --log-level=warning
            --outfile=${web_out}/page.js
    COMMAND ${ESBUILD} ${web}/src/page.css --minify --charset=utf8 --log-level=warning --outfile=${web_out}/page.css
    COMMAND ${CMAKE_COMMAND} -DTEMPLATE=${web}/page.html -DDIRECTORY=${web_out} -P ${PROJECT_SOURCE_DIR}/cmake/page.cmake
    DEPENDS ${web_sources} ${PROJECT_SOURCE_DIR}/cmake/page.cmake
    COMMENT "Bundling the pages of reports"
    VERBATIM)
  add_library(unconfuse_page OBJECT ${web_out}/page.c)
  list(APPEND cli_sources $<TARGET_OBJECTS:unconfuse_page>)
else()
  list(APPEND cli_sources ${PROJECT_SOURCE_DIR}/web/none.c)
  message(STATUS "Reports (--html) are off: esbuild or d3 is not there, or UNCONFUSE_WEB says so (Debian: esbuild, node-d3)")
endif()
