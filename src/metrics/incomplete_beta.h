/* The function behind the t-test and the F-test. */
#ifndef UC_METRICS_INCOMPLETE_BETA_H
#define UC_METRICS_INCOMPLETE_BETA_H

/* I_x(a, b); `rest` is 1 - x, passed separately because it may be too small to be computed from x. */
double uc_incomplete_beta(double a, double b, double x, double rest);

#endif
