/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mlp.h - a multi-layer perceptron: standardised inputs, hidden layers of rectified linear units,
 * one output.
 *   th_mlp_train -> th_mlp_run ... -> th_mlp_clear
 * Trained by Adam (Kingma, Ba, ICLR 2015) on the pseudo-Huber error, as the trees are (boost.h). */
#ifndef TH_PREDICTOR_REGRESS_MLP_H
#define TH_PREDICTOR_REGRESS_MLP_H
#include <stddef.h>
#include <stdint.h>

enum { TH_MLP_LAYERS_MAX = 6, TH_MLP_WIDTH_MAX = 256 };

typedef struct th_mlp {
    int n_layers;                     /* of weights; 0: there is none, and it answers 0 */
    int size[TH_MLP_LAYERS_MAX + 1];  /* inputs, hidden ..., 1 */
    float *mean, *scale;              /* of the inputs: (x - mean) * scale, within LIMIT of 0 */
    float *weight[TH_MLP_LAYERS_MAX]; /* by input and output of the layer */
    float *bias[TH_MLP_LAYERS_MAX];
} th_mlp;

typedef struct th_mlp_options {
    int hidden[TH_MLP_LAYERS_MAX]; /* sizes; 0 ends them */
    int steps, batch;              /* steps of a batch each, whatever the number of rows */
    double learning_rate;          /* at the beginning; it falls to 0 along half a cosine */
    double huber_slope;            /* of the pseudo-Huber error */
    uint64_t seed;
} th_mlp_options;

/* The loss of a prediction with this error, and its derivative. */
double th_mlp_loss(double residual, double huber_slope, double *derivative);

/* 0, or -1: memory is out. */
int th_mlp_init(th_mlp *m, const int *sizes, int n_layers);
void th_mlp_clear(th_mlp *m);
/* Of n rows of n_features. Single-threaded; the same for the same seed. 0, or -1: memory is out. */
int th_mlp_train(const float *x, const float *y, size_t n, int n_features, const th_mlp_options *o,
                 th_mlp *out);
/* The inputs as the first layer takes them, into out[size[0]]. */
void th_mlp_standardise(const th_mlp *m, const float *x, float *out);
double th_mlp_run(const th_mlp *m, const float *x);

#endif
