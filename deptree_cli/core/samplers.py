"""The register of samplers with replacement: an entry each, read by help texts, check-bias and the law tests.

A sampler is a function ``draw(distribution, size, rng) -> heads``, integers of shape (size, n), 0 for ROOT: int32, or
of many trees smaller ones (`core/many_trees.py`). To add one, write it in a file and give it an entry below; another
package names its own by an entry point (`deptree.samplers`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deptree_cli.core.dtypes import Heads, Integers
from deptree_cli.core.errors import DeptreeError, one_of
from deptree_cli.core.register import Register, imported
from deptree_cli.core.spaces import MULTI_ROOT, PROJECTIVE, PROJECTIVE_MULTI, SINGLE_ROOT, SPACES, TreeSpace

if TYPE_CHECKING:
    from deptree_cli.core.arc_factored import ArcFactored

SINGLE, MULTI = SINGLE_ROOT.name, MULTI_ROOT.name
WITHOUT_CROSSING = PROJECTIVE.name, PROJECTIVE_MULTI.name


@dataclass(frozen=True)
class Sampler:
    """An entry of the register.

    Attributes:
        target: the function, or where it is, imported when first used, for kernels take time to load:
            ``package.module:function``.
        exact: whether its trees follow the distribution.
        spaces: the tree spaces that it serves, by name; all, if there are none.
        cost: of k trees of n words; `h` is the mean hitting time of the walk.
        uses: what stands behind it where that is not the name itself, for signatures, by tree space.
        root_probs: of a biased sampler whose trees are exact given their root: its root distribution, a function of a
            distribution, given as `target` is.
    """

    name: str
    target: str | Callable[..., Integers]
    exact: bool
    spaces: tuple[str, ...]
    cost: str
    source: str
    uses: tuple[tuple[str, str], ...] = ()
    root_probs: str | Callable[..., Any] = ""

    def serves(self, space: TreeSpace) -> bool:
        return not self.spaces or space.name in self.spaces

    def draw(self, distribution: ArcFactored, size: int, rng: np.random.Generator) -> Heads:
        """Draw `size` independent trees, (size, n) heads.

        Raises:
            DeptreeError: it does not serve the distribution's tree space.
        """
        return self.draw_small(distribution, size, rng).astype(np.int32, copy=False)

    def draw_small(self, distribution: ArcFactored, size: int, rng: np.random.Generator) -> Integers:
        """The same trees, many of them in smaller integers than int32 if they fit."""
        self.check_serves(distribution.space)
        return imported(self.target, __name__)(distribution, size, rng)

    def bias(self, distribution: ArcFactored) -> float | None:
        """Its total variation distance from the truth in closed form, where there is one.

        Half the L1 distance between its root distribution and the root marginals (Stanojevic 2022, Appendix E, eq. 10).
        """
        if not self.root_probs:
            return None
        difference = imported(self.root_probs, __name__)(distribution) - distribution.root_marginals
        return 0.5 * float(np.abs(difference).sum())

    def check_serves(self, space: TreeSpace) -> None:
        if not self.serves(space):
            changes = min((space.change_to(SPACES.get(other)) for other in self.spaces), key=len)
            remedy = ", or ".join(filter(None, [one_of(names(space)), " and ".join(changes)]))
            problem = f"the sampler {self.name} does not draw {space.trees}"
            raise DeptreeError(problem, remedy[:1].upper() + remedy[1:], options=[*changes.values()])


def from_sums(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Integers:
    """Exact trees, (size, n), from what a space sums up: of ours O(n^3) once, then O(n^2) per tree at worst."""
    return distribution.factorisation.sample(size, rng)


# From this many drawn words on, walks with their tables may pay (python -m benchmarks auto).
WORDS = 3_000


def is_few(n: int, size: int) -> bool:
    """Whether `auto` draws this many non-projective trees of n words by elimination, whatever the scores."""
    return size * n < WORDS


WALKS = "deptree_cli.core.walks"

SAMPLERS: Register[Sampler] = Register(
    "sampler",
    (
        Sampler(
            "auto",
            f"{WALKS}:draw_auto",
            True,
            (),
            "n^3 + k min(h, n^2)",
            "elimination; wilson-marginal or wilson for many trees if walks are short; eisner for projective trees",
            uses=(
                (SINGLE, "elimination+wilson-marginal"),
                (MULTI, "elimination+wilson"),
                *((name, "eisner") for name in WITHOUT_CROSSING),
            ),
        ),
        Sampler("elimination", from_sums, True, (SINGLE, MULTI), "n^3 + k n^2", "this project"),
        Sampler("wilson-marginal", f"{WALKS}:draw_marginal", True, (SINGLE,), "n^3 + k h", "Stanojevic 2022, Alg. 3"),
        Sampler("wilson-reject", f"{WALKS}:draw_reject", True, (SINGLE,), "k h Z_T/Z_D", "Stanojevic 2022, Alg. 4"),
        Sampler("colbourn", f"{WALKS}:draw_colbourn", True, (SINGLE, MULTI), "k n^3", "Zmigrod et al. 2021a, Fig. 5"),
        Sampler("wilson", f"{WALKS}:draw_spanning", True, (MULTI,), "k h", "Wilson 1996"),
        Sampler(
            "wilson-rc",
            f"{WALKS}:draw_root_corrected",
            False,
            (SINGLE,),
            "k h",
            "Zmigrod et al. 2021a, Fig. 3",
            root_probs=f"{WALKS}:local_root_probs",
        ),
        Sampler("eisner", from_sums, True, WITHOUT_CROSSING, "n^3 + k n^2", "Eisner 1996, from the top down"),
    ),
    "deptree.samplers",
)


def names(space: TreeSpace) -> list[str]:
    return [sampler.name for sampler in SAMPLERS if sampler.serves(space)]
