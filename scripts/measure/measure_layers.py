# SPDX-License-Identifier: GPL-3.0-or-later
"""measure_layers.py - the layers that measure_gpu.py times: drawn at random or read from a file of format tharsis.

A layer is a dictionary of the format's numbers and words. Where members are unequal, "members" lists the rows of each
product (the experts of a mixture) or the keys of each sequence; batch is their number and rows or keys their mean.
"""
import csv
import math
import random

KINDS = ("conv", "pooling", "dense", "matmul", "elementwise", "norm", "softmax", "rms_norm", "cross_entropy", "router",
         "attention")
ROUTED = 8  # experts that a router takes of each row, at most
GROUPED_WIDTH = {"bf16": 8, "fp8": 16}  # widths of products with unequal members are multiples of it: 16 bytes
WEIGHTED = ("conv", "dense")
PHASES = ("call", "pre", "execution", "post", "forward", "backward", "update", "step")
TRAINING = ("forward", "backward", "update", "step")
FUNCTIONS = ("add", "mul", "div", "pow", "add_number", "mul_number", "div_number", "pow_number",
             "relu", "gelu", "tanh", "add_three", "silu_gate", "rotary", "embedding", "permute", "quantize",
             "dequantize", "adam", "sgd")
PRECISIONS = ("fp32", "tf32", "fp16", "bf16", "fp8", "fp4")
BLOCKED = {"fp8": 16, "fp4": 32}  # widths of products are multiples of it
ACTIVATIONS = ("none", "relu", "tanh", "sigmoid")
# Of format tharsis; below them what is worth keeping about a measurement, which read_measurements passes over.
NUMBERS = ("batch", "rows", "in_h", "in_w", "channels_in", "channels_out", "kernel_h", "kernel_w",
           "stride_h", "stride_w", "pad_h", "pad_w", "bias")
OPERATOR_NUMBERS = ("heads", "kv_heads", "keys", "causal", "window", "unsplit")
FIELDS = NUMBERS + ("activation", "function", "optimizer")
REMARKS = ("spread_percent", "runs", "copy_ms", "launch_ms", "sm_clock_MHz", "temperature_C")
COLUMNS = ("row_id", "kind", "device", "phase") + FIELDS + ("time_ms", "precision") + OPERATOR_NUMBERS + \
    ("members",) + REMARKS
NEEDED = {
    "conv": ("batch", "in_h", "in_w", "channels_in", "channels_out", "kernel_h", "kernel_w", "stride_h", "stride_w"),
    "pooling": ("batch", "in_h", "in_w", "channels_in", "kernel_h", "kernel_w", "stride_h", "stride_w"),
    "dense": ("batch", "channels_in", "channels_out"),
    "matmul": ("batch", "rows", "channels_in", "channels_out"),
    "elementwise": ("batch", "channels_in"),
    "norm": ("batch", "channels_in"),
    "softmax": ("batch", "channels_in"),
    "rms_norm": ("batch", "channels_in"),
    "cross_entropy": ("batch", "channels_in"),
    "router": ("batch", "channels_in"),
    "attention": ("batch", "rows", "channels_in", "channels_out", "heads", "kv_heads", "keys"),
}


class Problem(Exception):
    """What the user is told in one line."""


# ---- layers ----

def log_uniform(rng, least, most):
    """A whole number, as likely between 1 and 10 as between 100 and 1000."""
    return min(most, int(math.exp(rng.uniform(math.log(least), math.log(most + 1)))))


