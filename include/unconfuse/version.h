/* The version of the headers; uc_version() returns the version of the library at run time. */
#ifndef UNCONFUSE_VERSION_H
#define UNCONFUSE_VERSION_H

#define UC_VERSION_MAJOR 0
#define UC_VERSION_MINOR 1
#define UC_VERSION_PATCH 0
#define UC_VERSION "0.1.0"

#endif
