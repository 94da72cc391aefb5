# The Python package, built and installed into a virtual environment of the build directory by the target `python`,
# which is not part of `all`: `make python` and `make test` ask for it.

# python_obstacle(<out>): why the package cannot be built here; empty when it can.
function(python_obstacle out)
  set(${out} "" PARENT_SCOPE)
  if(UNCONFUSE_SANITIZE OR UNCONFUSE_COVERAGE OR UNCONFUSE_FUZZ)
    set(${out} "Python does not load a library with sanitizers or coverage" PARENT_SCOPE)
    return()
  endif()
  find_program(UNCONFUSE_PYTHON_PROGRAM NAMES python3 HINTS /usr/bin) # the system's, which has the system's packages
  mark_as_advanced(UNCONFUSE_PYTHON_PROGRAM)
  set(missing "")
  foreach(module IN ITEMS cffi setuptools wheel pip venv ensurepip numpy scipy sklearn)
    execute_process(COMMAND ${UNCONFUSE_PYTHON_PROGRAM} -c
                            "import importlib.util, sys; sys.exit(not importlib.util.find_spec('${module}'))"
                    RESULT_VARIABLE absent OUTPUT_QUIET ERROR_QUIET)
    if(NOT "${absent}" STREQUAL 0)
      list(APPEND missing ${module})
    endif()
  endforeach()
  list(JOIN missing ", " missing)
  if(missing)
    set(${out} "Python lacks ${missing}; scripts/install-deps installs what is missing" PARENT_SCOPE)
  endif()
endfunction()

set(UNCONFUSE_PYTHON AUTO CACHE STRING "Whether the target python builds the package: ON, OFF, or AUTO, if it can")
python_obstacle(obstacle)
if(UNCONFUSE_PYTHON STREQUAL AUTO AND obstacle)
  set(python_off "${obstacle}")
elseif(NOT UNCONFUSE_PYTHON AND NOT UNCONFUSE_PYTHON STREQUAL AUTO)
  set(python_off "UNCONFUSE_PYTHON=${UNCONFUSE_PYTHON}")
endif()
if(python_off)
  message(STATUS "The Python package is off: ${python_off}")
  add_custom_target(python COMMAND ${CMAKE_COMMAND} -E echo "The Python package is off: ${python_off}" VERBATIM)
  return()
endif()

set(venv ${PROJECT_BINARY_DIR}/python-venv)
file(GLOB python_sources CONFIGURE_DEPENDS python/*.py python/*.h python/*.toml python/unconfuse/*.py
     python/unconfuse/*.pyi)
list(FILTER python_sources EXCLUDE REGEX "/estimators.py$") # generated, if someone built in the sources
if(UNCONFUSE_WEB)
  set(page ${PROJECT_BINARY_DIR}/web/page.c) # what it is made of goes into the package
endif()
add_custom_command(
  OUTPUT ${venv}/installed
  COMMAND ${UNCONFUSE_PYTHON_PROGRAM} -m venv --system-site-packages ${venv}
  COMMAND ${CMAKE_COMMAND} -E env UNCONFUSE_BUILD=${PROJECT_BINARY_DIR} ${venv}/bin/pip install --quiet
          --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall ${PROJECT_SOURCE_DIR}/python
  COMMAND ${CMAKE_COMMAND} -E touch ${venv}/installed
  DEPENDS ${python_sources} unconfuse_shared ${page}
  COMMENT "Installing the Python package into ${venv}"
  VERBATIM)
file(RELATIVE_PATH venv_below ${PROJECT_SOURCE_DIR} ${venv})
add_custom_target(
  python
  COMMAND ${CMAKE_COMMAND} -E echo "Use it: ${venv_below}/bin/python your_script.py, or first: . ${venv_below}/bin/activate"
  DEPENDS ${venv}/installed
  COMMENT "Python package: ready"
  VERBATIM)
