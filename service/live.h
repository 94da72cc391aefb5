/* The dashboard: its page, and its data, sent once a second as server-sent events. */
#ifndef SERVICE_LIVE_H
#define SERVICE_LIVE_H

#include <pthread.h>

#include "service/latency.h"

typedef struct live live;

live *live_create(void);
void live_free(live *self);
/* Makes the next message from the models, the last events and the requests since the last call. */
void live_update(live *self, engine *from, latency *times);
/* Copies the current message and its number; the caller frees it. NULL: none is newer than `seen`. */
char *live_message(live *self, uint64_t *seen, size_t *size);
/* The page, which the caller frees; NULL if the program was built without pages. */
char *live_page(size_t *size);

#endif
