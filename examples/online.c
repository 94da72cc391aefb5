/* Learns from right/wrong feedback that comes after a restart. Each call of ./online state.uc learns from the
 * feedback for the last request, routes the next one, and saves. The request that waits for feedback is in
 * state.uc.waiting. */
#include <stdio.h>
#include <unconfuse/unconfuse.h>
#include <unistd.h>

typedef struct waiting { /* must survive a restart */
    float features[3];
    uc_proposal proposal;
} waiting;

/* A learner that knows two departments and has no experience. */
static uc_status begin(uc_online **out)
{
    uint32_t index;
    uc_status status = uc_online_begin(out, uc_learner_find("cspa-plus"), NULL, NULL, &(uc_names){0}, NULL);
    if (status == UC_OK)
        status = uc_online_add_class(&index, *out, "sales");
    return status == UC_OK ? uc_online_add_class(&index, *out, "support") : status;
}

static uc_status resume(uc_online **out, const char *path)
{
    uc_model *model = NULL;
    uc_status status = uc_model_load(&model, path);
    if (status == UC_OK)
        status = uc_online_resume(out, model);
    uc_model_free(model);
    return status;
}

static uc_status save(const uc_online *online, const char *path)
{
    uc_model *model = NULL;
    uc_status status = uc_online_model(&model, online, true /* with all that resuming needs */);
    if (status == UC_OK)
        status = uc_model_save(model, path);
    uc_model_free(model);
    return status;
}

/* Learns from the feedback for the last request, if there was one, and makes the next proposal. */
static uc_status serve(uc_online *online, FILE *file)
{
    waiting at = {.features = {0}};
    const uc_row row = {3, at.features, NULL};
    uc_status status = UC_OK;
    if (fread(&at, sizeof at, 1, file) == 1) {
        const bool right = at.proposal.label == 1; /* in this example the answer is always "support" */
        const uc_answer answer = {right ? UC_ANSWER_RIGHT : UC_ANSWER_WRONG, 0};
        status = uc_online_learn(online, &row, &at.proposal, answer);
    }
    at.features[0] = 1.0f; /* the next request */
    if (status == UC_OK)
        status = uc_online_propose(&at.proposal, online, &row);
    if (status == UC_OK)
        puts(uc_online_classes(online)->text[at.proposal.label]);
    rewind(file);
    return status == UC_OK && fwrite(&at, sizeof at, 1, file) == 1 ? UC_OK : UC_ERR_IO;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "state.uc";
    const bool saved = access(path, F_OK) == 0;
    char waiting_path[512];
    snprintf(waiting_path, sizeof waiting_path, "%s.waiting", path);
    FILE *file = fopen(waiting_path, saved ? "rb+" : "wb+");
    uc_online *online = NULL;
    uc_status status = saved ? resume(&online, path) : begin(&online);
    if (status == UC_OK)
        status = file ? serve(online, file) : UC_ERR_IO;
    if (status == UC_OK)
        status = save(online, path);
    if (status != UC_OK)
        fprintf(stderr, "%s: %s\n", argv[0], uc_last_error());
    uc_online_free(online);
    return (file && fclose(file) != 0) || status != UC_OK;
}
