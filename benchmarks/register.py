"""The benchmarks by name. A new one is a module with `run()`, which yields tables, and an entry here."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

from benchmarks.table import Table


class Benchmark(NamedTuple):
    """Where a benchmark is, and what it measures."""

    module: str
    summary: str

    def run(self) -> Iterator[Table]:
        """Load the module, and measure one table after another."""
        tables: Iterator[Table] = import_module(f"benchmarks.{self.module}").run()
        return tables


BENCHMARKS = {
    "samplers": Benchmark("samplers.speeds", "trees per second of every sampler, beside peers and a bare random walk"),
    "auto": Benchmark("samplers.auto", "from how many trees on walks pay, and on which scores"),
    "inference": Benchmark("sums.inference", "log Z and marginals beside the Laplacian inverse and peers"),
    "whole": Benchmark("program.whole", "start-up, a treebank and long streams: time and memory of the command"),
    "throughput": Benchmark(
        "program.throughput",
        "what 100,000 short sentences cost every command, a treebank's beyond the start, a million trees",
    ),
    "growth": Benchmark("samplers.growth", "time per tree by words and trees"),
    "swor": Benchmark("distinct.speeds", "distinct trees per second, and what estimates gain by them"),
    "decoding": Benchmark("sums.decoding", "maximum trees and entropies with gradients, beside peers"),
    "conllu": Benchmark("program.conllu", "reading CoNLL-U and writing trees into it, beside libraries"),
    "projective": Benchmark("sums.projective", "projective trees: sums, samples, maximum trees, beside peers"),
    "training": Benchmark("sums.training", "log Z of batches with gradients in PyTorch and JAX, beside peers"),
    "beam": Benchmark("distinct.beam", "stochastic beam search in JAX, beside SynJax and the kernels"),
    "pruning": Benchmark("pruning.tables", "randomized pruning beside exact sums and its rivals, generated sentences"),
    "constraints": Benchmark(
        "constraints.tables", "trees under rules: validity, accuracy, certificates, time, a heuristic, known heads"
    ),
    "repair": Benchmark(
        "constraints.repair", "the nearest valid trees beside udapi's fixes, and changes traded for a parser's scores"
    ),
    "calibrate": Benchmark("calibration.tables", "temperatures by both criteria, and the coverage of sets of heads"),
    "bitext": Benchmark("pruning.real", "alignment error rates and costs on real sentences and noisy copies"),
    "methods": Benchmark("program.methods", "methods for sentence pairs: time and error of the command"),
    "hpyp": Benchmark("hpyp.accuracy", "the generative parser on UD_English-EWT: accuracy, speed, calibration"),
    "doubt": Benchmark("annotation.doubt", "errors planted in gold trees, and how early a ranking of words finds them"),
    "combine": Benchmark("annotation.combine", "two parsers' scores of English, one by one, multiplied, and mixed"),
    "states": Benchmark(
        "hpyp.states", "the generative parser averaged over states of its sampler: accuracy, calibration"
    ),
    "claims": Benchmark("samplers.claims", "claims of the papers, measured again"),
    "power": Benchmark("audits.power", "what audits find, and how often they err"),
    "eval": Benchmark(
        "audits.evaluation", "what intervals of deptree eval cover, how often its test errs, expected scores"
    ),
    "agree": Benchmark("audits.agreement", "what deptree agree --test finds, and how often it errs"),
}
