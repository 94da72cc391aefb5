/* unconfuse: classifiers from labels that cannot be trusted. This header includes all others. */
#ifndef UNCONFUSE_H
#define UNCONFUSE_H

#include "unconfuse/audit.h"
#include "unconfuse/check.h"
#include "unconfuse/clean_error.h"
#include "unconfuse/comm.h"
#include "unconfuse/context.h"
#include "unconfuse/cpu.h"
#include "unconfuse/crowd.h"
#include "unconfuse/dataset.h"
#include "unconfuse/learn.h"
#include "unconfuse/map.h"
#include "unconfuse/matrix.h"
#include "unconfuse/metrics.h"
#include "unconfuse/model.h"
#include "unconfuse/names.h"
#include "unconfuse/noise.h"
#include "unconfuse/option.h"
#include "unconfuse/output.h"
#include "unconfuse/prepare.h"
#include "unconfuse/program.h"
#include "unconfuse/random.h"
#include "unconfuse/select.h"
#include "unconfuse/session.h"
#include "unconfuse/status.h"
#include "unconfuse/table.h"
#include "unconfuse/train.h"
#include "unconfuse/version.h"

#endif
