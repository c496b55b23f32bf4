"""The register of samplers with replacement: a line each, read by help texts, `auto`, check-bias and the law tests.

A sampler is a function ``draw(sentence, size, rng) -> heads``, int32 of shape (size, n), 0 for ROOT. To add one, write
it in a file of this folder and give it a line below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.sentence import Sentence

SINGLE, MULTI = "single", "multi"


@dataclass(frozen=True)
class Sampler:
    """A line of the register.

    Attributes:
        target: ``file:function`` in this folder; imported when first used, for kernels take time to load.
        exact: whether its trees follow the sentence's distribution.
        roots: the root constraints it serves.
        cost: of k trees of n words; `h` is the mean hitting time of the walk.
        uses: what stands behind it where that is not the name itself, for signatures.
        root_probs: of a biased sampler whose trees are exact given their root: ``file:function`` of its root
            distribution.
    """

    name: str
    target: str
    exact: bool
    roots: tuple[str, ...]
    cost: str
    source: str
    uses: str = ""
    root_probs: str = ""

    def serves(self, single_root: bool) -> bool:
        """Whether it draws trees under that root constraint."""
        return (SINGLE if single_root else MULTI) in self.roots

    def draw(self, sentence: Sentence, size: int, rng: np.random.Generator) -> NDArray[np.int32]:
        """`size` independent trees, (size, n) heads."""
        self.check_serves(sentence.single_root)
        heads: NDArray[np.int32] = _function(self.target)(sentence, size, rng)
        return heads

    def bias(self, sentence: Sentence) -> float | None:
        """Its total variation distance from the truth in closed form, where there is one.

        Half the L1 distance between its root distribution and the root marginals (Stanojevic 2022, Appendix E, eq. 10).
        """
        if not self.root_probs:
            return None
        difference = _function(self.root_probs)(sentence) - sentence.elimination.root_marginals()
        return 0.5 * float(np.abs(difference).sum())

    def check_serves(self, single_root: bool) -> None:
        """Raise unless it serves the root constraint."""
        if self.serves(single_root):
            return
        wanted, flag = (
            ("single-root trees", "add") if single_root else ("spanning trees with several roots", "leave out")
        )
        raise DeptreeError(
            f"the sampler {self.name} does not draw {wanted}",
            f"Choose one of {', '.join(names(single_root))}, or {flag} --multi-root",
        )


def _function(target: str) -> Callable[..., Any]:
    file, function = target.split(":")
    found: Callable[..., Any] = getattr(import_module(f"{__name__}.{file}"), function)
    return found


_LINES = (
    Sampler(
        "auto",
        "auto:draw",
        True,
        (SINGLE, MULTI),
        "n^3 + k min(h, n^3/10 + n^2)",
        "Stanojevic 2022, Alg. 3, with a step budget; then elimination for the same root",
        uses="wilson-marginal+elimination",
    ),
    Sampler(
        "elimination", "elimination:draw", True, (SINGLE, MULTI), "n^3 + k n^2", "this project: README, How it works"
    ),
    Sampler("wilson-marginal", "wilson:draw_marginal", True, (SINGLE,), "n^3 + k h", "Stanojevic 2022, Alg. 3"),
    Sampler("wilson-reject", "wilson:draw_reject", True, (SINGLE,), "k h Z_T/Z_D", "Stanojevic 2022, Alg. 4"),
    Sampler("colbourn", "colbourn:draw", True, (SINGLE, MULTI), "k n^3", "Zmigrod et al. 2021a, Fig. 5"),
    Sampler("wilson", "wilson:draw_spanning", True, (MULTI,), "k h", "Wilson 1996"),
    Sampler(
        "wilson-rc",
        "wilson:draw_root_corrected",
        False,
        (SINGLE,),
        "k h",
        "Zmigrod et al. 2021a, Fig. 3",
        root_probs="wilson:local_root_probs",
    ),
)

SAMPLERS: dict[str, Sampler] = {line.name: line for line in _LINES}


def names(single_root: bool | None = None) -> list[str]:
    """The samplers' names, all of them or those that serve a root constraint."""
    return [name for name, line in SAMPLERS.items() if single_root is None or line.serves(single_root)]


def sampler(name: str) -> Sampler:
    """The sampler of that name."""
    if name not in SAMPLERS:
        raise DeptreeError(f"there is no sampler {name!r}", f"Choose one of {', '.join(SAMPLERS)}")
    return SAMPLERS[name]