def random_plane(rng, kernel_most):
    size = log_uniform(rng, 1, 512)
    kernel = min(rng.randint(1, kernel_most), size)
    pad = rng.choice((0, kernel // 2))
    stride = rng.choice((1, 1, 1, 2, 2, 3, 4))
    return {"in_h": size, "in_w": size, "kernel_h": kernel, "kernel_w": kernel, "stride_h": stride, "stride_w": stride,
            "pad_h": 2 * pad, "pad_w": 2 * pad}


def random_layer(rng, kind):
    """Sizes as networks have them, each magnitude equally often."""
    if kind == "conv":
        return {"batch": log_uniform(rng, 1, 64), "channels_in": log_uniform(rng, 1, 2048),
                "channels_out": log_uniform(rng, 1, 2048), **random_plane(rng, 7), "bias": rng.randint(0, 1),
                "activation": rng.choice(ACTIVATIONS)}
    if kind == "pooling":
        return {"batch": log_uniform(rng, 1, 64), "channels_in": log_uniform(rng, 1, 2048), **random_plane(rng, 7)}
    if kind == "dense":
        return {"batch": log_uniform(rng, 1, 4096), "channels_in": log_uniform(rng, 1, 16384),
                "channels_out": log_uniform(rng, 1, 16384), "bias": rng.randint(0, 1),
                "activation": rng.choice(ACTIVATIONS)}
    if kind == "matmul" and rng.randint(0, 3) == 0:
        return random_experts(rng)
    if kind == "matmul":
        return {"batch": log_uniform(rng, 1, 256), "rows": log_uniform(rng, 1, 2048),
                "channels_in": log_uniform(rng, 1, 2048), "channels_out": log_uniform(rng, 1, 2048)}
    if kind == "attention":
        return random_attention(rng)
    widest = {"router": 256, "cross_entropy": 131072}.get(kind, 16384)
    layer = {"batch": log_uniform(rng, 1, 65536), "channels_in": log_uniform(rng, 1, widest)}
    if kind == "elementwise":
        layer["function"] = rng.choice(FUNCTIONS)
    return layer


def with_members(layer, members):
    """Their number and, rounded up, their mean."""
    mean = max(1, -(-sum(members) // len(members)))
    return {**layer, "batch": len(members), "rows" if layer["kind"] == "matmul" else "keys": mean, "members": members}


def random_experts(rng):
    """A grouped product: tokens go to some of the experts, to each by its popularity (a power of its rank: none of
    it to all of it), and an expert takes a token once at most."""
    experts, tokens, power = 2 ** rng.randint(2, 8), log_uniform(rng, 1, 16384), rng.uniform(0, 1.5)
    popularity = [(rank + 1) ** -power for rank in range(experts)]
    rng.shuffle(popularity)
    drawn = rng.choices(range(experts), popularity, k=tokens * rng.randint(1, min(ROUTED, experts)))
    members = [0] * experts
    for expert in drawn:
        members[expert] = min(members[expert] + 1, tokens)
    return with_members({"kind": "matmul", "channels_in": log_uniform(rng, 64, 8192),
                         "channels_out": log_uniform(rng, 64, 8192)}, members)


def random_attention(rng):
    """Prefill, a chunk against a cache, or decode, each equally often; one in four with a window, and of these and of
    those one in three against caches of unequal lengths."""
    kv_heads, width = 2 ** rng.randint(0, 5), rng.choice((64, 128))
    keys = log_uniform(rng, 16, 32768)
    rows = rng.choice((keys, log_uniform(rng, 1, keys), 1))
    layer = {"batch": log_uniform(rng, 1, 256), "rows": rows, "channels_in": width, "channels_out": width,
             "heads": kv_heads * 2 ** rng.randint(0, 3), "kv_heads": kv_heads, "keys": keys, "causal": 1}
    if rng.randint(0, 3) == 0:
        layer["window"] = log_uniform(rng, 16, keys)
    if rng.randint(0, 2) == 0:
        members = [max(rows, log_uniform(rng, 16, keys)) for _ in range(layer["batch"])]
        return with_members({**layer, "kind": "attention"}, members)
    return layer


def random_precision(rng, layer, precisions):
    """fp8 is of products and of their operands' casts, fp4 of products; casts are of nothing else. Products of unequal
    members are of bf16 or fp8, attention to unequal caches of 16 bits: PyTorch has no other kernels of them."""
    able = [p for p in precisions if p in able_precisions(layer)]
    return rng.choice(able) if able else None


def able_precisions(layer):
    if layer.get("function") in ("quantize", "dequantize"):
        return ("fp8",)
    if "members" in layer:
        return tuple(GROUPED_WIDTH) if layer["kind"] == "matmul" else ("fp16", "bf16")
    return PRECISIONS if layer["kind"] == "dense" else PRECISIONS[:-2]


def width_step(layer):
    """What widths must be multiples of."""
    if "members" in layer:
        return GROUPED_WIDTH.get(layer.get("precision"), 8)
    return BLOCKED.get(layer.get("precision"), 1) if layer["kind"] == "dense" else 1


def widened(layer):
    """With widths rounded up to what its kernel takes."""
    step = width_step(layer)
    return {**layer, **{name: -(-layer[name] // step) * step for name in ("channels_in", "channels_out")
                        if name in layer}}


def out_size(layer, axis):
    return (layer["in_" + axis] + layer["pad_" + axis] - layer["kernel_" + axis]) // layer["stride_" + axis] + 1


def elements(layer):
    """(input, weights, output), in numbers."""
    kind, batch, c_in = layer["kind"], layer["batch"], layer["channels_in"]
    if kind in ("conv", "pooling"):
        places = out_size(layer, "h") * out_size(layer, "w")
        c_out = layer["channels_out"] if kind == "conv" else c_in
        weights = c_in * c_out * layer["kernel_h"] * layer["kernel_w"] if kind == "conv" else 0
        return batch * c_in * layer["in_h"] * layer["in_w"], weights, batch * c_out * places
    if kind == "dense":
        return batch * c_in, c_in * layer["channels_out"], batch * layer["channels_out"]
    if kind == "attention":
        rows, heads = batch * layer["rows"], layer["heads"]
        keys = sum(layer["members"]) if "members" in layer else batch * layer["keys"]
        cache = keys * layer["kv_heads"] * (c_in + layer["channels_out"])
        return rows * heads * c_in, cache, rows * heads * layer["channels_out"]
    if kind == "matmul":
        rows = sum(layer["members"]) if "members" in layer else batch * layer["rows"]
        return rows * c_in, batch * c_in * layer["channels_out"], rows * layer["channels_out"]
    return batch * c_in, 0, batch * c_in


def random_layers(kinds, count, seed, most_bytes, precisions):
    """count of each kind; the same for the same seed. Of those too large for the memory none."""
    layers = []
    for kind in kinds:
        few = set(precisions) <= set(BLOCKED)
        if few and not (kind == "dense" or (kind == "elementwise" and "fp8" in precisions)):
            raise Problem(f"--precisions {','.join(precisions)}: {kind} has none of them: leave it out of --kinds")
        rng = random.Random(f"{seed} {kind}")
        while sum(layer["kind"] == kind for layer in layers) < count:
            layer = {**random_layer(rng, kind), "kind": kind}
            precision = random_precision(rng, layer, precisions)
            if precision and precision != "fp32":
                layer = {**layer, "precision": precision}
            layer = widened(layer)
            if precision and 4 * sum(elements(layer)) <= most_bytes:
                layers.append(layer)
    return layers


def read_number(where, name, text):
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise Problem(f"{where}: {name} \"{text}\": must be a whole number, 0 or more")
    return value


def read_members(where, kind, layer, text):
    """Numbers divided by blanks; without those that follow from them."""
    if kind not in ("matmul", "attention"):
        raise Problem(f"{where}: members: {kind} has none: must be matmul (rows of each) or attention (keys of each)")
    members = [read_number(where, "members", word) for word in text.split()]
    least = layer.get("rows", 1) if kind == "attention" else 0
    if min(members) < least:
        raise Problem(f"{where}: members \"{text}\": must be {least} or more each")
    found = with_members({**layer, "kind": kind}, members)
    for name, value in layer.items():
        if value not in (0, found[name]):
            raise Problem(f"{where}: {name} {value}: must be {found[name]}, as members tell, or empty")
    return found


def check_kernel(where, layer):
    """Precision and widths that PyTorch has a kernel of."""
    able, step = able_precisions(layer), width_step(layer)
    if layer.get("precision", "fp32") not in able and ("members" in layer or layer.get("precision") in BLOCKED):
        raise Problem(f"{where}: precision \"{layer.get('precision', 'fp32')}\": must be one of {', '.join(able)} for "
                      f"{layer['kind']}{' with members' if 'members' in layer else ''}")
    for name in ("channels_in", "channels_out"):
        if layer.get(name, 0) % step:
            raise Problem(f"{where}: {name}: must be a multiple of {step}")


def read_layer(where, row):
    kind = row.get("kind")
    if kind not in KINDS:
        raise Problem(f"{where}: kind \"{kind}\": must be one of {', '.join(KINDS)}")
    layer = {name: read_number(where, name, row[name]) for name in NUMBERS + OPERATOR_NUMBERS
             if row.get(name)}
    if kind in ("conv", "pooling"):
        layer = {"pad_h": 0, "pad_w": 0, **layer}
    if row.get("members"):
        layer = read_members(where, kind, layer, row["members"])
    for name in NEEDED[kind]:
        if layer.get(name, 0) == 0:
            raise Problem(f"{where}: {name}: must be there and above 0 for {kind}")
    for name, words in (("activation", ACTIVATIONS), ("function", FUNCTIONS), ("precision", PRECISIONS)):
        if row.get(name):
            layer[name] = row[name]
        if layer.get(name, words[0]) not in words:
            raise Problem(f"{where}: {name} \"{layer[name]}\": must be one of {', '.join(words)}")
    check_kernel(where, {**layer, "kind": kind})
    if kind == "attention" and layer["heads"] % layer["kv_heads"]:
        raise Problem(f"{where}: kv_heads: must divide heads")
    if layer.get("window") and not layer.get("causal"):
        raise Problem(f"{where}: window: is for causal attention")
    if kind in ("conv", "pooling") and min(out_size(layer, "h"), out_size(layer, "w")) < 1:
        raise Problem(f"{where}: the kernel must fit into the padded input")
    return {**layer, "kind": kind}


# ---- tables of operators, as aiconfigurator has them ----

TABLES = {"gemm": ("dtype", "m", "n", "k"),
          "attention": ("phase", "dtype", "kv_dtype", "batch", "tokens", "cached", "heads", "kv_heads", "head_dim",
                        "window")}
DTYPES = {"bfloat16": "bf16", "float16": "fp16", "fp8": "fp8", "nvfp4": "fp4"}


def table_row(layer):
    """(table, its row without the time) of a layer; None: no table has it."""
    dtype = next((name for name, precision in DTYPES.items() if precision == layer.get("precision")), None)
    if dtype is None or "members" in layer:
        return None
    if layer["kind"] == "dense" and not layer.get("bias") and layer.get("activation", "none") == "none":
        return "gemm", (dtype, layer["batch"], layer["channels_out"], layer["channels_in"])
    if layer["kind"] == "attention" and layer.get("causal") and layer["channels_in"] == layer["channels_out"]:
        phase = "decode" if layer["rows"] == 1 and layer["keys"] > 1 else "prefill"
        return "attention", (phase, dtype, dtype, layer["batch"], layer["rows"], layer["keys"] - layer["rows"],
                             layer["heads"], layer["kv_heads"], layer["channels_in"], layer.get("window", 0))
    return None


def of_table(where, row):
    """A row of format tharsis of one of a table; other rows stay as they are."""
    if "dtype" not in row:
        return row
    if row["dtype"] not in DTYPES:
        raise Problem(f"{where}: dtype \"{row['dtype']}\": must be one of {', '.join(DTYPES)}")
    shape = {"precision": DTYPES[row["dtype"]]}
    if "m" in row:
        return {**shape, "kind": "dense", "batch": row["m"], "channels_in": row["k"], "channels_out": row["n"]}
    return {**shape, "kind": "attention", "batch": row["batch"], "rows": row["tokens"], "causal": "1",
            "keys": str(int(row["tokens"]) + int(row["cached"])), "heads": row["heads"], "kv_heads": row["kv_heads"],
            "channels_in": row["head_dim"], "channels_out": row["head_dim"], "window": row["window"]}


def read_layers(path):
    """Layers of a file in format tharsis, or of a table; times in it are ignored."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            layers = [read_layer(f"{path}:{n}", of_table(f"{path}:{n}", row))
                      for n, row in enumerate(csv.DictReader(file), 2)]
    except OSError as e:
        raise Problem(f"{path}: {e.strerror}") from e
    if not layers:
        raise Problem(f"{path}: must have a line of column names and layers below it")
    return layers
