/* The loops of sleek/kernels in C, each in a few natural forms: the fastest one is the roofline.
 *
 * Compiled twice by roofline.py, with -DREAL=double -DREAL_BITS=64 and with float and 32. Letters: X (n, d)
 * rows, C and S (m, d) centres and shapes, Z and G (n, m) distances and weights, all row-major; dC and dS are
 * the gradients by centres and shapes. m and d are at most MOST.
 */
#include <math.h>
#include <string.h>

#define MOST 64   /* units, features */
#define TILE 128  /* rows of a transposed tile: 28 features of doubles are 28 KB */

static inline REAL magnitude(REAL a) { return a < 0 ? -a : a; }

/* Rows start..start+TILE of A (n, k) as columns; rows beyond n are 0. */
static void transpose(const REAL *restrict A, long start, long n, long k, REAL T[restrict][TILE]) {
    long rows = n - start < TILE ? n - start : TILE;
    for (long i = 0; i < k; i++) {
        for (long r = 0; r < rows; r++) T[i][r] = A[(start + r) * k + i];
        for (long r = rows; r < TILE; r++) T[i][r] = 0;
    }
}

/* Tiles with features as rows; sums of a unit in the first-level cache. */
void absolute_distance_tiles(const REAL *restrict X, const REAL *restrict C, const REAL *restrict S,
                             REAL *restrict Z, long n, long m, long d) {
    static REAL T[MOST][TILE];
    for (long start = 0; start < n; start += TILE) {
        long rows = n - start < TILE ? n - start : TILE;
        transpose(X, start, n, d, T);
        for (long j = 0; j < m; j++) {
            REAL sum[TILE] = {0};
            for (long i = 0; i < d; i++) {
                REAL c = C[j * d + i], s = S[j * d + i];
                for (long r = 0; r < TILE; r++) sum[r] += s * magnitude(T[i][r] - c);
            }
            for (long r = 0; r < rows; r++) Z[(start + r) * m + j] = sum[r];
        }
    }
}

/* The same tiles, two units and two features at a time: everything is loaded half as often. */
void absolute_distance_pairs(const REAL *restrict X, const REAL *restrict C, const REAL *restrict S,
                             REAL *restrict Z, long n, long m, long d) {
    static REAL T[MOST][TILE];
    for (long start = 0; start < n; start += TILE) {
        long rows = n - start < TILE ? n - start : TILE;
        transpose(X, start, n, d, T);
        for (long j = 0; j < m; j += 2) {
            long k = j + 1 < m ? j + 1 : j; /* an odd last unit is done twice */
            const REAL *c = C + j * d, *s = S + j * d, *e = C + k * d, *t = S + k * d;
            REAL one[TILE] = {0}, two[TILE] = {0};
            long i = 0;
            for (; i + 2 <= d; i += 2) {
                REAL c0 = c[i], c1 = c[i + 1], s0 = s[i], s1 = s[i + 1];
                REAL e0 = e[i], e1 = e[i + 1], t0 = t[i], t1 = t[i + 1];
                for (long r = 0; r < TILE; r++) {
                    REAL x = T[i][r], y = T[i + 1][r];
                    one[r] += s0 * magnitude(x - c0) + s1 * magnitude(y - c1);
                    two[r] += t0 * magnitude(x - e0) + t1 * magnitude(y - e1);
                }
            }
            for (; i < d; i++)
                for (long r = 0; r < TILE; r++) {
                    one[r] += s[i] * magnitude(T[i][r] - c[i]);
                    two[r] += t[i] * magnitude(T[i][r] - e[i]);
                }
            for (long r = 0; r < rows; r++) {
                Z[(start + r) * m + j] = one[r];
                Z[(start + r) * m + k] = two[r];
            }
        }
    }
}

/* The same tiles in strips of rows whose sums stay in registers, written with the compiler's vector types:
 * left to itself it unrolls such short loops instead of vectorising them. */
typedef REAL vector __attribute__((vector_size(32)));
#define WIDE ((long)(sizeof(vector) / sizeof(REAL)))
#if REAL_BITS == 64
typedef long long integers __attribute__((vector_size(32)));
#define SIGN_OFF 0x7fffffffffffffffLL
#else
typedef int integers __attribute__((vector_size(32)));
#define SIGN_OFF 0x7fffffff
#endif
static inline vector magnitudes(vector a) { return (vector)((integers)a & SIGN_OFF); }

void absolute_distance_registers(const REAL *restrict X, const REAL *restrict C, const REAL *restrict S,
                                 REAL *restrict Z, long n, long m, long d) {
    static REAL T[MOST][TILE] __attribute__((aligned(64)));
    for (long start = 0; start < n; start += TILE) {
        long rows = n - start < TILE ? n - start : TILE;
        transpose(X, start, n, d, T);
        for (long j = 0; j < m; j++) {
            REAL sum[TILE] __attribute__((aligned(64)));
            for (long strip = 0; strip < TILE; strip += 8 * WIDE) {
                vector a[8] = {{0}};
                for (long i = 0; i < d; i++) {
                    const vector *x = (const vector *)(T[i] + strip);
                    REAL c = C[j * d + i], s = S[j * d + i];
                    for (int k = 0; k < 8; k++) a[k] += s * magnitudes(x[k] - c);
                }
                for (int k = 0; k < 8; k++) *(vector *)(sum + strip + k * WIDE) = a[k];
            }
            for (long r = 0; r < rows; r++) Z[(start + r) * m + j] = sum[r];
        }
    }
}

