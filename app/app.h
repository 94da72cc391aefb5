/* Everything that programs share. Files of app/ include what they need; programs include this.
 *
 *   program < signals < memory < progress < message < output, grid, json < options < command < page, help
 *   < main */
#ifndef APP_APP_H
#define APP_APP_H

#include "app/command.h"
#include "app/grid.h"
#include "app/help.h"
#include "app/json.h"
#include "app/main.h"
#include "app/memory.h"
#include "app/message.h"
#include "app/output.h"
#include "app/page.h"
#include "app/progress.h"
#include "app/signals.h"

#endif
