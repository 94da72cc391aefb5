"""What Python sees of the C library: declarations for cffi, which checks them against the headers when it compiles.

Only what the package uses is declared. A struct that ends in `...` has more members, which the compiler knows."""
import cffi

DECLARATIONS = r"""
/* status.h */
typedef enum { UC_OK, UC_ERR_INVALID, UC_ERR_NOMEM, UC_ERR_IO, UC_ERR_FORMAT, UC_ERR_DIVERGED, UC_ERR_CANCELLED,
               UC_ERR_OPTION, ... } uc_status;
const char *uc_last_error(void);
typedef enum { UC_MESSAGE_PYTHON, ... } uc_message_style;
void uc_message_render(char *, size_t, const char *, uc_message_style);
const char *uc_version(void);

/* cpu.h, context.h */
uc_status uc_cpu_set_level(const char *);
typedef struct {
    unsigned threads;
    bool (*progress)(const char *, double, double, const char *, void *);
    void (*warn)(const char *, void *);
    void *user;
    ...;
} uc_context;
extern "Python" bool unconfuse_progress(const char *, double, double, const char *, void *);
extern "Python" void unconfuse_warn(const char *, void *);

/* output.h */
typedef struct uc_output uc_output;
uc_status uc_output_begin(uc_output **, const char *, bool (*)(void *), void *);
uc_status uc_output_commit(uc_output *, bool);
void uc_output_abort(uc_output *);
extern "Python" bool unconfuse_go_on(void *);

/* option.h */
typedef enum { UC_OPTION_FLAG, UC_OPTION_COUNT, UC_OPTION_REAL, UC_OPTION_CHOICE, UC_OPTION_PAIR, ... } uc_option_type;
typedef struct {
    const char *name;
    uc_option_type type;
    bool automatic, above_low;
    const char *standard;
    double low, high;
    const char *choices, *zero, *unknown, *help;
    ...;
} uc_option;
void uc_options_defaults(const uc_option *, void *);
uc_status uc_option_set(const uc_option *, void *, const char *);

/* names.h, matrix.h */
#define UC_NONE ...
typedef struct { size_t count; char **text; ...; } uc_names;
uc_status uc_names_add(uint32_t *, uc_names *, const char *, size_t);
uc_status uc_names_sort(uc_names *, uint32_t *);
void uc_names_free(uc_names *);
typedef struct {
    size_t rows, cols, stride;
    float *values;
    uint64_t *offsets;
    uint32_t *columns;
} uc_matrix;
typedef struct { size_t count; const float *values; const uint32_t *columns; } uc_row;
void uc_matrix_free(uc_matrix *);
double uc_matrix_density(const uc_matrix *);

/* dataset.h, noise.h */
typedef struct uc_table uc_table;
typedef struct { uc_matrix X; uint32_t *y; uc_names classes; uint32_t *bag; uc_names bags; double *weights, *soft;
                 uc_table *table; ...; } uc_dataset;
void uc_dataset_free(uc_dataset *);
enum { UC_FORMAT_CSV, ... };
typedef struct { int format; const char *label, *columns, *drop, *missing_values, *decimal,
                 *separator; uint64_t max_categories;
                 const uc_table *table; ...; } uc_read_settings;
uc_read_settings uc_reader_defaults(void);
uc_status uc_dataset_read(uc_dataset *, const char *, const uc_read_settings *, const uc_context *);
uc_status uc_dataset_read_memory(uc_dataset *, const void *, size_t, const char *, const uc_read_settings *,
                                 const uc_context *);
/* table.h */
typedef enum { UC_COLUMN_DROP, ... } uc_column_type;
typedef struct { const char *name; uc_column_type type; ...; } uc_column;
const char *uc_column_type_name(uc_column_type);
uc_table *uc_table_share(const uc_table *);
void uc_table_free(uc_table *);
size_t uc_table_features(const uc_table *);
size_t uc_table_column_count(const uc_table *);
void uc_table_column_at(uc_column *, const uc_table *, size_t);
void uc_table_feature_name(char *, size_t, const uc_table *, size_t);
uc_status uc_table_save_memory(void **, size_t *, const uc_table *);
uc_status uc_table_load_memory(uc_table **, const void *, size_t, const char *);
const char *uc_table_decided(const uc_table *, const uc_read_settings *);
uc_status uc_dataset_check_classes(const uc_dataset *);
uc_status uc_dataset_positive_unlabelled(uint32_t *, uc_dataset *, const char *, const uc_context *);
uc_status uc_dataset_check_bags(const uc_dataset *, const uc_context *);
typedef struct { size_t classes; double *values; uc_names names; } uc_noise;
typedef struct { double condition; size_t dominated, dominated_row; double wrong; _Bool complementary; } uc_noise_check;
typedef enum { UC_NOISE_COLUMNS, UC_NOISE_ROWS } uc_noise_orientation;
uc_status uc_noise_create(uc_noise *, const double *, size_t, const uc_names *, uc_noise_orientation, const char *);
uc_status uc_noise_uniform(uc_noise *, size_t, double);
uc_status uc_noise_complementary(uc_noise *, size_t);
uc_status uc_noise_binary(uc_noise *, double, double);
uc_status uc_noise_random(uc_noise *, size_t, double, uint64_t);
uc_status uc_noise_match(uc_noise *, const uc_names *);
uc_status uc_noise_inspect(uc_noise_check *, const uc_noise *);
uc_status uc_noise_invert(double *, const uc_noise *, double);
uc_status uc_noise_apply(uc_dataset *, const uc_noise *, uint64_t, size_t *);
void uc_noise_free(uc_noise *);

/* map.h, prepare.h */
typedef struct { int map; double width; uint64_t dimension; ...; } uc_map_settings;
extern const uc_option uc_map_options[];
#define UC_STREAM_LANDMARKS ...
typedef struct uc_map uc_map;
uc_status uc_map_fit(uc_map **, const uc_map_settings *, const uc_matrix *, uint64_t, const uc_context *);
void uc_map_free(uc_map *);
double uc_map_width(const uc_map *);
size_t uc_map_dimension(const uc_map *);
uc_status uc_map_apply(uc_matrix *, const uc_map *, const uc_matrix *, const uc_context *);
typedef struct { size_t cols; ...; } uc_preprocessing;

/* model.h */
typedef struct uc_model uc_model;
void uc_model_free(uc_model *);
void uc_model_forget_state(uc_model *);
const uc_names *uc_model_classes(const uc_model *);
size_t uc_model_features(const uc_model *);
const uc_table *uc_model_table(const uc_model *);
size_t uc_model_dimension(const uc_model *);
const char *uc_model_learner(const uc_model *);
const double *uc_model_noise(const uc_model *);
uc_status uc_model_describe(char **, const uc_model *);
void uc_model_text_free(char *);
uc_status uc_model_predict(uint32_t *, const uc_model *, const uc_matrix *, const uc_context *);
uc_status uc_model_scores(double *, const uc_model *, const uc_matrix *, const uc_context *);
uc_status uc_model_probabilities(double *, const uc_model *, const uc_matrix *, const uc_context *);
double uc_model_label_is_right(const uc_model *, const double *, uint32_t);
uc_status uc_model_write(const uc_model *, uc_output *);
uc_status uc_model_load(uc_model **, const char *);
uc_status uc_model_load_memory(uc_model **, const void *, size_t, const char *);
uc_status uc_model_save_memory(void **, size_t *, const uc_model *);
uc_status uc_map_save_memory(void **, size_t *, const uc_map *);
uc_status uc_map_load_memory(uc_map **, const void *, size_t, const char *);
void uc_model_memory_free(void *);

/* learn.h */
typedef enum { UC_FEEDBACK_FULL, UC_FEEDBACK_PARTIAL, UC_FEEDBACK_MIXED } uc_feedback;
typedef struct uc_learner uc_learner;
const uc_learner *uc_learner_at(size_t);
const uc_learner *uc_learner_find(const char *);
const char *uc_learner_name(const uc_learner *);
const char *uc_learner_summary(const uc_learner *);
const char *uc_learner_paper(const uc_learner *);
const uc_option *uc_learner_options(const uc_learner *);
size_t uc_learner_settings_size(const uc_learner *);
bool uc_learner_is_online(const uc_learner *);
bool uc_learner_accepts(const uc_learner *, uc_feedback);
bool uc_learner_uses_noise(const uc_learner *);
bool uc_learner_uses_unlabelled(const uc_learner *);
bool uc_learner_uses_blas(const uc_learner *);
bool uc_learner_is_positive_unlabelled(const uc_learner *);
bool uc_learner_has_probabilities(const uc_learner *);
bool uc_learner_uses_rates(const uc_learner *);
typedef struct {
    uint64_t passes;
    int shuffle, scale, keep_state;
    uint64_t seed;
    uc_map_settings map;
    const uc_noise *noise;
    const char *positive;
    const double *class_weights;
    ...;
} uc_train_settings;
extern const uc_option uc_train_options[];
uc_train_settings uc_train_defaults(void);
typedef struct uc_online uc_online;
typedef struct { uint32_t label; double probability; uint32_t favourite; uint64_t ticket; } uc_proposal;
uc_status uc_online_begin(uc_online **, const uc_learner *, const void *, const uc_train_settings *,
                          const uc_names *, const uc_preprocessing *);
uc_status uc_online_resume(uc_online **, const uc_model *);
void uc_online_free(uc_online *);
const uc_learner *uc_online_learner(const uc_online *);
uint64_t uc_online_rounds(const uc_online *);
bool uc_online_has_map(const uc_online *);
uc_status uc_online_expect(uc_online *, size_t, double);
uc_status uc_online_add_class(uint32_t *, uc_online *, const char *);
uc_row uc_online_prepared(const uc_online *);
uc_status uc_online_model(uc_model **, const uc_online *, bool);

/* session.h */
typedef struct { double width; uc_preprocessing scaling; ...; } uc_first_look;
uc_status uc_first_look_at_data(uc_first_look *, const uc_dataset *, const uc_train_settings *, const uc_context *);
void uc_first_look_free(uc_first_look *);

/* select.h */
uc_status uc_tune_and_train(uc_model **, const uc_learner *, const void *, const uc_train_settings *, uc_dataset *,
                              const uc_context *);
#define UC_RUN_STRIDE ...
static const double UC_SIGNIFICANCE;
typedef struct { ...; } uc_label_noise;
uc_status uc_label_noise_parse(uc_label_noise *, const char *);
uc_status uc_label_noise_apply(uc_dataset *, uc_noise *, const uc_label_noise *, uint64_t, const uc_context *);
uc_status uc_experiment_draw(uc_dataset *, uc_dataset *, const uc_dataset *, double, uint64_t, const uc_context *);
uc_status uc_trial(double *, double *, uc_model **, const uc_learner *, const void *, const uc_train_settings *,
                   const uc_dataset *, const uc_dataset *, const uc_context *);
typedef struct { uint64_t seed; ...; } uc_noise_estimate_settings;
extern const uc_option uc_noise_estimate_options[];
typedef struct {
    const char *chosen;
    double wrong_full, wrong_symmetric, gain, gain_deviation, symmetric_gain, symmetric_gain_deviation;
} uc_noise_families;
typedef struct {
    uc_noise noise;
    double *low, *high;
    size_t *counts;
    size_t examples, skipped;
    uc_noise_families families;
} uc_noise_estimate;
void uc_noise_estimate_free(uc_noise_estimate *);
uc_status uc_noise_from_weighted_labels(uc_noise_estimate *, const uint32_t *, const uint32_t *, const double *, size_t,
                                        const uc_names *, const uc_noise_estimate_settings *, const uc_context *);
uc_status uc_noise_from_data(uc_noise_estimate *, const uc_dataset *, const uc_noise_estimate_settings *,
                             const uc_train_settings *, const uc_context *);
uc_status uc_noise_estimate_self(uc_noise *, const uc_dataset *, const uc_train_settings *, const uc_context *);
typedef enum { UC_RATES_BOTH, UC_RATES_POSITIVE_ONLY, UC_RATES_NEGATIVE_ONLY } uc_rates_free;
typedef struct { ...; } uc_rates_estimate;
typedef struct { ...; } uc_svm_settings;
uc_status uc_noise_rates_from_data(uc_noise *, uc_rates_estimate *, const uc_svm_settings *, const uc_train_settings *,
                                   const uc_dataset *, uint32_t, uc_rates_free, const uc_context *);

/* crowd.h, audit.h */
typedef struct { size_t count; uint32_t *annotator, *label; uc_names annotators; ...; } uc_crowd;
uc_status uc_crowd_from_arrays(uc_crowd *, const uint32_t *, const uint32_t *, const uint32_t *, size_t, size_t,
                               const uc_names *, const uc_names *, const uc_context *);
void uc_crowd_free(uc_crowd *);
typedef struct { size_t rows, classes, width; double *values; } uc_posteriors;
typedef struct { ...; } uc_consensus_settings;
extern const uc_option uc_consensus_options[];
typedef struct { size_t labels; double accuracy; double interval[2]; double information; } uc_annotator;
typedef struct { uc_posteriors posterior; double *prior; uint32_t *most_probable; uc_annotator *annotators;
                 double *pooled, log_likelihood; size_t iterations; ...; } uc_consensus;
uc_status uc_consensus_find(uc_consensus *, const uc_crowd *, const uint32_t *, const uc_posteriors *,
                            const uc_consensus_settings *, const uc_context *);
uc_status uc_consensus_matrix(double *, const uc_consensus *, const uc_crowd *, size_t);
void uc_consensus_free(uc_consensus *);
typedef struct { double estimate, low, high; ...; } uc_clean_error;
typedef struct { double width; ...; } uc_audit_settings;
uc_status uc_consensus_with_features(uc_consensus *, uc_model **, uc_clean_error *, const uc_dataset *, const uc_crowd *,
                                     const uint32_t *, const uc_audit_settings *, uint64_t, const uc_context *);
typedef struct { double estimate, low, high; } uc_share_estimate;
typedef struct { uint32_t row, annotation; double wrong; } uc_crowd_issue;
typedef struct { uint32_t given, truth; uc_share_estimate share; } uc_crowd_mistake;
typedef struct { uc_crowd_issue *issues; size_t count, flagged; uc_share_estimate wrong; uc_crowd_mistake *pairs;
                 size_t pair_count; } uc_crowd_issues;
uc_status uc_crowd_issues_find(uc_crowd_issues *, const uc_consensus *, const uc_crowd *, uint64_t, const uc_context *);
void uc_crowd_issues_free(uc_crowd_issues *);
typedef struct { double estimate, low, high; } uc_label_share;
typedef struct { size_t row; uint32_t given, suggested; double p_wrong; } uc_suspect;
typedef struct { uint32_t given, truth; uc_label_share share; } uc_class_pair;
typedef struct { uc_audit_settings learner; uint64_t bootstrap, seed; } uc_label_audit_settings;
typedef struct { size_t rows, labels; uc_label_share wrong; uc_suspect *suspects; size_t flagged; uc_class_pair *pairs;
                 size_t pair_count; uc_noise noise; uc_clean_error clean_error; double *posterior; const char *mode;
                 double loss; uc_model *model; ...; } uc_label_audit;
uc_status uc_label_audit_run(uc_label_audit *, const uc_dataset *, const uint32_t *, const uc_label_audit_settings *,
                             const uc_context *);
void uc_label_audit_free(uc_label_audit *);
size_t uc_flag_most(const double *, size_t, double);
typedef struct { double *wrong; uint32_t *most_probable; ...; } uc_probability_audit;
uc_status uc_probability_audit_matrix(uc_probability_audit *, const double *, size_t, size_t, const uint32_t *,
                                      const uc_context *);
void uc_probability_audit_free(uc_probability_audit *);

/* metrics.h */
void uc_metrics_ranks(double *, const double *, size_t);
typedef struct { double statistic, p_value, critical_difference; } uc_friedman;
uc_status uc_metrics_friedman(uc_friedman *, double *, const double *, size_t, size_t);

/* rows.h */
bool is_sound(const uc_matrix *, uint64_t);
uc_status score_rows(uint32_t *, double *, bool, const uc_model *, const uc_matrix *, uint64_t, const uc_context *);
size_t first_row_not_finite(const uc_matrix *);
uc_status run_rows(uint32_t *, uc_online *, const uc_matrix *, const uint32_t *, const double *, uint64_t, double,
                   const uc_context *);
/* session.h: of the rounds */
typedef struct { bool apprentice; double explore; bool expired_is_wrong; } uc_policy;
typedef struct { uint64_t proposals, expired, compared, agreed; } uc_event_counts;
uc_status propose_rows(uc_proposal *, uc_event_counts *, uc_online *, const uc_matrix *, const uc_policy *, const uint32_t *);
uc_status propose_row(uc_proposal *, uc_event_counts *, uc_online *, const uc_matrix *, size_t, const uc_policy *,
                      const uint32_t *);
uc_status learn_rows(uc_online *, uc_event_counts *, const uc_matrix *, const uc_proposal *, const bool *, const uc_policy *,
                     bool, const uc_context *);
typedef struct { uint64_t rounds, alarms, round; double before, after; ...; } uc_drift;
bool uc_drift_add(uc_drift *, bool);
size_t pick_labels(uint64_t *, const uint32_t *, size_t, const uint64_t *, size_t);
void copy_weights(double *, double *, const uc_model *);
"""


def make_ffi() -> cffi.FFI:
    """The module unconfuse._unconfuse, to be compiled."""
    ffi = cffi.FFI()
    ffi.cdef(DECLARATIONS)
    ffi.set_source("unconfuse._unconfuse", '#include "rows.h"', extra_compile_args=["-O3"])  # loops over values, by vectors
    return ffi
