/* Snapshots: DIR/NAME/SEQUENCE.uc, and their part in the journal. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/memory.h"
#include "service/engine_inside.h"
#include "service/log.h"

static char *snapshot_path(const engine *self, const entry *model, int64_t sequence)
{
    return app_text("%s/%s/%lld.uc", self->directory, model->model->name, (long long)sequence);
}

typedef struct pruning {
    int64_t sequences[64];
    size_t count;
} pruning;

static bool list_snapshot(int64_t sequence, const char *state, void *user)
{
    pruning *list = user;
    (void)state;
    list->sequences[list->count++] = sequence;
    return list->count < sizeof list->sequences / sizeof *list->sequences;
}

static void prune(engine *self, const entry *model)
{
    pruning list = {0};
    if (!journal_snapshots(self->writes, model->model->number, INT64_MAX, list_snapshot, &list, NULL))
        return;
    for (size_t i = self->settings.keep_snapshots; i < list.count; i++) {
        if (!journal_remove_snapshot(self->writes, model->model->number, list.sequences[i], NULL))
            return;
        char *path = snapshot_path(self, model, list.sequences[i]);
        (void)unlink(path);
        free(path);
    }
}

bool engine_snapshot(engine *self, entry *model, problem *why)
{
    const served *now = model->model;
    char *folder = app_text("%s/%s", self->directory, now->name);
    char *path = snapshot_path(self, model, now->sequence), *state = served_keep(now);
    uc_model *file = NULL;
    bool kept = false;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        (void)problem_set(why, 507, "%s: cannot make the directory: %s", folder, strerror(errno));
        goto cleanup;
    }
    uc_status status = uc_online_model(&file, now->online, true);
    if (status == UC_OK)
        status = uc_model_save(file, path);
    if (status != UC_OK)
        (void)problem_of_library(why, status);
    else if (journal_add_snapshot(self->writes, now->number, now->sequence, state, why))
        kept = true;
    if (!kept)
        goto cleanup;
    model->snapshot = now->sequence;
    prune(self, model);

cleanup:
    uc_model_free(file);
    free(state);
    free(path);
    free(folder);
    return kept;
}

json_t *engine_snapshot_list(engine *self, const entry *model)
{
    pruning list = {0};
    json_t *json = json_array();
    (void)journal_snapshots(self->writes, model->model->number, INT64_MAX, list_snapshot, &list, NULL);
    for (size_t i = list.count; i-- > 0;)
        (void)json_array_append_new(json, json_integer(list.sequences[i]));
    return json;
}

bool engine_load(engine *self, entry *model, bool (*go_on)(void), problem *why)
{
    served *loaded = NULL;
    const served *before = model->model;
    int64_t last;
    if (!journal_last(&last, self->writes, before->number, why) ||
        !directory_load(&loaded, &model->snapshot, self->writes, self->directory, before->number,
                        before->name, last, go_on, why))
        return false;
    served_free(model->model);
    model->model = loaded;
    class_list_release(model->classes);
    model->classes = class_list_make(served_classes(loaded));
    return true;
}
