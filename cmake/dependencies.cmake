# What unconfuse is built on. A required part that is missing is reported with the Debian package that has it.
find_package(PkgConfig QUIET)
set(THREADS_PREFER_PTHREAD_FLAG ON)

set(missing "")

# need(<what> <Debian package> <found>): remembers what is not there, so that one message names everything.
macro(need what package found)
  if(NOT ${found})
    string(APPEND missing "\n  ${what}  (Debian: ${package})")
  endif()
endmacro()

find_package(Threads REQUIRED)
find_package(ZLIB)
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h)
find_path(LBFGS_INCLUDE_DIR lbfgs.h)
find_library(LBFGS_LIBRARY lbfgs)
mark_as_advanced(RANDOM123_INCLUDE_DIR LBFGS_INCLUDE_DIR LBFGS_LIBRARY)

if(PkgConfig_FOUND)
  pkg_check_modules(openblas IMPORTED_TARGET openblas)
  pkg_check_modules(zstd IMPORTED_TARGET libzstd)
  pkg_check_modules(jansson IMPORTED_TARGET jansson)
  need("OpenBLAS" libopenblas-dev openblas_FOUND)
  need("zstd" libzstd-dev zstd_FOUND)
  need("jansson" libjansson-dev jansson_FOUND)
else()
  need("pkg-config" pkg-config PkgConfig_FOUND)
endif()
need("zlib" zlib1g-dev ZLIB_FOUND)
need("Random123 headers" librandom123-dev RANDOM123_INCLUDE_DIR)
need("liblbfgs" liblbfgs-dev LBFGS_LIBRARY)

# Many machines are an option. What AUTO found is not kept: MPI may be installed later.
find_package(MPI COMPONENTS C QUIET)
set(UNCONFUSE_MPI AUTO CACHE STRING "Whether to build unconfuse-mpi, for several processes: ON, OFF, or AUTO, if it can")
if(UNCONFUSE_MPI STREQUAL AUTO)
  set(UNCONFUSE_MPI ${MPI_C_FOUND})
endif()
if(UNCONFUSE_MPI)
  need("MPI" libopenmpi-dev MPI_C_FOUND)
else()
  message(STATUS "unconfuse-mpi is off: MPI is not there, or UNCONFUSE_MPI says so (Debian: libopenmpi-dev)")
endif()

if(missing)
  message(FATAL_ERROR "unconfuse needs these and does not find them:${missing}\n"
                      "On Debian and Ubuntu, scripts/install-deps installs all of them.")
endif()

# OpenBLAS is loaded when it is first needed (src/linalg/blas.c), by this name.
set(UNCONFUSE_BLAS libopenblas.so.0 CACHE STRING "The file of OpenBLAS that is loaded: a name for the loader, or a path")

add_library(unconfuse_dependencies INTERFACE)
target_link_libraries(unconfuse_dependencies INTERFACE PkgConfig::zstd PkgConfig::jansson ZLIB::ZLIB Threads::Threads
                                                       ${LBFGS_LIBRARY} ${CMAKE_DL_LIBS} m)
target_include_directories(unconfuse_dependencies SYSTEM INTERFACE ${RANDOM123_INCLUDE_DIR} ${LBFGS_INCLUDE_DIR}
                                                                   ${openblas_INCLUDE_DIRS})
