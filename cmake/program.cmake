# What is installed, without tests and benchmarks: `make build` asks for this target. unconfuse-papers joins it.
add_custom_target(programs)
add_dependencies(programs unconfuse_shared)

# What every program shares, and the program `unconfuse`: public headers and jansson only.
file(GLOB app_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/app/*.c)
file(GLOB cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.c)
list(APPEND cli_sources ${app_sources})
include(cmake/web.cmake)
include(cmake/service.cmake)
add_executable(unconfuse ${cli_sources} ${service_loader})
set_target_properties(unconfuse PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} ENABLE_EXPORTS ON)
target_include_directories(unconfuse PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(unconfuse PRIVATE unconfuse_shared unconfuse_flags PkgConfig::jansson ${CMAKE_DL_LIBS} m)
if(UNCONFUSE_SERVICE)
  add_dependencies(unconfuse unconfuse_service)
endif()

# Installed, the program finds its library relative to itself.
file(RELATIVE_PATH library_from_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(unconfuse PROPERTIES INSTALL_RPATH "$ORIGIN/${library_from_program}")
install(TARGETS unconfuse)
add_dependencies(programs unconfuse)

# The same program for several processes: comm_mpi.c in place of the library's comm_alone.c, which a static library gives
# up. Its library is inside, so that the machines of a cluster need no more than the one file.
if(UNCONFUSE_MPI)
  add_executable(unconfuse-mpi ${cli_sources} ${service_absent} ${PROJECT_SOURCE_DIR}/src/parallel/comm_mpi.c)
  set_target_properties(unconfuse-mpi PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_include_directories(unconfuse-mpi PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(unconfuse-mpi PRIVATE unconfuse_static unconfuse_flags MPI::MPI_C PkgConfig::jansson m)
  install(TARGETS unconfuse-mpi)
  add_dependencies(programs unconfuse-mpi)
  configure_file(${PROJECT_SOURCE_DIR}/cli/unconfuse-mpi.1.in ${PROJECT_BINARY_DIR}/unconfuse-mpi.1 @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/unconfuse-mpi.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

# The manual page and the completions are made by the program itself; a program for another machine cannot run here.
# self_description(<program> <file> <directory below the prefix> <installed name> <argument>...)
function(self_description program file directory name)
  set(output ${PROJECT_BINARY_DIR}/${file})
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${program} ${ARGN} > ${output}.new
    COMMAND ${CMAKE_COMMAND} -E rename ${output}.new ${output}
    DEPENDS ${program}
    COMMENT "Writing ${file}"
    VERBATIM)
  install(FILES ${output} DESTINATION ${directory} RENAME ${name})
  set_property(TARGET unconfuse_descriptions APPEND PROPERTY SOURCES ${output})
endfunction()

if(CMAKE_CROSSCOMPILING)
  message(STATUS "Manual page and completions are off: the program writes them itself, and this is a cross build")
else()
  add_custom_target(unconfuse_descriptions ALL)
  add_dependencies(programs unconfuse_descriptions)
  self_description(unconfuse unconfuse.1 ${CMAKE_INSTALL_MANDIR}/man1 unconfuse.1 help --man)
  self_description(unconfuse-papers unconfuse-papers.1 ${CMAKE_INSTALL_MANDIR}/man1 unconfuse-papers.1 help --man)
  self_description(unconfuse unconfuse.bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions unconfuse
    help --completion bash)
  self_description(unconfuse _unconfuse ${CMAKE_INSTALL_DATADIR}/zsh/site-functions _unconfuse help --completion zsh)
endif()
