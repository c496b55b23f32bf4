"""HanLP 2: its biaffine dependency parser by itself (a multi-task model has another interface)."""

from __future__ import annotations

from typing import Any

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.parsers import Scores, Word


def load(model: str) -> Hanlp:
    """A model of `hanlp.pretrained.dep` by name, which HanLP downloads if it must, or by folder."""
    import hanlp
    from hanlp.components.parsers.biaffine.biaffine_dep import BiaffineDependencyParser
    from hanlp_common.constant import IDX

    parser = hanlp.load(model)
    # Of its own heirs, one is for graphs and others add losses; none keeps to these scores.
    if type(parser) is not BiaffineDependencyParser:
        raise DeptreeError(f"{model} is not a BiaffineDependencyParser", "Choose a model of hanlp.pretrained.dep")
    return Hanlp(parser, IDX)


class Hanlp:
    """An `Adapter`; `index`: the key under which a batch says which sentences it holds."""

    def __init__(self, parser: Any, index: str) -> None:
        if parser.use_pos:
            problem = "this model needs tags, which HanLP does not pass to it"
            raise DeptreeError(problem, "Choose a model that reads words only")
        self._parser = parser
        self._index = index
        parser.model.requires_grad_(False).eval()
        self.labels: list[str] = list(parser.vocabs["rel"].idx_to_token)

    def scores(self, batch: list[list[Word]], labelled: bool) -> list[Scores]:
        """Logits (n+1, n+1), and (n+1, n+1, L)."""
        parser = self._parser
        samples = parser.build_samples([[word.form for word in words] for words in batch])
        options = {**parser.config, "batch_size": len(batch), "batch_max_tokens": None}
        found: dict[int, Scores] = {}
        for given in parser.build_dataloader(samples, device=parser.devices[0], shuffle=False, **options):
            arcs, labels, *_ = parser.feed_batch(given)
            for row, number in enumerate(map(int, given[self._index])):
                size = len(batch[number]) + 1
                part = labels[row, :size, :size].cpu().numpy() if labelled else None
                found[number] = arcs[row, :size, :size].cpu().numpy(), part
        return [found[number] for number in range(len(batch))]