/* Rows, units, features: the loop as one would write it down first, vectorised over the features. */
void absolute_distance_plain(const REAL *restrict X, const REAL *restrict C, const REAL *restrict S,
                             REAL *restrict Z, long n, long m, long d) {
    for (long r = 0; r < n; r++)
        for (long j = 0; j < m; j++) {
            REAL sum = 0;
            for (long i = 0; i < d; i++) sum += S[j * d + i] * magnitude(X[r * d + i] - C[j * d + i]);
            Z[r * m + j] = sum;
        }
}

/* g·sign(a), and 0 where a is 0. */
static inline REAL signed_by(REAL g, REAL a) { return (a > 0 ? g : 0) - (a < 0 ? g : 0); }

static void finish(const REAL *restrict S, REAL *restrict dC, long m, long d) {
    for (long k = 0; k < m * d; k++) dC[k] *= -S[k];
}

/* Tiles of rows and of weights, transposed: a sum over the rows of a tile for every unit and feature. */
void absolute_distance_vjp_tiles(const REAL *restrict X, const REAL *restrict C, const REAL *restrict S,
                                 const REAL *restrict G, REAL *restrict dC, REAL *restrict dS, long n, long m,
                                 long d) {
    static REAL T[MOST][TILE], W[MOST][TILE];
    memset(dC, 0, m * d * sizeof(REAL));
    memset(dS, 0, m * d * sizeof(REAL));
    for (long start = 0; start < n; start += TILE) {
        transpose(X, start, n, d, T);
        transpose(G, start, n, m, W);
        for (long j = 0; j < m; j++)
            for (long i = 0; i < d; i++) {
                REAL c = C[j * d + i], centre = 0, shape = 0;
                for (long r = 0; r < TILE; r++) {
                    REAL a = T[i][r] - c, g = signed_by(W[j][r], a);
                    centre += g;
                    shape += g * a;
                }
                dC[j * d + i] += centre;
                dS[j * d + i] += shape;
            }
    }
    finish(S, dC, m, d);
}

/* The same, two features of a unit at once, so that weights are read half as often. */
void absolute_distance_vjp_pairs(const REAL *restrict X, const REAL *restrict C, const REAL *restrict S,
                                 const REAL *restrict G, REAL *restrict dC, REAL *restrict dS, long n, long m,
                                 long d) {
    static REAL T[MOST][TILE], W[MOST][TILE];
    memset(dC, 0, m * d * sizeof(REAL));
    memset(dS, 0, m * d * sizeof(REAL));
    for (long start = 0; start < n; start += TILE) {
        transpose(X, start, n, d, T);
        transpose(G, start, n, m, W);
        for (long j = 0; j < m; j++)
            for (long i = 0; i < d; i += 2) {
                long k = i + 1 < d ? i + 1 : i;
                REAL c = C[j * d + i], c2 = C[j * d + k], centre = 0, shape = 0, centre2 = 0, shape2 = 0;
                for (long r = 0; r < TILE; r++) {
                    REAL w = W[j][r], a = T[i][r] - c, a2 = T[k][r] - c2;
                    REAL g = signed_by(w, a), g2 = signed_by(w, a2);
                    centre += g;
                    shape += g * a;
                    centre2 += g2;
                    shape2 += g2 * a2;
                }
                dC[j * d + i] += centre;
                dS[j * d + i] += shape;
                if (k != i) {
                    dC[j * d + k] += centre2;
                    dS[j * d + k] += shape2;
                }
            }
    }
    finish(S, dC, m, d);
}

/* The same, two units at once, so that rows are read half as often. */
void absolute_distance_vjp_units(const REAL *restrict X, const REAL *restrict C, const REAL *restrict S,
                                 const REAL *restrict G, REAL *restrict dC, REAL *restrict dS, long n, long m,
                                 long d) {
    static REAL T[MOST][TILE], W[MOST][TILE];
    memset(dC, 0, m * d * sizeof(REAL));
    memset(dS, 0, m * d * sizeof(REAL));
    for (long start = 0; start < n; start += TILE) {
        transpose(X, start, n, d, T);
        transpose(G, start, n, m, W);
        for (long j = 0; j < m; j += 2) {
            long k = j + 1 < m ? j + 1 : j;
            for (long i = 0; i < d; i++) {
                REAL c = C[j * d + i], c2 = C[k * d + i], centre = 0, shape = 0, centre2 = 0, shape2 = 0;
                for (long r = 0; r < TILE; r++) {
                    REAL a = T[i][r] - c, a2 = T[i][r] - c2;
                    REAL g = signed_by(W[j][r], a), g2 = signed_by(W[k][r], a2);
                    centre += g;
                    shape += g * a;
                    centre2 += g2;
                    shape2 += g2 * a2;
                }
                dC[j * d + i] += centre;
                dS[j * d + i] += shape;
                if (k != j) {
                    dC[k * d + i] += centre2;
                    dS[k * d + i] += shape2;
                }
            }
        }
    }
    finish(S, dC, m, d);
}

