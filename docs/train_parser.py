"""Train a small biaffine parser (Dozat and Manning 2017) in three ways, and count the heads that it gets right.

    python docs/train_parser.py sample_data/treebank.conllu

It needs PyTorch (`pip install 'deptree-cli[torch]'`) and takes about 15 seconds. The parser is ordinary; what deptree
brings are the losses, and the trees that are counted at the end.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import conllu
import torch
from torch import Tensor, nn

from deptree_cli.torch import TreeDistribution, losses

WIDTH = 64
EPOCHS = 12
BATCH = 16
HELD_OUT = 4  # every fourth sentence


class Batch(NamedTuple):
    """Padded sentences: words and tags (B, N) by number, ROOT first; heads (B, N), -1 where there is none."""

    words: Tensor
    tags: Tensor
    heads: Tensor
    lengths: Tensor


class Parser(nn.Module):
    """Words and tags in, log-scores of arcs (B, N, N) out, [head, dependent]."""

    def __init__(self, words: int, tags: int) -> None:
        super().__init__()
        self.words, self.tags = nn.Embedding(words, WIDTH), nn.Embedding(tags, WIDTH)
        self.context = nn.LSTM(2 * WIDTH, WIDTH, batch_first=True, bidirectional=True)
        self.as_head, self.as_dependent = nn.Linear(2 * WIDTH, WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.arc = nn.Parameter(torch.zeros(WIDTH + 1, WIDTH))

    def forward(self, batch: Batch) -> Tensor:
        embedded = torch.cat((self.words(batch.words), self.tags(batch.tags)), -1)
        packed = nn.utils.rnn.pack_padded_sequence(embedded, batch.lengths + 1, batch_first=True, enforce_sorted=False)
        states, _ = nn.utils.rnn.pad_packed_sequence(self.context(packed)[0], batch_first=True)
        head, dependent = torch.tanh(self.as_head(states)), torch.tanh(self.as_dependent(states))
        one = torch.ones_like(head[..., :1])
        return torch.cat((head, one), -1) @ self.arc @ dependent.mT


def of_full_trees(log_scores: Tensor, batch: Batch) -> Tensor:
    """Every head is known."""
    return losses.negative_log_likelihood(log_scores, batch.heads, batch.lengths)


def of_half_the_heads(log_scores: Tensor, batch: Batch) -> Tensor:
    """Every second head is unknown: the others are what is made probable."""
    unknown = torch.arange(batch.heads.shape[1]) % 2 == 0
    return losses.partial_annotation_loss(log_scores, batch.heads.masked_fill(unknown, -1), batch.lengths)


def of_risk(log_scores: Tensor, batch: Batch) -> Tensor:
    """The share of wrong heads that a tree drawn from the parser is expected to have."""
    return losses.minimum_risk_loss(log_scores, batch.heads, batch.lengths)


Loss = Callable[[Tensor, Batch], Tensor]

# Risk has many local minima, so it comes second (Smith and Eisner 2006).
# Its steps are smaller: large ones would undo what the parser has learnt.
WAYS: dict[str, tuple[Loss, ...]] = {
    "full trees": (of_full_trees,),
    "half of the heads": (of_half_the_heads,),
    "full trees, then minimum risk": (of_full_trees, of_risk),
}


def read(path: Path) -> list[conllu.TokenList]:
    """The sentences of a treebank, basic words only."""
    sentences = conllu.parse(path.read_text(encoding="utf-8"))
    return [conllu.TokenList([token for token in each if isinstance(token["id"], int)]) for each in sentences]


def numbered(sentences: list[conllu.TokenList], field: str) -> dict[str, int]:
    """A number from 2 on for each value of a field; 0 is ROOT (and padding), 1 what was never seen."""
    return {value: 2 + i for i, value in enumerate(sorted({token[field] for each in sentences for token in each}))}


def batches(sentences: list[conllu.TokenList], words: dict[str, int], tags: dict[str, int]) -> Iterator[Batch]:
    """Sentences as tensors, `BATCH` at a time."""
    for start in range(0, len(sentences), BATCH):
        chosen = sentences[start : start + BATCH]

        def padded(of_token: Callable[[conllu.Token], int], root: int, chosen: list = chosen) -> Tensor:
            rows = [torch.tensor([root, *map(of_token, each)]) for each in chosen]
            return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=root)

        yield Batch(
            padded(lambda token: words.get(token["form"], 1), 0),
            padded(lambda token: tags.get(token["upos"], 1), 0),
            padded(lambda token: token["head"], -1),
            torch.tensor([len(each) for each in chosen]),
        )


def train(parser: Parser, data: list[Batch], loss: Loss) -> None:
    """Minimise a loss over the batches, `EPOCHS` times."""
    optimiser = torch.optim.Adam(parser.parameters(), lr=1e-3 if loss is of_risk else 5e-3)
    for _ in range(EPOCHS):
        for batch in data:
            optimiser.zero_grad()
            loss(parser(batch), batch).backward()
            optimiser.step()


@torch.no_grad()
def attachment(parser: Parser, data: list[Batch]) -> float:
    """The share of words with the right head, in the tree with the highest expected share."""
    right = total = 0
    for batch in data:
        found = TreeDistribution(parser(batch), batch.lengths).mbr
        words = batch.heads >= 0
        right += int((found == batch.heads)[words].sum())
        total += int(words.sum())
    return right / total


def main(path: str) -> None:
    """Print the share of right heads on sentences held out, before training and after each way of it."""
    torch.set_num_threads(1)  # for so small a network more threads take longer
    sentences = read(Path(path))
    seen = [each for i, each in enumerate(sentences) if i % HELD_OUT]
    unseen = sentences[::HELD_OUT]
    vocabularies = numbered(seen, "form"), numbered(seen, "upos")
    data, held_out = list(batches(seen, *vocabularies)), list(batches(unseen, *vocabularies))
    for name, losses_in_turn in WAYS.items():
        torch.manual_seed(7)
        parser = Parser(*(len(vocabulary) + 2 for vocabulary in vocabularies))
        found = [attachment(parser, held_out)]
        for loss in losses_in_turn:
            train(parser, data, loss)
            found.append(attachment(parser, held_out))
        print(f"{name}: {' -> '.join(f'{each:.3f}' for each in found)}")


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_file():
        sys.exit("Give one treebank: python docs/train_parser.py sample_data/treebank.conllu")
    main(sys.argv[1])
