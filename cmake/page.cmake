# Puts style and script into the template and writes the result as bytes of a C file, in two parts: before and behind the
# data. The page allows this one style and this one script by their hashes, and nothing else.
cmake_minimum_required(VERSION 3.25)

# csp_hash(<out> <file>): 'sha256-...' as a Content-Security-Policy names it: in base64.
function(csp_hash out file)
  execute_process(
    COMMAND sh -c "sha256sum < \"$1\" | cut -c1-64 | tr a-f A-F | tr -d '\\n' | basenc --base16 -d | base64" sh ${file}
    OUTPUT_VARIABLE hash OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${out} "'sha256-${hash}'" PARENT_SCOPE)
endfunction()

# A line break at the end would be part of what is hashed, so it stays.
csp_hash(script_hash ${DIRECTORY}/page.js)
csp_hash(style_hash ${DIRECTORY}/page.css)
file(READ ${TEMPLATE} page)
string(REPLACE "@SCRIPT_HASH@" "${script_hash}" page "${page}")
string(REPLACE "@STYLE_HASH@" "${style_hash}" page "${page}")
file(WRITE ${DIRECTORY}/page.html "${page}")

# hex(<out> <text or file>): its bytes as 0x12,0x34,... File contents never become CMake text: brackets and semicolons
# would not survive.
function(bytes_of out hex)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  set(${out} "${bytes}" PARENT_SCOPE)
endfunction()
function(hex_of_text out text)
  string(HEX "${text}" hex)
  set(${out} "${hex}" PARENT_SCOPE)
endfunction()

# template: before style | style | between style and data | (data) | between data and script | script | after script
string(FIND "${page}" "@STYLE@" style_at)
string(FIND "${page}" "@DATA@" data_at)
string(FIND "${page}" "@SCRIPT@" script_at)
math(EXPR after_style "${style_at} + 7")
math(EXPR after_data "${data_at} + 6")
math(EXPR after_script "${script_at} + 8")
math(EXPR style_to_data "${data_at} - ${after_style}")
math(EXPR data_to_script "${script_at} - ${after_data}")
string(SUBSTRING "${page}" 0 ${style_at} before)
string(SUBSTRING "${page}" ${after_style} ${style_to_data} middle)
string(SUBSTRING "${page}" ${after_data} ${data_to_script} between)
string(SUBSTRING "${page}" ${after_script} -1 after)
file(READ ${DIRECTORY}/page.css style HEX)
file(READ ${DIRECTORY}/page.js script HEX)
hex_of_text(before "${before}")
hex_of_text(middle "${middle}")
hex_of_text(between "${between}")
hex_of_text(after "${after}")
bytes_of(head "${before}${style}${middle}")
bytes_of(tail "${between}${script}${after}")
file(WRITE ${DIRECTORY}/page.c
  "#include <stddef.h>\n"
  "extern const unsigned char app_page_head[], app_page_tail[];\n"
  "extern const size_t app_page_head_size, app_page_tail_size;\n"
  "const unsigned char app_page_head[] = {${head}};\n"
  "const unsigned char app_page_tail[] = {${tail}};\n"
  "const size_t app_page_head_size = sizeof app_page_head, app_page_tail_size = sizeof app_page_tail;\n")
