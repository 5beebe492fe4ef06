/* SPDX-License-Identifier: GPL-3.0-or-later */
/* presets.c - the shapes of published language models, with the parameter counts that their authors
 * print. config.json means that of the model's repository on huggingface.co. */
#include <config.h>
#include <string.h>
#include "workloads/transformer/transformer.h"

/* Brown et al., arXiv 2005.14165, Table 2.1: learned positions, biases, tied output. */
#define GPT3(NAME, L, H, A, D, PARAMETERS, TOLERANCE)                                              \
    {                                                                                              \
        {.name = NAME,                                                                             \
         .layers = L,                                                                              \
         .hidden = H,                                                                              \
         .heads = A,                                                                               \
         .kv_heads = A,                                                                            \
         .head_dim = D,                                                                            \
         .ffn = 4 * (H),                                                                           \
         .vocab = 50257,                                                                           \
         .tied = true,                                                                             \
         .norm_size = 2,                                                                           \
         .positions = 2048,                                                                        \
         .bias = TH_BIAS_ALL},                                                                     \
            PARAMETERS, TOLERANCE, "arXiv 2005.14165, Table 2.1"                                   \
    }
/* RMS norm, gated, no bias, own output layer. */
#define LLAMA(NAME, L, H, A, KV, FFN, V, PARAMETERS, SOURCE)                                       \
    {                                                                                              \
        {.name = NAME,                                                                             \
         .layers = L,                                                                              \
         .hidden = H,                                                                              \
         .heads = A,                                                                               \
         .kv_heads = KV,                                                                           \
         .head_dim = (H) / (A),                                                                    \
         .ffn = FFN,                                                                               \
         .vocab = V,                                                                               \
         .gated = true,                                                                            \
         .norm_size = 1},                                                                          \
            PARAMETERS, 0, SOURCE                                                                  \
    }
/* Norms without bias, no other bias, tied output, ALiBi: llm-foundry, scripts/train/yamls. */
#define MPT(NAME, L, H, A, PARAMETERS, TOLERANCE)                                                  \
    {                                                                                              \
        {.name = NAME,                                                                             \
         .layers = L,                                                                              \
         .hidden = H,                                                                              \
         .heads = A,                                                                               \
         .kv_heads = A,                                                                            \
         .head_dim = (H) / (A),                                                                    \
         .ffn = 4 * (H),                                                                           \
         .vocab = 50368,                                                                           \
         .tied = true,                                                                             \
         .norm_size = 1},                                                                          \
            PARAMETERS, TOLERANCE, "mosaicml/llm-foundry, scripts/train/yamls/pretrain"            \
    }
#define OPT(NAME, L, H, A, PARAMETERS, TOLERANCE)                                                  \
    {                                                                                              \
        {.name = NAME,                                                                             \
         .layers = L,                                                                              \
         .hidden = H,                                                                              \
         .heads = A,                                                                               \
         .kv_heads = A,                                                                            \
         .head_dim = (H) / (A),                                                                    \
         .ffn = 4 * (H),                                                                           \
         .vocab = 50272,                                                                           \
         .tied = true,                                                                             \
         .norm_size = 2,                                                                           \
         .positions = 2050,                                                                        \
         .bias = TH_BIAS_ALL},                                                                     \
            PARAMETERS, TOLERANCE, "arXiv 2205.01068, Table 1"                                     \
    }
/* other: embeddings of two segments, norm of the embeddings and pooler instead of a last norm. */
#define BERT(NAME, L, H, A, PARAMETERS)                                                            \
    {                                                                                              \
        {.name = NAME,                                                                             \
         .layers = L,                                                                              \
         .hidden = H,                                                                              \
         .heads = A,                                                                               \
         .kv_heads = A,                                                                            \
         .head_dim = (H) / (A),                                                                    \
         .ffn = 4 * (H),                                                                           \
         .vocab = 30522,                                                                           \
         .tied = true,                                                                             \
         .is_encoder = true,                                                                       \
         .norm_size = 2,                                                                           \
         .positions = 512,                                                                         \
         .bias = TH_BIAS_ALL,                                                                      \
         .other = 2 * (H) + (H) * (H) + (H)},                                                      \
            PARAMETERS, 0, "config.json and weights; arXiv 1810.04805: 110M, 340M"                 \
    }
