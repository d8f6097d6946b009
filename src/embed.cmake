# Files that travel inside the executable, so that the binary alone can publish a site and validate.
#
#   kcharter_embed(embedded_schemas FILES ${schemas})
#   kcharter_embed(embedded_site FOLDER ${dist} DEPENDS ${what_fills_it})
#
# defines `std::span<const EmbeddedFile> kcharter::embedded_schemas()` (base/embedded_file.h) in
# kcharter_core. The header that declares it is written by hand, beside its user.
#
# This file is also the script that writes the source: cmake -DNAME=… -DOUTPUT=… -DFILES=… -P.

function(kcharter_embed name)
  cmake_parse_arguments(PARSE_ARGV 1 embed "" "FOLDER" "FILES;DEPENDS")
  set(output ${CMAKE_BINARY_DIR}/embedded/${name}.cc)
  list(SORT embed_FILES)
  list(JOIN embed_FILES "|" files)
  string(APPEND files ${embed_FOLDER})
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DOUTPUT=${output} "-DFILES=${files}"
            -P ${CMAKE_SOURCE_DIR}/src/embed.cmake
    DEPENDS ${embed_FILES} ${embed_DEPENDS} ${CMAKE_SOURCE_DIR}/src/embed.cmake
    COMMENT "Embedding ${name}"
    VERBATIM)
  target_sources(kcharter_core PRIVATE ${output})
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()

# The bytes are the assembler's to include: compilers take seconds over an array of a megabyte.
string(REPLACE "|" ";" entries "${FILES}")
set(files)
foreach(entry IN LISTS entries)
  if(IS_DIRECTORY ${entry})  # its contents, known only once it was built
    file(GLOB contents LIST_DIRECTORIES OFF ${entry}/*)
    list(APPEND files ${contents})
  else()
    list(APPEND files ${entry})
  endif()
endforeach()
list(SORT files)
set(symbols "")
set(rows "")
set(index 0)
foreach(file IN LISTS files)
  get_filename_component(file_name ${file} NAME)
  file(SHA256 ${file} hash)  # so that this source changes whenever the bytes do
  string(APPEND symbols "// ${hash}
__asm__(\".section .rodata\\n\"
        \"kcharter_${NAME}_${index}:\\n.incbin \\\"${file}\\\"\\n\"
        \"kcharter_${NAME}_${index}_end:\\n.byte 0\\n.previous\\n\");
extern \"C\" __attribute__((visibility(\"hidden\"))) const char kcharter_${NAME}_${index}[];
extern \"C\" __attribute__((visibility(\"hidden\"))) const char kcharter_${NAME}_${index}_end[];
")
  string(APPEND rows "      {\"${file_name}\",
       {kcharter_${NAME}_${index},
        static_cast<size_t>(kcharter_${NAME}_${index}_end - kcharter_${NAME}_${index})}},
")
  math(EXPR index "${index} + 1")
endforeach()
if(index EQUAL 0)
  message(FATAL_ERROR "${NAME}: there is no file to embed in ${FILES}")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "// Written by src/embed.cmake.
#include <cstddef>
#include <span>

#include \"kcharter/base/embedded_file.h\"

${symbols}
namespace kcharter {

std::span<const EmbeddedFile> ${NAME}();

std::span<const EmbeddedFile> ${NAME}() {
  static const EmbeddedFile files[] = {
${rows}  };
  return files;
}

}  // namespace kcharter
" @ONLY)
