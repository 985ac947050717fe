/* What nbody.py does, written by hand: nbody STEPS */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N 5

static double energy(const double *p, const double *v, const double *m) {
    double total = 0.0;
    for (int i = 0; i < N; i++) {
        double x = v[3 * i], y = v[3 * i + 1], z = v[3 * i + 2];
        total += 0.5 * m[i] * (x * x + y * y + z * z);
        for (int j = i + 1; j < N; j++) {
            x = p[3 * i] - p[3 * j];
            y = p[3 * i + 1] - p[3 * j + 1];
            z = p[3 * i + 2] - p[3 * j + 2];
            total -= m[i] * m[j] / sqrt(x * x + y * y + z * z);
        }
    }
    return total;
}

static void advance(double *p, double *v, const double *m, double step, long steps) {
    for (long turn = 0; turn < steps; turn++) {
        for (int i = 0; i < N; i++) {
            for (int j = i + 1; j < N; j++) {
                const double x = p[3 * i] - p[3 * j];
                const double y = p[3 * i + 1] - p[3 * j + 1];
                const double z = p[3 * i + 2] - p[3 * j + 2];
                const double square = x * x + y * y + z * z;
                const double pull = step / (square * sqrt(square));
                v[3 * i] -= x * m[j] * pull;
                v[3 * i + 1] -= y * m[j] * pull;
                v[3 * i + 2] -= z * m[j] * pull;
                v[3 * j] += x * m[i] * pull;
                v[3 * j + 1] += y * m[i] * pull;
                v[3 * j + 2] += z * m[i] * pull;
            }
        }
        for (int i = 0; i < 3 * N; i++) p[i] += step * v[i];
    }
}

int main(int argc, char **argv) {
    double p[] = {0.0, 0.0, 0.0, 4.8, -1.2, -0.1, 8.3, 4.1, -0.4, 12.9, -15.1, -0.2, 15.4, -25.9, 0.2};
    double v[] = {0.0, 0.0, 0.0, 0.6, 2.8, -0.02, -1.0, 1.8, 0.01, 1.1, 0.9, -0.01, 1.0, 0.6, -0.03};
    const double m[] = {39.5, 0.037, 0.011, 0.0017, 0.002};
    if (argc != 2) return 2;
    printf("%.9f\n", energy(p, v, m));
    advance(p, v, m, 0.01, atol(argv[1]));
    printf("%.9f\n", energy(p, v, m));
}