#define QWEN2(NAME, L, H, A, KV, FFN, V, PARAMETERS)                                               \
    {                                                                                              \
        {.name = NAME,                                                                             \
         .layers = L,                                                                              \
         .hidden = H,                                                                              \
         .heads = A,                                                                               \
         .kv_heads = KV,                                                                           \
         .head_dim = (H) / (A),                                                                    \
         .ffn = FFN,                                                                               \
         .vocab = V,                                                                               \
         .gated = true,                                                                            \
         .norm_size = 1,                                                                           \
         .bias = TH_BIAS_QKV},                                                                     \
            PARAMETERS, 0, "config.json and weights"                                               \
    }
#define NEMOTRON4(NAME, L, H, A, KV, D, FFN, PARAMETERS, TOLERANCE, SOURCE)                        \
    {                                                                                              \
        {.name = NAME,                                                                             \
         .layers = L,                                                                              \
         .hidden = H,                                                                              \
         .heads = A,                                                                               \
         .kv_heads = KV,                                                                           \
         .head_dim = D,                                                                            \
         .ffn = FFN,                                                                               \
         .vocab = 256000,                                                                          \
         .norm_size = 2},                                                                          \
            PARAMETERS, TOLERANCE, SOURCE                                                          \
    }

const th_transformer_preset th_transformer_presets[] = {
    GPT3("gpt3_small", 12, 768, 12, 64, 125000000, 0.01),
    GPT3("gpt3_medium", 24, 1024, 16, 64, 350000000, 0.02),
    GPT3("gpt3_large", 24, 1536, 16, 96, 760000000, 0.01),
    GPT3("gpt3_xl", 24, 2048, 16, 128, 1300000000, 0.02),
    GPT3("gpt3_2.7b", 32, 2560, 32, 80, 2700000000, 0.02),
    GPT3("gpt3_6.7b", 32, 4096, 32, 128, 6700000000, 0.01),
    GPT3("gpt3_13b", 40, 5120, 40, 128, 13000000000, 0.02),
    GPT3("gpt3_175b", 96, 12288, 96, 128, 175000000000, 0.006),
    LLAMA("llama2_7b", 32, 4096, 32, 32, 11008, 32000, 6738415616, "config.json and weights"),
    LLAMA("llama2_13b", 40, 5120, 40, 40, 13824, 32000, 13015864320, "config.json and weights"),
    LLAMA("llama2_70b", 80, 8192, 64, 8, 28672, 32000, 68976648192, "config.json and weights"),
    LLAMA("llama3_8b", 32, 4096, 32, 8, 14336, 128256, 8030261248, "config.json and weights"),
    LLAMA("llama3_70b", 80, 8192, 64, 8, 28672, 128256, 70553706496, "config.json and weights"),
    LLAMA("llama3_405b", 126, 16384, 128, 8, 53248, 128256, 405853388800,
          "config.json and weights; arXiv 2407.21783"),
    LLAMA("mistral_7b", 32, 4096, 32, 8, 14336, 32000, 7241732096, "config.json and weights"),
    {{.name = "mixtral_8x7b",
      .layers = 32,
      .hidden = 4096,
      .heads = 32,
      .kv_heads = 8,
      .head_dim = 128,
      .vocab = 32000,
      .gated = true,
      .norm_size = 1,
      .experts = {.n = 8, .top_k = 2, .ffn = 14336}},
     46702792704,
     0,
     "config.json and weights"},
    {{.name = "mixtral_8x22b",
      .layers = 56,
      .hidden = 6144,
      .heads = 48,
      .kv_heads = 8,
      .head_dim = 128,
      .vocab = 32768,
      .gated = true,
      .norm_size = 1,
      .experts = {.n = 8, .top_k = 2, .ffn = 16384}},
     141000000000,
     0.004,
     "config.json; 141B"},
    QWEN2("qwen2_7b", 28, 3584, 28, 4, 18944, 152064, 7615616512),
    QWEN2("qwen2_72b", 80, 8192, 64, 8, 29568, 152064, 72706203648),
    {{.name = "qwen3_8b",
      .layers = 36,
      .hidden = 4096,
      .heads = 32,
      .kv_heads = 8,
      .head_dim = 128,
      .ffn = 12288,
      .vocab = 151936,
      .gated = true,
      .has_qk_norm = true,
      .norm_size = 1},
     8190735360,
     0,
     "config.json and weights"},
    {{.name = "qwen3_30b_a3b",
      .layers = 48,
      .hidden = 2048,
      .heads = 32,
      .kv_heads = 4,
      .head_dim = 128,
      .vocab = 151936,
      .gated = true,
      .has_qk_norm = true,
      .norm_size = 1,
      .experts = {.n = 128, .top_k = 8, .ffn = 768}},
     30532122624,
     0,
     "config.json and weights"},
    {{.name = "qwen3_235b_a22b",
      .layers = 94,
      .hidden = 4096,
      .heads = 64,
      .kv_heads = 4,
      .head_dim = 128,
      .vocab = 151936,
      .gated = true,
      .has_qk_norm = true,
      .norm_size = 1,
      .experts = {.n = 128, .top_k = 8, .ffn = 1536}},
     235093634560,
     0,
     "config.json and weights"},
    /* Without the layer that predicts a second token. */
    {{.name = "deepseek_v3",
      .layers = 61,
      .hidden = 7168,
      .heads = 128,
      .kv_heads = 128,
      .head_dim = 128,
      .ffn = 18432,
      .vocab = 129280,
      .gated = true,
      .norm_size = 1,
      .latent = {.q_rank = 1536, .kv_rank = 512, .rope_dim = 64, .value_dim = 128},
      .experts = {.n = 256, .top_k = 8, .ffn = 2048, .shared_ffn = 2048, .dense_layers = 3}},
     671000000000,
     0.001,
     "arXiv 2412.19437, section 4.2; config.json"},
    NEMOTRON4("nemotron4_15b", 32, 6144, 48, 8, 128, 24576, 15600000000, 0.01,
              "arXiv 2402.16819, Table 1: 3.2B embedding, 12.5B other parameters"),
    NEMOTRON4("nemotron4_340b", 96, 18432, 96, 8, 192, 73728, 340700000000, 0.005,
              "arXiv 2406.11704, Table 1: 9.4B embedding, 331.6B other parameters"),
    {{.name = "grok_1",
      .layers = 64,
      .hidden = 6144,
      .heads = 48,
      .kv_heads = 8,
      .head_dim = 128,
      .vocab = 131072,
      .gated = true,
      .tied = true,
      .norm_size = 2,
      .experts = {.n = 8, .top_k = 2, .ffn = 32768}},
     314000000000,
     0.01,
     "github.com/xai-org/grok-1: 314B"},
    MPT("mpt_125m", 12, 768, 12, 125000000, 0.02),
    MPT("mpt_350m", 24, 1024, 16, 350000000, 0.02),
    MPT("mpt_760m", 24, 1536, 12, 760000000, 0.01),
    MPT("mpt_1b", 24, 2048, 16, 1300000000, 0.02),
    MPT("mpt_3b", 32, 2560, 20, 2700000000, 0.03),
    MPT("mpt_7b", 32, 4096, 32, 6700000000, 0.01),
    MPT("mpt_13b", 40, 5120, 40, 13000000000, 0.03),
    MPT("mpt_30b", 48, 7168, 56, 30000000000, 0.002),
    MPT("mpt_70b", 80, 8192, 64, 70000000000, 0.08),
    OPT("opt_125m", 12, 768, 12, 125000000, 0.01),
    OPT("opt_1.3b", 24, 2048, 32, 1300000000, 0.02),
    OPT("opt_6.7b", 32, 4096, 32, 6700000000, 0.01),
    OPT("opt_13b", 40, 5120, 40, 13000000000, 0.02),
    OPT("opt_30b", 48, 7168, 56, 30000000000, 0.002),
    OPT("opt_66b", 64, 9216, 72, 66000000000, 0.01),
    OPT("opt_175b", 96, 12288, 96, 175000000000, 0.006),
    BERT("bert_base", 12, 768, 12, 109482240),
    BERT("bert_large", 24, 1024, 16, 335141888),
    {{.name = NULL}, 0, 0, NULL},
};
