#include "map/map.h"
#include <math.h>
const uc_option uc_map_options[] = {{0}};
uc_map_settings uc_map_defaults(void){ return (uc_map_settings){.gamma=NAN}; }
uc_status uc_map_fit(uc_map **o,const uc_map_settings*s,const uc_matrix*X,uint64_t d,const uc_context*c){(void)o;(void)s;(void)X;(void)d;(void)c;return UC_ERR_INVALID;}
void uc_map_free(uc_map*m){(void)m;}
uc_status uc_map_copy(uc_map**o,const uc_map*s){(void)o;(void)s;return UC_ERR_INVALID;}
size_t uc_map_dimension(const uc_map*s){return s->dimension;}
uc_status uc_map_apply(uc_matrix*o,const uc_map*s,const uc_matrix*X,const uc_context*c){(void)o;(void)s;(void)X;(void)c;return UC_ERR_INVALID;}
size_t uc_map_row_work(const uc_map*s){(void)s;return 0;}
void uc_map_row(float*o,const uc_map*s,uc_row r,double*w){(void)o;(void)s;(void)r;(void)w;}
void uc_multiply(double *C, const double *A, const double *B, size_t m, size_t k, size_t n);
void uc_multiply(double *C, const double *A, const double *B, size_t m, size_t k, size_t n){ for(size_t i=0;i<m;i++)for(size_t j=0;j<n;j++){double s=0;for(size_t l=0;l<k;l++)s+=A[i*k+l]*B[l*n+j];C[i*n+j]=s;}}
