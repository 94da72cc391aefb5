# export_only_public(<library> <directory of public headers>): the shared library exports the functions and tables that
# its public headers declare, and nothing else.
include(CheckLinkerFlag)

function(export_only_public library directory)
  file(GLOB headers CONFIGURE_DEPENDS ${directory}/*.h)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
  set(names "")
  foreach(header IN LISTS headers)
    file(READ ${header} text)
    string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")     # comments
    string(REGEX REPLACE "(typedef|static inline)[^;{(]*\\(" "" text "${text}") # types and inline functions
    string(REGEX MATCHALL "uc_[a-z0-9_]+ *\\(" functions "${text}")
    string(REGEX MATCHALL "extern [a-z_ *]*uc_[a-z0-9_]+\\[" tables "${text}")
    string(REPLACE "[" "(" tables "${tables}") # a list's items must not have a bracket that does not close
    string(REGEX MATCHALL "uc_[a-z0-9_]+ *\\(" found "${functions} ${tables}")
    list(TRANSFORM found REPLACE " *\\($" "")
    list(APPEND names ${found})
  endforeach()
  list(REMOVE_DUPLICATES names)
  list(SORT names)
  list(JOIN names ";\n    " names)

  set(script ${CMAKE_CURRENT_BINARY_DIR}/exports.map)
  file(CONFIGURE OUTPUT ${script} @ONLY
       CONTENT "UNCONFUSE_@soversion@ {\nglobal:\n    @names@;\nlocal:\n    *;\n};\n")
  check_linker_flag(C "-Wl,--version-script=${script}" linker_has_version_scripts)
  if(linker_has_version_scripts)
    target_link_options(${library} PRIVATE -Wl,--version-script=${script} -Wl,-Bsymbolic-functions)
    set_property(TARGET ${library} APPEND PROPERTY LINK_DEPENDS ${script})
  endif()
endfunction()
