/* The options for noise: a matrix, one rate, or two rates of a binary problem. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define FIELD(name) offsetof(cli_noise, name)
const uc_option cli_noise_options[] = {
    {.name = "noise-matrix",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(matrix),
     .argument = "FILE",
     .help =
         "CSV or NPY, K x K: the probability of each observed class (rows) given the true class (columns)"},
    {.name = "noise-orientation",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(orientation),
     .standard = "columns",
     .choices = "columns|rows",
     .help = "whether columns or rows stand for the true class (each sums to 1)"},
    {.name = "noise-rate",
     .type = UC_OPTION_REAL,
     .offset = FIELD(rate),
     .high = 0.999999,
     .argument = "ETA",
     .help = "share of wrong labels in every class, spread evenly over the others"},
    {.name = "noise-rates",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(rates),
     .argument = "ETA+,ETA-",
     .help = "two classes: the share of true positives, and of true negatives, that carry the wrong label"},
    {.name = "positive",
     .type = UC_OPTION_TEXT,
     .offset = FIELD(positive),
     .argument = "NAME",
     .help = "which of two classes is the positive one (without it: the later one in sorted order)"},
    {0},
};

bool cli_noise_is_given(const app_call *call)
{
    return app_given(call, "noise-matrix") || app_given(call, "noise-rate") || app_given(call, "noise-rates");
}

static uc_status parse_rates(double rates[2], const char *text)
{
    char *end;
    rates[0] = strtod(text, &end);
    if (end > text && *end == ',') {
        const char *second = end + 1;
        rates[1] = strtod(second, &end);
        if (end > second && *end == 0 && rates[0] >= 0 && rates[0] <= 1 && rates[1] >= 0 && rates[1] <= 1)
            return UC_OK;
    }
    return app_fail(UC_ERR_OPTION,
                    "--noise-rates %s: it must be two numbers from 0 to 1 with a comma between them", text);
}

static uc_status build_binary(uc_noise *out, const cli_noise *self, const uc_names *classes)
{
    double rates[2] = {0, 0};
    const uc_status status = parse_rates(rates, self->rates);
    if (status != UC_OK)
        return status;
    if (classes->count != 2)
        return app_fail(UC_ERR_INVALID, "--noise-rates is for two classes, but there are %zu",
                        classes->count);
    const uint32_t positive =
        self->positive ? uc_names_find_label(classes, self->positive, strlen(self->positive)) : 1;
    if (positive == UC_NONE)
        return app_fail(UC_ERR_INVALID, "--positive %s: the classes are %s and %s", self->positive,
                        classes->text[0], classes->text[1]);
    return uc_noise_binary(out, rates[1 - positive], rates[positive]); /* the rate of class 1 comes first */
}

uc_status cli_noise_check(uc_noise_check *out, const uc_noise *noise)
{
    const uc_status status = uc_noise_inspect(out, noise);
    if (status == UC_OK && out->dominated > 0 && !out->complementary) {
        char number[32];
        snprintf(number, sizeof number, "%zu", out->dominated_row + 1);
        app_warn(
            "the noise matrix does not identify every class: in the row of class %s the diagonal is not the "
            "largest entry",
            noise->names.count ? noise->names.text[out->dominated_row] : number);
    }
    return status;
}

uc_status cli_noise_build(uc_noise *out, uc_noise_check *check, const cli_noise *self,
                          const uc_names *classes, const app_call *call)
{
    const bool rate_given = app_given(call, "noise-rate");
    if ((self->matrix != NULL) + rate_given + (self->rates != NULL) > 1)
        return app_fail(UC_ERR_OPTION, "give only one of --noise-matrix, --noise-rate and --noise-rates");
    if (self->positive && !self->rates)
        return app_fail(UC_ERR_OPTION,
                        "--positive says which class the first of --noise-rates is for; give both");
    if (!cli_noise_is_given(call))
        return UC_OK;
    uc_noise noise = {0};
    uc_status status;
    if (self->rates)
        status = build_binary(&noise, self, classes);
    else if (rate_given)
        status = uc_noise_uniform(&noise, classes->count, self->rate);
    else
        status = uc_noise_read(&noise, self->matrix, (uc_noise_orientation)self->orientation, &call->context);
    if (status == UC_OK && (status = uc_noise_match(&noise, classes)) != UC_OK && self->matrix)
        (void)app_fail(status, "%s: %s", self->matrix, app_library_error());
    if (status == UC_OK)
        status = cli_noise_check(check, &noise);
    if (status != UC_OK) {
        uc_noise_free(&noise);
        return status;
    }
    *out = noise;
    return UC_OK;
}