/* Rows, units, features: vectorised over the features, sums in the first-level cache. */
void absolute_distance_vjp_plain(const REAL *restrict X, const REAL *restrict C, const REAL *restrict S,
                                 const REAL *restrict G, REAL *restrict dC, REAL *restrict dS, long n, long m,
                                 long d) {
    memset(dC, 0, m * d * sizeof(REAL));
    memset(dS, 0, m * d * sizeof(REAL));
    for (long r = 0; r < n; r++)
        for (long j = 0; j < m; j++) {
            REAL w = G[r * m + j];
            for (long i = 0; i < d; i++) {
                REAL a = X[r * d + i] - C[j * d + i], g = signed_by(w, a);
                dC[j * d + i] += g;
                dS[j * d + i] += g * a;
            }
        }
    finish(S, dC, m, d);
}

/* exp and tanh of n numbers. */
void all_exp(const REAL *restrict A, REAL *restrict B, long n) {
    for (long k = 0; k < n; k++) B[k] = REAL_BITS == 64 ? exp(A[k]) : expf(A[k]);
}

void all_tanh(const REAL *restrict A, REAL *restrict B, long n) {
    for (long k = 0; k < n; k++) B[k] = REAL_BITS == 64 ? tanh(A[k]) : tanhf(A[k]);
}

/* -s·(t - Φθ - b)·θ for one output: Phi (n, m), T and s (n), theta (m), b (1), result D (n, m). */
void output_gradient_plain(const REAL *restrict Phi, const REAL *restrict T, const REAL *restrict s,
                           const REAL *restrict theta, const REAL *restrict b, REAL *restrict D, long n,
                           long m) {
    for (long r = 0; r < n; r++) {
        REAL error = b[0] - T[r];
        for (long j = 0; j < m; j++) error += Phi[r * m + j] * theta[j];
        error *= s[r];
        for (long j = 0; j < m; j++) D[r * m + j] = error * theta[j];
    }
}

static inline REAL lesser(REAL a, REAL b) { return a < b ? a : b; }
static inline REAL larger(REAL a, REAL b) { return a > b ? a : b; }

/* Of every column of X (n, d) with weights s (n): mean, Σ s·(x - mean)², least, largest; and Σ s. Sums are
 * doubles, as in the compiled kernel. Four rows at a time, so that they are read and written a quarter as often. */
void column_moments_rows(const REAL *restrict X, const REAL *restrict s, double *restrict weight,
                         double *restrict mean, double *restrict squares, REAL *restrict low,
                         REAL *restrict high, long n, long d) {
    double total = 0, sum[MOST] = {0}, square[MOST] = {0};
    REAL least[MOST], most[MOST];
    for (long i = 0; i < d; i++) least[i] = most[i] = X[i];
    long r = 0;
    for (; r + 4 <= n; r += 4) {
        const REAL *x = X + r * d, *y = x + d, *u = y + d, *v = u + d, *w = s + r;
        total += w[0] + w[1] + w[2] + w[3];
        for (long i = 0; i < d; i++) {
            sum[i] += (double)(w[0] * x[i]) + (double)(w[1] * y[i]) + (double)(w[2] * u[i]) + (double)(w[3] * v[i]);
            least[i] = lesser(least[i], lesser(lesser(x[i], y[i]), lesser(u[i], v[i])));
            most[i] = larger(most[i], larger(larger(x[i], y[i]), larger(u[i], v[i])));
        }
    }
    for (; r < n; r++) {
        const REAL *x = X + r * d;
        total += s[r];
        for (long i = 0; i < d; i++) {
            sum[i] += s[r] * x[i];
            least[i] = lesser(least[i], x[i]);
            most[i] = larger(most[i], x[i]);
        }
    }
    for (long i = 0; i < d; i++) sum[i] /= total;
    for (r = 0; r + 4 <= n; r += 4) {
        const REAL *x = X + r * d, *y = x + d, *u = y + d, *v = u + d, *w = s + r;
        for (long i = 0; i < d; i++) {
            double c = sum[i], x0 = x[i] - c, y0 = y[i] - c, u0 = u[i] - c, v0 = v[i] - c;
            square[i] += w[0] * x0 * x0 + w[1] * y0 * y0 + w[2] * u0 * u0 + w[3] * v0 * v0;
        }
    }
    for (; r < n; r++)
        for (long i = 0; i < d; i++) square[i] += s[r] * (X[r * d + i] - sum[i]) * (X[r * d + i] - sum[i]);
    *weight = total;
    memcpy(mean, sum, d * sizeof(double));
    memcpy(squares, square, d * sizeof(double));
    memcpy(low, least, d * sizeof(REAL));
    memcpy(high, most, d * sizeof(REAL));
}
