# Compiles shaders with crosslane as part of a CMake build.
#
#   crosslane_add_shaders(TARGET
#     SHADERS file...            # from the source folder
#     PROFILES profile...        # spirv-1.3 where none is named; names from `crosslane profiles`, or .toml files
#     [DEFINES NAME[=VALUE]...]
#     [INCLUDE_DIRS folder...]
#     [OPTIONS option...]        # of `crosslane compile`: -g, --reproducible, ...
#     [OUT_DIR folder])          # shaders/ in the binary folder where it is not named
#
# TARGET is a target that exists already and then waits for the shaders, or the name of one that is made. Its property
# CROSSLANE_OUTPUTS lists what is written: reduce.spirv-1.5.spv and so on. A shader is compiled again when it, a file that it
# includes, its profile's file or crosslane itself changes.
#
# CROSSLANE_EXECUTABLE names the program where it is not on the path; it is asked for the endings of files, so it must be there
# when the project is configured. Needs a generator that reads dependency files: ninja, or makefiles since CMake 3.20.

cmake_minimum_required(VERSION 3.20)

find_program(CROSSLANE_EXECUTABLE crosslane DOC "The crosslane command")

# The extension of what a profile makes, as the program says it.
function(_crosslane_extension profile result)
  execute_process(
    COMMAND "${CROSSLANE_EXECUTABLE}" profiles "${profile}" --json
    OUTPUT_VARIABLE text ERROR_VARIABLE why RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "crosslane_add_shaders: ${why}")
  endif()
  string(JSON extension GET "${text}" profiles 0 ending)
  set(${result} "${extension}" PARENT_SCOPE)
endfunction()

function(crosslane_add_shaders target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUT_DIR" "SHADERS;PROFILES;DEFINES;INCLUDE_DIRS;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "crosslane_add_shaders: what is ${arg_UNPARSED_ARGUMENTS}?")
  endif()
  if(NOT arg_SHADERS)
    message(FATAL_ERROR "crosslane_add_shaders: SHADERS names no file")
  endif()
  if(NOT CROSSLANE_EXECUTABLE)
    message(FATAL_ERROR "crosslane_add_shaders: there is no crosslane; set CROSSLANE_EXECUTABLE")
  endif()
  if(NOT arg_PROFILES)
    set(arg_PROFILES spirv-1.3)
  endif()
  if(NOT arg_OUT_DIR)
    set(arg_OUT_DIR shaders)
  endif()
  cmake_path(ABSOLUTE_PATH arg_OUT_DIR BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE)
  file(MAKE_DIRECTORY "${arg_OUT_DIR}")
  set(options ${arg_OPTIONS})
  foreach(define IN LISTS arg_DEFINES)
    list(APPEND options "-D${define}")
  endforeach()
  foreach(folder IN LISTS arg_INCLUDE_DIRS)
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    list(APPEND options "-I${folder}")
  endforeach()

  set(outputs)
  foreach(shader IN LISTS arg_SHADERS)
    cmake_path(GET shader FILENAME stem)
    string(REGEX REPLACE "\\.(glsl|wgsl)$" "" stem "${stem}")
    string(REGEX REPLACE "\\.comp$" "" stem "${stem}")
    cmake_path(ABSOLUTE_PATH shader BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    foreach(profile IN LISTS arg_PROFILES)
      cmake_path(GET profile STEM LAST_ONLY name)
      if(NOT profile MATCHES "\\.toml$")
        set(name "${profile}")
      else()
        cmake_path(ABSOLUTE_PATH profile BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
      endif()
      _crosslane_extension("${profile}" extension)
      set(output "${arg_OUT_DIR}/${stem}.${name}.${extension}")
      if(output IN_LIST outputs)
        message(FATAL_ERROR "crosslane_add_shaders: two outputs are called ${output}")
      endif()
      add_custom_command(
        OUTPUT "${output}"
        COMMAND "${CROSSLANE_EXECUTABLE}" compile "${shader}" -p "${profile}" -o "${output}" -MD -MF "${output}.d" ${options}
        DEPENDS "${shader}" "${CROSSLANE_EXECUTABLE}"
        DEPFILE "${output}.d"
        COMMENT "crosslane ${stem} for ${name}"
        VERBATIM)
      list(APPEND outputs "${output}")
    endforeach()
  endforeach()

  if(TARGET ${target})
    add_custom_target(${target}_shaders DEPENDS ${outputs})
    add_dependencies(${target} ${target}_shaders)
  else()
    add_custom_target(${target} ALL DEPENDS ${outputs})
  endif()
  set_property(TARGET ${target} APPEND PROPERTY CROSSLANE_OUTPUTS ${outputs})
endfunction()
