/* Reports: --html writes one self-contained page that shows the JSON of the command and nothing else. It
 * consists of a template, the bundle of web/ and that JSON. */
#ifndef APP_PAGE_H
#define APP_PAGE_H

#include "app/command.h"

/* Opens the file of --html, if it was given, before the work starts. */
uc_status app_page_begin(app_call *call);
/* Writes the call's result to it, and commits all files of the command together. Commands that write other
 * files call this at their end, with the result set; for the others app_main calls it. */
uc_status app_finish_call(app_call *call, bool durable);
bool app_page_is_pending(const app_call *call); /* begun but not yet written */

#endif
