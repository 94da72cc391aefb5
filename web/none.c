/* In place of the bundled pages, for a program that is built without them. */
#include <stddef.h>

extern const unsigned char app_page_head[], app_page_tail[];
extern const size_t app_page_head_size, app_page_tail_size;
const unsigned char app_page_head[] = {0};
const unsigned char app_page_tail[] = {0};
const size_t app_page_head_size = 0, app_page_tail_size = 0;
