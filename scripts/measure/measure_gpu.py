#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""measure_gpu.py - times of layers on this machine's NVIDIA GPU, with PyTorch, as a file that read_measurements takes.

  measure_gpu.py --out my_gpu.csv --describe my_gpu_device.csv
  measure_gpu.py --kinds conv,dense --count 500 --phases call,execution --out my_gpu.csv
  measure_gpu.py --layers my_layers.csv --out my_gpu.csv
  measure_gpu.py --dry-run --out try.csv --describe try_device.csv      made-up times; needs neither GPU nor PyTorch

docs/measuring.md says what each phase is and how it is timed. A layer that does not fit into memory, or that the GPU or
PyTorch has no kernel of, is left out with a line on standard error.
"""
import argparse
import csv
import itertools
import os
import re
import statistics
import subprocess
import sys
import time

from measure_layers import (BLOCKED, COLUMNS, KINDS, PHASES, PRECISIONS, ROUTED, TABLES, TRAINING, WEIGHTED, Problem,
                            elements, random_layers, read_layers, table_row)

# Single-precision units per multiprocessor, by compute capability (CUDA C++ Programming Guide, table of arithmetic
# throughput); others are told by --cores-per-sm.
CORES_PER_SM = {(3, 5): 192, (3, 7): 192, (5, 0): 128, (5, 2): 128, (6, 0): 64, (6, 1): 128, (7, 0): 64, (7, 5): 64,
                (8, 0): 64, (8, 6): 128, (8, 9): 128, (9, 0): 128, (10, 0): 128, (10, 3): 128, (12, 0): 128}
# Operations of a multiprocessor's tensor cores in a clock, of tf32, fp16, bf16, fp8 and fp4 (0: it has none), by
# compute capability: dense peaks of data sheets over multiprocessors and boost clock (predictor/devices.csv: V100, T4,
# A100, A40, L4, H100, B200, B300, RTX PRO 6000). GeForce cards have half.
TENSOR_RATES = {(7, 0): (0, 1014, 0, 0, 0), (7, 5): (0, 1022, 0, 0, 0), (8, 0): (1024, 2048, 2048, 0, 0),
                (8, 6): (512, 1024, 1024, 0, 0), (8, 9): (512, 1024, 1024, 2048, 0),
                (9, 0): (1892, 3786, 3786, 7572, 0), (10, 0): (3868, 7737, 7737, 15473, 30947),
                (10, 3): (3868, 7737, 7737, 15473, 46420), (12, 0): (573, 1145, 1145, 2290, 4581)}
# Formats of 4 bits: numbers that share a scale, and the scale's type.
BLOCKS = {"nvfp4": (16, "float8_e4m3fn"), "mxfp4": (32, "float8_e8m0fnu")}


# ---- times ----

def summary(times_ms):
    """{median, spread}: the spread is the middle half's width, as a share of the median."""
    median = statistics.median(times_ms)
    quarter = statistics.quantiles(times_ms, n=4) if len(times_ms) > 1 else [median] * 3
    return {"time_ms": median, "spread_percent": 100 * (quarter[2] - quarter[0]) / median, "runs": len(times_ms)}


def phases_of(layer, phases):
    """Without weights nothing is updated; nobody trains through casts, routers and decode against a cache."""
    is_unequal_decode = layer["kind"] == "attention" and "members" in layer and layer["rows"] == 1
    passes = layer.get("function") in ("quantize", "dequantize", "adam", "sgd") or is_unequal_decode or \
        layer.get("precision") in BLOCKED or layer["kind"] == "router"
    return [phase for phase in phases if (layer["kind"] in WEIGHTED or phase not in ("update", "step")) and
            not (passes and phase in TRAINING)]


