# Library, headers, and what pkg-config and find_package(unconfuse) read.
include(CMakePackageConfigHelpers)

install(TARGETS unconfuse_shared EXPORT unconfuseTargets)
install(DIRECTORY include/unconfuse TYPE INCLUDE FILES_MATCHING PATTERN "*.h")

# below_prefix(<out> <directory>): as pkg-config likes it, below ${prefix} unless it is absolute.
function(below_prefix out directory)
  if(IS_ABSOLUTE "${directory}")
    set(${out} "${directory}" PARENT_SCOPE)
  else()
    set(${out} "\${prefix}/${directory}" PARENT_SCOPE)
  endif()
endfunction()
below_prefix(pc_libdir "${CMAKE_INSTALL_LIBDIR}")
below_prefix(pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
# The prefix is relative to the file, so that `cmake --install --prefix` may choose another one.
set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  file(RELATIVE_PATH prefix_from_pc "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
  string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
  set(pc_prefix "\${pcfiledir}/${prefix_from_pc}")
endif()
configure_file(cmake/unconfuse.pc.in unconfuse.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/unconfuse.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/unconfuse)
configure_package_config_file(cmake/unconfuseConfig.cmake.in unconfuseConfig.cmake
                              INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(unconfuseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT unconfuseTargets NAMESPACE unconfuse:: DESTINATION ${package_directory})
install(FILES ${PROJECT_BINARY_DIR}/unconfuseConfig.cmake ${PROJECT_BINARY_DIR}/unconfuseConfigVersion.cmake
        DESTINATION ${package_directory})
