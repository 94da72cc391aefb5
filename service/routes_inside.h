/* Internals of the routes: a row of their table. */
#ifndef SERVICE_ROUTES_INSIDE_H
#define SERVICE_ROUTES_INSIDE_H

#include "service/routes.h"

struct route {
    const char *method, *path;
    job_kind kind;
    job *(*begin)(const route *self, const request *given, const char *model, const char *event,
                  problem *why);
    void (*finish)(response *out, job *done);
    /* Instead of both: answers without the engine's thread. */
    void (*answer)(response *out, const request *given, engine *from, const char *model, problem *why);
    const char *summary, *body; /* for openapi.json; the body's schema, or NULL */
};

const route *route_at(size_t i); /* NULL past the end */
json_t *route_body(const request *given, problem *why);

/* answers.c */
void route_inference_problem(response *out, const problem *why);
void finish_json(response *out, job *done);
void finish_proposals(response *out, job *done);
void finish_predictions(response *out, job *done);
void finish_feedback(response *out, job *done);
void finish_reward(response *out, job *done);
void finish_model(response *out, job *done);
void finish_ready(response *out, job *done);
void finish_metrics(response *out, job *done);
void answer_page(response *out, const request *given, engine *from, const char *model, problem *why);
void answer_health(response *out, const request *given, engine *from, const char *model, problem *why);
void answer_events(response *out, const request *given, engine *from, const char *model, problem *why);
void answer_openapi(response *out, const request *given, engine *from, const char *model, problem *why);

/* inference.c */
job *begin_infer(const route *self, const request *given, const char *model, const char *event, problem *why);
void finish_infer(response *out, job *done);
void finish_metadata(response *out, job *done);
void finish_server_ready(response *out, job *done);
void finish_model_ready(response *out, job *done);
void answer_server_live(response *out, const request *given, engine *from, const char *model, problem *why);
void answer_server(response *out, const request *given, engine *from, const char *model, problem *why);

#endif