def rare_feature(layer):
    """(what not every GPU and PyTorch has, a small layer that needs it), or (None, None)."""
    precision = layer.get("precision", "fp32")
    if "members" in layer and layer["kind"] == "matmul":
        what = "products of unequal members" + (" of fp8" if precision == "fp8" else "")
        return what, {"kind": "matmul", "precision": precision, "batch": 2, "rows": 16, "channels_in": 64,
                      "channels_out": 64, "members": [24, 8]}
    if "members" in layer:
        return "attention of unequal lengths", {"kind": "attention", "precision": precision, "batch": 2, "rows": 1,
                                                "keys": 48, "heads": 4, "kv_heads": 2, "channels_in": 64,
                                                "channels_out": 64, "causal": 1, "members": [64, 32]}
    if precision in BLOCKED and layer["kind"] == "dense":
        return "products of " + precision, {"kind": "dense", "precision": precision, "batch": 128, "channels_in": 128,
                                            "channels_out": 128}
    return None, None


def swizzled(rows, blocks):
    """Scales that a product of 4 bits reads: in tiles of 128 rows by 4 blocks."""
    return -(-rows // 128) * 128 * (-(-blocks // 4) * 4)


def is_unsplit(layer):
    """Does PyTorch's kernel for variable lengths never split a sequence's keys over multiprocessors? It does for one
    query whose heads share keys, without a window."""
    return layer["rows"] > 1 or layer["heads"] == layer["kv_heads"] or bool(layer.get("window"))


class DryGpu:
    """No GPU: times made up from sizes (5 us, and bytes at 100 GB/s, twice for training), to try out the rest.
    Computation is free, so its peaks are above any real one's."""
    name = "dry_run"

    def describe(self):
        return {"device": self.name, "memory_bandwidth_GBps": 100, "sms": 1000, "cores_per_sm": 128, "clock_MHz": 4000,
                "fp32_GFLOPs": 1024000, "l2_MB": 1, "memory_GB": 4, "tf32_GFLOPs": 4096000, "fp16_GFLOPs": 8192000,
                "bf16_GFLOPs": 8192000, "fp8_GFLOPs": 16384000, "fp4_GFLOPs": 32768000, "aliases": "", "source": "assumed"}

    def measure(self, layer, phases, _optimizer):
        for phase in phases_of(layer, phases):
            n = sum(elements(layer)) * (2 if phase in TRAINING else 1)
            yield phase, {"time_ms": 0.005 + 4e3 * n / 100e9, "spread_percent": 0, "runs": 1}


class TorchGpu:
    """A CUDA device behind PyTorch. Kernels are timed by events on a stream that is kept waiting meanwhile, so that
    their launches are over before the first of them begins."""
    WAIT_CYCLES = 2_000_000  # about a millisecond: longer than any launch

    def __init__(self, index, options):
        try:
            import torch
        except ImportError as e:
            raise Problem("needs PyTorch with CUDA (https://pytorch.org); --dry-run does not") from e
        if not torch.cuda.is_available():
            raise Problem("PyTorch finds no CUDA device; --dry-run needs none")
        self.torch, self.options, self.index = torch, options, index
        torch.cuda.set_device(index)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = options.tf32
        torch.backends.cudnn.benchmark = options.cudnn_benchmark
        self.properties = torch.cuda.get_device_properties(index)
        self.name = options.name or self.properties.name.replace(",", " ")
        self.clock, self.clock_read = {}, 0.0
        self.able = {}

    # what it is

    def describe(self):
        p = self.properties
        cores = self.options.cores_per_sm or CORES_PER_SM.get((p.major, p.minor))
        if cores is None:
            raise Problem(f"--cores-per-sm: is required for compute capability {p.major}.{p.minor}")
        sm, memory = (float(x) for x in self.ask("clocks.max.sm,clocks.max.memory").values())
        bus = getattr(p, "memory_bus_width", 0)
        bandwidth = self.options.bandwidth or 2 * memory * 1e6 * bus / 8 / 1e9
        if not bandwidth:
            raise Problem("--bandwidth: is required, in GB/s: this PyTorch does not know the width of the memory's bus")
        return {"device": self.name, "memory_bandwidth_GBps": round(bandwidth, 1), "sms": p.multi_processor_count,
                "cores_per_sm": cores, "clock_MHz": sm,
                "fp32_GFLOPs": round(2e-3 * p.multi_processor_count * cores * sm),
                "l2_MB": round(getattr(p, "L2_cache_size", 0) / 2**20, 2) or 1,
                "memory_GB": round(p.total_memory / 2**30), **self.tensor_peaks(sm), "aliases": "",
                "source": "what CUDA and nvidia-smi report of the card"}

    def tensor_peaks(self, clock_mhz):
        """GFLOPs by precision; empty: none, or not known."""
        p = self.properties
        rates = TENSOR_RATES.get((p.major, p.minor), (0,) * 5)
        per_rate = p.multi_processor_count * clock_mhz / 1e3 / (2 if "GeForce" in p.name else 1)
        return {precision + "_GFLOPs": round(rate * per_rate) or ""
                for precision, rate in zip(("tf32", "fp16", "bf16", "fp8", "fp4"), rates)}

    def ask(self, what):
        words = ["nvidia-smi", f"--query-gpu={what}", "--format=csv,noheader,nounits", "-i", str(self.index)]
        try:
            said = subprocess.run(words, capture_output=True, text=True, timeout=20, check=True).stdout
        except (OSError, subprocess.SubprocessError) as e:
            raise Problem(f"nvidia-smi: {e}") from e
        return dict(zip(what.split(","), (word.strip() for word in said.strip().split(","))))

    def clocks(self):
        """At most once a second: asking takes longer than most layers."""
        if time.monotonic() - self.clock_read > 1:
            now = self.ask("clocks.sm,temperature.gpu")
            self.clock = {"sm_clock_MHz": now["clocks.sm"], "temperature_C": now["temperature.gpu"]}
            self.clock_read = time.monotonic()
        return self.clock

    # layers

    def is_able(self, layer):
        """Do GPU and PyTorch have its kernel? Of precisions and members that not all have, one small layer is tried; a
        line says once what is left out, and why."""
        what, small = rare_feature(layer)
        if what and what not in self.able:
            try:
                call, x, _ = self.build(small, False)
                call(x)
                self.torch.cuda.synchronize()
                self.able[what] = True
            except (AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError) as e:
                why = (str(e).splitlines() or [type(e).__name__])[0]
                print(f"measure_gpu.py: {what}: left out, for this GPU or PyTorch has no kernel: {why}",
                      file=sys.stderr)
                self.able[what] = False
        return not what or self.able[what]

    def dtype(self, layer):
        torch = self.torch
        return {"fp16": torch.float16, "bf16": torch.bfloat16, "fp8": torch.bfloat16,
                "fp4": torch.bfloat16}.get(layer.get("precision"), torch.float32)

    def tensor(self, *shape, grad=False, dtype=None):
        return self.torch.randn(*shape, device="cuda", dtype=dtype).requires_grad_(grad)

    def build(self, layer, grad):
        """(call, input, further operands that have gradients): call(input) gives the output."""
        nn, f, kind = self.torch.nn, self.torch.nn.functional, layer["kind"]
        batch, c, dtype = layer["batch"], layer["channels_in"], self.dtype(layer)
        is_tf32 = self.options.tf32 or layer.get("precision") == "tf32"
        self.torch.backends.cuda.matmul.allow_tf32 = self.torch.backends.cudnn.allow_tf32 = is_tf32
        if kind in ("conv", "pooling"):
            x = self.tensor(batch, c, layer["in_h"], layer["in_w"], grad=grad, dtype=dtype)
            module = self.plane(layer)
        elif kind == "attention" and "members" in layer:
            return self.unequal_attention(layer, grad)
        elif kind == "attention":
            return self.attention(layer, grad)
        elif kind == "matmul" and "members" in layer:
            return self.grouped_product(layer, grad)
        elif kind == "matmul":
            x = self.tensor(batch, layer["rows"], c, grad=grad, dtype=dtype)
            other = self.tensor(batch, c, layer["channels_out"], grad=grad, dtype=dtype)
            return (lambda a: self.torch.bmm(a, other)), x, [other]
        elif kind == "dense" and layer.get("precision") in BLOCKED:
            return self.scaled_product(layer)
        elif kind == "dense":
            x = self.tensor(batch, c, grad=grad, dtype=dtype)
            module = nn.Linear(c, layer["channels_out"], bias=bool(layer.get("bias")))
        else:
            x = self.tensor(batch, c, grad=grad, dtype=dtype)
            module = self.rows(layer, x)
        if isinstance(module, nn.Module):
            module = module.to(device="cuda", dtype=dtype).requires_grad_(grad)
        weights = list(module.parameters()) if isinstance(module, nn.Module) else []
        act = {"relu": f.relu, "tanh": self.torch.tanh, "sigmoid": self.torch.sigmoid}.get(layer.get("activation"))
        return (lambda a: act(module(a))) if act else module, x, weights

    def rows(self, layer, x):
        """What works on rows of numbers."""
        torch, f, c = self.torch, self.torch.nn.functional, layer["channels_in"]
        kind = layer["kind"]
        if kind == "cross_entropy":
            target = torch.randint(0, c, (layer["batch"],), device="cuda")
            return lambda a: f.cross_entropy(a, target)
        if kind == "router":
            return lambda a: torch.topk(torch.softmax(a, dim=-1), min(ROUTED, c), dim=-1).values
        if kind == "elementwise":
            return self.function(layer.get("function") or "add", x)
        return {"softmax": torch.nn.Softmax(dim=-1), "norm": torch.nn.LayerNorm(c)}.get(kind) or torch.nn.RMSNorm(c)

    def attention(self, layer, grad):
        """Fused; queries are the last of the keys."""
        from torch.nn.attention.bias import causal_lower_right
        rows, keys, dtype = layer["rows"], layer["keys"], self.dtype(layer)
        q = self.tensor(layer["batch"], layer["heads"], rows, layer["channels_in"], grad=grad, dtype=dtype)
        k = self.tensor(layer["batch"], layer["kv_heads"], keys, layer["channels_in"], grad=grad, dtype=dtype)
        v = self.tensor(layer["batch"], layer["kv_heads"], keys, layer["channels_out"], grad=grad, dtype=dtype)
        shared = {"enable_gqa": True} if layer["heads"] != layer["kv_heads"] else {}
        if layer.get("window"):
            return self.windowed(q, k, v, layer["window"], shared), q, [k, v]
        mask = causal_lower_right(rows, keys) if layer.get("causal") and 1 < rows < keys else None
        whole = bool(layer.get("causal")) and rows == keys
        attend = self.torch.nn.functional.scaled_dot_product_attention
        return (lambda a: attend(a, k, v, attn_mask=mask, is_causal=whole, **shared)), q, [k, v]

    def windowed(self, q, k, v, window, shared):
        """Each query sees so many keys at most: itself and those before it."""
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention
        rows, keys = q.shape[-2], k.shape[-2]
        first = keys - rows

        def is_seen(_batch, _head, row, key):
            return (key <= first + row) & (key > first + row - window)

        mask = create_block_mask(is_seen, None, None, rows, keys, device="cuda")
        attend = self.torch.compile(flex_attention)
        return lambda a: attend(a, k, v, block_mask=mask, **shared)

    def unequal_attention(self, layer, grad):
        """The sequences lie one behind the other, as servers keep them, and one kernel takes all (FlashAttention 2 for
        variable lengths); rows are the last of their sequence, so the kernel's causal mask is that of the format."""
        torch, dtype, members = self.torch, self.dtype(layer), layer["members"]
        rows, window = layer["rows"], layer.get("window", 0)
        q = self.tensor(len(members) * rows, layer["heads"], layer["channels_in"], grad=grad, dtype=dtype)
        k = self.tensor(sum(members), layer["kv_heads"], layer["channels_in"], grad=grad, dtype=dtype)
        v = self.tensor(sum(members), layer["kv_heads"], layer["channels_out"], grad=grad, dtype=dtype)
        ends_q, ends_k = self.ends([rows] * len(members), True), self.ends(members, True)
        seen = {"window_size_left": window - 1, "window_size_right": 0} if window else {}
        attend = torch.ops.aten._flash_attention_forward
        return (lambda a: attend(a, k, v, ends_q, ends_k, rows, max(members), 0.0, bool(layer.get("causal")), False,
                                 **seen)[0]), q, [k, v]

    def grouped_product(self, layer, grad):
        """Rows sorted by expert, a matrix for each, one kernel. Of 8 bits with a scale for each row and column."""
        torch, dtype = self.torch, self.dtype(layer)
        if not torch.cuda.get_device_capability(self.index)[0] in (9, 10):
            raise RuntimeError("PyTorch runs them one by one below compute capability 9.0 and above 10.x")
        c, members = layer["channels_in"], layer["members"]
        x = self.tensor(sum(members), c, grad=grad, dtype=dtype)
        w = self.tensor(len(members), c, layer["channels_out"], grad=grad, dtype=dtype)
        ends = self.ends(members, False)
        if layer["precision"] != "fp8":
            return (lambda a: torch._grouped_mm(a, w, offs=ends)), x, [w]
        x, w = (operand.to(torch.float8_e4m3fn) for operand in (x, w.transpose(-2, -1).contiguous()))
        a_scale = torch.ones(sum(members), device="cuda")
        b_scale = torch.ones(len(members), layer["channels_out"], device="cuda")
        return (lambda a: torch._scaled_grouped_mm(a, w.transpose(-2, -1), a_scale, b_scale, offs=ends,
                                                   out_dtype=torch.bfloat16)), x, []

    def ends(self, sizes, with_start):
        """Where each part ends; with_start: a zero in front."""
        sums = list(itertools.accumulate(sizes))
        return self.torch.tensor([0] * with_start + sums, dtype=self.torch.int32, device="cuda")

    def scaled_product(self, layer):
        """Operands of 8 bits with a scale each, or of 4 bits, two in a byte, with a scale for each block of a row; a
        result of 16 bits."""
        torch, rows, c, columns = self.torch, layer["batch"], layer["channels_in"], layer["channels_out"]
        if layer["precision"] == "fp8":
            a_scale = b_scale = torch.ones((), device="cuda")
            x, w = (self.tensor(n, c).to(torch.float8_e4m3fn) for n in (rows, columns))
        else:
            size, kind = BLOCKS[self.options.fp4]
            x, w = (torch.randint(0, 256, (n, c // 2), dtype=torch.uint8, device="cuda").view(torch.float4_e2m1fn_x2)
                    for n in (rows, columns))
            a_scale, b_scale = (torch.ones(swizzled(n, c // size), device="cuda").to(getattr(torch, kind))
                                for n in (rows, columns))
        return (lambda a: torch._scaled_mm(a, w.t(), scale_a=a_scale, scale_b=b_scale, out_dtype=torch.bfloat16)), x, []

    def plane(self, layer):
        """Zeros that are not the same on both sides go in front, as another kernel, as frameworks do."""
        nn = self.torch.nn
        kernel, stride = ((layer[name + "_h"], layer[name + "_w"]) for name in ("kernel", "stride"))
        pads = layer.get("pad_h", 0), layer.get("pad_w", 0)
        is_even = all(pad % 2 == 0 and pad <= 2 * (k // 2) for pad, k in zip(pads, kernel))
        padding = tuple(pad // 2 for pad in pads) if is_even else 0
        if layer["kind"] == "conv":
            module = nn.Conv2d(layer["channels_in"], layer["channels_out"], kernel, stride, padding,
                               bias=bool(layer.get("bias")))
        else:
            module = nn.MaxPool2d(kernel, stride, padding)
        if is_even:
            return module
        (h, w) = pads
        return nn.Sequential(nn.ZeroPad2d((w // 2, w - w // 2, h // 2, h - h // 2)), module)

    def function(self, name, x):
        torch = self.torch
        if name in ("relu", "gelu", "tanh"):
            return {"relu": torch.relu, "gelu": torch.nn.functional.gelu, "tanh": torch.tanh}[name]
        if name in ("adam", "sgd"):
            return self.fused_step(name, x)
        if name == "rotary":
            cos, sin = self.torch.rand_like(x), self.torch.rand_like(x)
            half = x.shape[-1] // 2
            return torch.compile(lambda a: a * cos + torch.cat((-a[..., half:], a[..., :half]), -1) * sin)
        if name in ("embedding", "permute"):
            order = torch.randperm(x.shape[0], device="cuda")
            return lambda a: torch.index_select(a, 0, order)
        if name == "quantize":
            return torch.compile(lambda a: (a * 0.5).to(torch.float8_e4m3fn))
        if name == "dequantize":
            narrow = x.detach().to(torch.float8_e4m3fn)
            return torch.compile(lambda a: narrow.to(torch.bfloat16) * 2)
        if name == "silu_gate":
            other = torch.rand_like(x)
            return torch.compile(lambda a: torch.nn.functional.silu(a) * other)
        if name == "add_three":
            second, third = torch.rand_like(x), torch.rand_like(x)
            return lambda a: a + second + third
        operation = getattr(torch, name.removesuffix("_number"))
        other = 1.5 if name.endswith("_number") else self.torch.rand_like(x) + 0.5
        return lambda a: operation(a, other)

    def fused_step(self, name, x):
        """A step over as many weights as x has numbers, of single precision."""
        weight = self.torch.nn.Parameter(x.detach().float())
        weight.grad = self.torch.rand_like(weight)
        optim = self.torch.optim
        update = optim.Adam([weight], fused=True) if name == "adam" else optim.SGD([weight], 0.01, momentum=0.9,
                                                                                  fused=True)
        return lambda _: update.step()

    # timing

    def repeat(self, one):
        """Times of one(), in ms: warm-up, then until there are enough runs and, past these, the time is up."""
        for _ in range(self.options.warm_up):
            one()
        times, end = [], time.monotonic() + self.options.seconds
        while len(times) < self.options.least_runs or (len(times) < self.options.runs and time.monotonic() < end):
            times.append(one())
        return times

    def by_events(self, work, before=None):
        """Device time of work(), its launches hidden behind a wait on the stream."""
        events = [self.torch.cuda.Event(enable_timing=True) for _ in range(2)]

        def one():
            ready = before() if before else None
            self.torch.cuda.synchronize()
            self.torch.cuda._sleep(self.WAIT_CYCLES)
            events[0].record()
            work(ready) if before else work()
            events[1].record()
            self.torch.cuda.synchronize()
            return events[0].elapsed_time(events[1])
        return self.repeat(one)

    def by_graph(self, work, before=None):
        """The same of a graph of CALLS, divided: no gaps between launches. What before() prepares, on the same stream,
        all of them use."""
        CALLS, torch = 16, self.torch
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            ready = [before()] if before else []
            for _ in range(3):
                work(*ready)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(CALLS):
                work(*ready)
        return [t / CALLS for t in self.by_events(graph.replay)]

    def by_clock(self, work, waits):
        """Host time of work(), from an idle device; waits: until the device is idle again."""
        def one():
            self.torch.cuda.synchronize()
            begun = time.perf_counter()
            result = work()
            if waits:
                self.torch.cuda.synchronize()
            took = 1e3 * (time.perf_counter() - begun)
            del result
            return took
        return self.repeat(one)

    # phases

    def measure(self, layer, phases, optimizer):
        """{phase, what was found} of each."""
        if not self.is_able(layer):
            return
        more = {"unsplit": int(is_unsplit(layer))} if layer["kind"] == "attention" and "members" in layer else {}
        for phase in phases_of(layer, phases):
            self.torch.cuda.empty_cache()
            try:
                found = self.measure_phase(layer, phase, optimizer)
            except self.torch.cuda.OutOfMemoryError:
                print(f"measure_gpu.py: {layer['kind']} {phase}: does not fit into memory", file=sys.stderr)
                continue
            except RuntimeError as e:
                if not rare_feature(layer)[0]:
                    raise
                print(f"measure_gpu.py: {layer['kind']} {phase}: left out: {str(e).splitlines()[0]}", file=sys.stderr)
                continue
            yield phase, {**found, **more, **self.clocks()}

    def measure_phase(self, layer, phase, optimizer):
        if phase in TRAINING:
            return self.measure_training(layer, phase, optimizer)
        with self.torch.no_grad():
            call, x, _ = self.build(layer, False)
            if phase == "call":
                return summary(self.by_clock(lambda: call(x).cpu(), True))
            if phase == "execution":
                return summary((self.by_graph if self.options.graphs else self.by_events)(lambda: call(x)))
            if phase == "post":
                y = call(x)
                return summary(self.by_clock(y.cpu, True))
            host = x.cpu()
            copies, launches = self.by_clock(host.cuda, True), self.by_clock(lambda: call(x), False)
            copy, launch = statistics.median(copies), statistics.median(launches)
            return {**summary([copy + t for t in launches]), "copy_ms": copy, "launch_ms": launch}

    def measure_training(self, layer, phase, optimizer):
        call, x, weights = self.build(layer, True)
        gradient = self.torch.ones_like(call(x))
        graphs = self.options.graphs
        if phase == "forward":
            return summary((self.by_graph if graphs else self.by_events)(lambda: call(x)))
        if phase == "backward" and graphs:
            of = [x, *weights]
            return summary(self.by_graph(lambda y: self.torch.autograd.grad(y, of, gradient, retain_graph=True,
                                                                               allow_unused=True),
                                         before=lambda: call(x)))
        if phase == "backward":
            return summary(self.by_events(lambda y: y.backward(gradient), before=lambda: call(x)))
        update = self.optimizer(weights, optimizer)
        call(x).backward(gradient)
        if phase == "update":
            return summary(self.by_events(update.step))

        def step():
            update.zero_grad()
            call(x).backward(gradient)
            update.step()
        return summary(self.by_clock(step, True))

    def optimizer(self, weights, name):
        optim = self.torch.optim
        return {"sgd": lambda w: optim.SGD(w, 0.01), "momentum": lambda w: optim.SGD(w, 0.01, momentum=0.9),
                "adam": optim.Adam, "adagrad": optim.Adagrad, "adadelta": optim.Adadelta,
                "rmsprop": optim.RMSprop}[name](weights)


# ---- files ----

def row_of(number, device, layer, phase, found, optimizer):
    row = {**layer, "row_id": number, "device": device, "phase": phase, **found}
    if "members" in layer:
        row["members"] = " ".join(str(n) for n in layer["members"])
    if phase in ("update", "step"):
        row["optimizer"] = optimizer
    return {**row, **{name: format(row[name], ".6g") for name in ("time_ms", "spread_percent", "copy_ms", "launch_ms")
                      if name in row}}


class Tables:
    """FOLDER/NAME_gemm.csv and its like: executions with the columns of tables of operators; None: no folder."""
    def __init__(self, folder, name):
        self.folder, self.files = folder, {}
        self.name = re.sub("[^a-z0-9]+", "_", name.lower())

    def add(self, layer, phase, found):
        table, row = table_row(layer) or (None, None)
        if not self.folder or not table or phase != "execution":
            return
        if table not in self.files:
            self.files[table] = open(os.path.join(self.folder, f"{self.name}_{table}.csv"), "w", encoding="utf-8")
            print(*TABLES[table], "time_ms", sep=",", file=self.files[table])
        print(*row, format(found["time_ms"], ".6g"), sep=",", file=self.files[table])

    def close(self):
        for file in self.files.values():
            file.close()


def write_rows(file, gpu, layers, options):
    """A line as soon as it is known: a run that is broken off leaves whole lines."""
    writer = csv.DictWriter(file, COLUMNS, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    tables = Tables(options.tables, gpu.name)
    for number, layer in enumerate(layers):
        for phase, found in gpu.measure(layer, options.phases, options.optimizer):
            tables.add(layer, phase, found)
            writer.writerow(row_of(number, gpu.name, layer, phase, found, options.optimizer))
        file.flush()
        if sys.stderr.isatty():
            print(f"\r{number + 1} of {len(layers)} layers", end="", file=sys.stderr)
    tables.close()


def write_description(path, gpu):
    found = gpu.describe()
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, found, lineterminator="\n")
        writer.writeheader()
        writer.writerow(found)


# ---- arguments ----

def words_of(known):
    def parse(text):
        words = text.split(",")
        for word in words:
            if word not in known:
                raise argparse.ArgumentTypeError(f"\"{word}\": must be among {','.join(known)}")
        return words
    return parse


def at_least(least):
    def parse(text):
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"\"{text}\": must be a whole number, {least} or more")
        return value
    return parse


def parse_arguments(words):
    p = argparse.ArgumentParser(prog="measure_gpu.py", description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", required=True, metavar="FILE", help="the measurements; - for standard output")
    p.add_argument("--describe", metavar="FILE", help="writes a description of the GPU too, for -devices")
    p.add_argument("--tables", metavar="FOLDER",
                   help="writes executions of products and attention as tables too: NAME_gemm.csv, NAME_attention.csv")
    p.add_argument("--layers", metavar="FILE",
                   help="layers to measure: format tharsis, or such a table; times are ignored")
    p.add_argument("--kinds", type=words_of(KINDS), default=list(KINDS), help="of random layers (all)")
    p.add_argument("--count", type=at_least(1), default=200, help="random layers of each kind (200)")
    p.add_argument("--seed", type=at_least(0), default=1, help="of random layers (1)")
    p.add_argument("--phases", type=words_of(PHASES), default=["call", "execution"],
                   help="what is timed (call,execution), among " + ",".join(PHASES))
    p.add_argument("--precisions", type=words_of(PRECISIONS), default=["fp32"],
                   help="of random layers (fp32), among " + ",".join(PRECISIONS))
    p.add_argument("--graphs", action="store_true",
                   help="executions, forward and backward passes as a CUDA graph of 16, without gaps")
    p.add_argument("--fp4", choices=tuple(BLOCKS), default="nvfp4", help="format of 4 bits (nvfp4)")
    p.add_argument("--optimizer", choices=("sgd", "momentum", "adam", "adagrad", "adadelta", "rmsprop"), default="sgd",
                   help="of phases update and step (sgd)")
    p.add_argument("--device", type=at_least(0), default=0, help="number of the GPU (0)")
    p.add_argument("--name", help="of the GPU in the files (what the driver calls it)")
    p.add_argument("--warm-up", type=at_least(0), default=10, help="runs that do not count (10)")
    p.add_argument("--runs", type=at_least(1), default=100, help="of which the median is taken, at most (100)")
    p.add_argument("--least-runs", type=at_least(1), default=10, help="even where they take long (10)")
    p.add_argument("--seconds", type=float, default=1.0, help="for one layer and phase, past the least runs (1)")
    p.add_argument("--memory", type=float, default=2.0, help="GiB that a random layer may take (2)")
    p.add_argument("--tf32", action="store_true", help="lets matrix units round to TF32; off, as Tharsis predicts fp32")
    p.add_argument("--cudnn-benchmark", action="store_true", help="lets cuDNN choose by trying")
    p.add_argument("--cores-per-sm", type=at_least(1), help="for --describe, where it is not known")
    p.add_argument("--bandwidth", type=float, help="of the memory in GB/s, for --describe, where it is not known")
    p.add_argument("--dry-run", action="store_true", help="made-up times: tries out everything but the GPU")
    return p.parse_args(words)


def main(words):
    options = parse_arguments(words)
    try:
        layers = read_layers(options.layers) if options.layers else \
            random_layers(options.kinds, options.count, options.seed, options.memory * 2**30, options.precisions)
        gpu = DryGpu() if options.dry_run else TorchGpu(options.device, options)
        if options.describe:
            write_description(options.describe, gpu)
        if options.out == "-":
            write_rows(sys.stdout, gpu, layers, options)
        else:
            with open(options.out, "w", newline="", encoding="utf-8") as file:
                write_rows(file, gpu, layers, options)
    except (Problem, OSError) as e:
        print(f"measure_gpu.py: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
