"""Lines of every command, in the folder of `option_files`, and what each option is given there."""

from __future__ import annotations

PADDED = "padded.npy"  # weights, head-dep, ROOT first: no option is needed, and none says what is so anyway
PLAIN = "scores.npz --from natasha"
LABELLED = f"{PLAIN} --labels labels.json --label-scores label_scores.npz"
FULL, HEADLESS = f"{LABELLED} --conllu deps.conllu", f"{LABELLED} --conllu sentences.conllu"
EIGHTS, THREE = f"{PADDED} --lengths eights.txt", "--conllu three.conllu"
BESIDE = f"--scores {PADDED} --lengths eights.txt"
PAIRS, MODEL = "bitext.npz", "model.npz raw_deps.conllu"

# Lines of each command: some have what an option needs, and some do not.
LINES = {
    "sample": [f"{PADDED} -k 9 --seed 1", f"{FULL} -k 9 --seed 1"],
    "swor": [f"{PADDED} --seed 1", f"{FULL} -k 9 --seed 1"],
    "estimate": ["swor.jsonl"],
    "decode": [
        PADDED,
        FULL,
        f"{FULL} -k 5",
        f"{FULL} --rules ud --rules forbidden.tsv --temperature 9",
        f"{PLAIN} {THREE} --rules impossible.tsv",
    ],
    "marginals": [
        PADDED,
        FULL,
        f"{PLAIN} --format tsv",
        f"{PADDED} --temperature calibrated.json --head-sets",
        f"{FULL} --rules ud --projective --seed 1",
    ],
    "score": [
        f"{PADDED} turned.jsonl --conllu nines.conllu",
        f"{EIGHTS} three.conllu",
        f"{LABELLED} --conllu partial.conllu decoded.conllu --fix-heads",
    ],
    "eval": [
        "gold.conllu decoded.conllu --seed 1",
        f"nines.conllu --scores {PADDED}",
        "gold.conllu decoded.conllu --seed 1 --scores joint.npz --labels joint.json",
    ],
    "measure": [
        "treebank.conllu --seed 1",
        "gold.conllu --per sentence -k 9 --seed 1",
        "gold.conllu nines.conllu --per word",
        "gold.conllu --seed 1 -k 5 --quantity depth --scores scores.npz --from natasha",
        "gold.conllu --seed 1 --quantity mean_length --scores joint.npz --labels joint.json",
    ],
    "doubt": [f"{PADDED} --conllu nines.conllu", f"{PADDED} --rank entropy", FULL, f"{FULL} --rank disagreement"],
    "agree": [
        "gold.conllu decoded.conllu",
        "one.jsonl two.jsonl --test --seed 1",
        f"three.conllu parsed.conllu {BESIDE}",
        f"nines.conllu otherwise.conllu --scores {PADDED}",
        "gold.conllu decoded.conllu --scores joint.npz --labels joint.json",
    ],
    "check": ["broken.conllu", "nines.jsonl --rules tree"],
    "repair": [
        "broken.conllu",
        "broken.conllu --rules few.toml",
        f"nines.conllu --worth 0.1 --scores {PADDED}",
        f"gold.conllu --worth 0.1 --scores {LABELLED}",
        "impossible.conllu --rules misc --relax",
    ],
    "partition": [PADDED, FULL],
    "expect": [
        f"entropy {PADDED}",
        f"entropy {FULL} --grad",
        f"renyi {PLAIN} --order 2",
        f"kl {PADDED} --other second.npy",
        f"risk {PLAIN} --gold gold.conllu",
        f"features {PLAIN} --features features.npz",
        f"ge {PLAIN} --features features.npz --target target.txt",
    ],
    "calibrate": [
        f"{PADDED} --conllu nines.conllu --gold turned.conllu",
        f"{EIGHTS} --gold three.conllu",
        f"{FULL} --gold decoded.conllu",
    ],
    "combine": [
        f"{PADDED} second.npy",
        f"{PADDED} nines.conllu --conllu nines.conllu",
        f"{PADDED} second.npy --gold nines.conllu --fit",
        "rootless.npy rootless.npy",
    ],
    "diff": [
        "gold.conllu decoded.conllu",
        f"nines.conllu otherwise.conllu --scores {PADDED}",
        "gold.conllu decoded.conllu --scores joint.npz --labels joint.json",
        f"gold.conllu decoded.conllu --scores {LABELLED}",
    ],
    "check-bias": [f"{PADDED} -k 200 --seed 1", f"{FULL} -k 200 --seed 1", f"{PLAIN} --samples two.jsonl"],
    "inspect": [PADDED, FULL, f"{PLAIN} --gold gold.conllu"],
    "show": [PADDED, FULL, f"{FULL} -k 3 --seed 1"],
    "report": [
        f"{PADDED} --conllu nines.conllu -o page.html",
        f"{PADDED} -o page.html",
        f"{FULL} --samples two.jsonl -o page.html",
    ],
    "convert": [PADDED, f"{FULL} -o converted.npz", f"{LABELLED} --to-labels names.json", "rootless.npy"],
    "dump": ["natasha paragraphs.txt"],
    "warm": ["inspect"],
    "hpyp train": [
        "few.conllu -o new.npz --iterations 1 --seed 1",
        "few.conllu -o new.npz --iterations 1 --seed 1 --unlabelled raw.conllu",
        "few.conllu -o copy.npz --iterations 3 --seed 1",
        "few.conllu -o foreign.npz --iterations 1 --seed 1",
    ],
    "hpyp parse": [
        f"{MODEL} --particles 20",
        f"{MODEL} --particles 20 -k 2 --seed 1",
        f"{MODEL} --particles 20 --seed 1 --to-scores s.npz",
    ],
    "hpyp surprisal": [f"{MODEL} --particles 20 --seed 1", f"{MODEL} --particles 20 --seed 1 --regions tokens --tsv"],
    "hpyp perplexity": [f"{MODEL} --particles 20 --seed 1"],
    "hpyp generate": ["model.npz -k 3 --seed 1"],
    "bitext align": [PAIRS, f"{PAIRS} --above 0.3", f"{PAIRS} --gold bitext_gold.align"],
    "bitext expectations": [PAIRS],
    "bitext show": [PAIRS],
}
for name, more in {"align": "--above 0.01 --format jsonl", "expectations": "", "show": ""}.items():
    LINES[f"bitext {name}"] += [f"pairs.npy {more}"]
    LINES[f"bitext {name}"] += [
        f"{PAIRS} {more} --method {each}"
        for each in ("randomized --iterations 20 --seed 1", "tic-tac-toe", "rdp --iterations 2 --seed 1")
    ]

# What an option is given, by its name or, where commands differ, behind that of the command.
VALUES: dict[str, str] = {
    "--above": "0.9",
    "--alpha": "0.999",
    "--batch": "2",
    "--beam": "2",
    "--budget": "1",
    "--comment": "text",
    "estimate --quantity": "depth",
    "measure --quantity": "depth",
    "bitext align --above": "0.01",
    "show --above": "0.99",
    "--changes": "changes.tsv",
    "--confidence": "0.5",
    "--conllu": "nines.conllu",
    "--cost": "3:1",
    "--coverage": "0.9",
    "--features": "features.npz",
    "--filters": "3",
    "--from": "dep-head,weight",
    "--gold": "gold.conllu",
    "bitext align --gold": "bitext_gold.align",
    "--iterations": "2",
    "--label-scores": "label_scores.npz",
    "--labels": "labels.json",
    "--lengths": "eights.txt",
    "--like": "treebank.conllu",
    "--longest": "3",
    "--mass": "0.5",
    "bitext align --method": "randomized --iterations 5 --seed 1",
    "bitext expectations --method": "tic-tac-toe",
    "bitext show --method": "tic-tac-toe",
    "decode --method": "mbr",
    "--model": "other.npz",
    "--null-score": "3",
    "--order": "3",
    "--other": "other_scores.npz",
    "--output": "out.jsonl",
    "--particles": "7",
    "--passes": "2",
    "--permutations": "50",
    "--report": "report.json",
    "--resamples": "500",
    "--rules": "forbidden.tsv",
    "check --rules": "tree",
    "repair --rules": "tree",
    "--sampler": "colbourn",
    "swor --sampler": "beam",
    "--samples": "two.jsonl",
    "--rank": "entropy",
    "--score-kind": "log",
    "--scores": "scores.npz",
    "--seconds": "1e-9",
    "--seed": "2",
    "--sent-id-format": "{id}~{k}",
    "--sentence": "2",
    "--shard": "1/2",
    "--size": "4",
    "--space": "multi-root",
    "--states": "2",
    "--target": "target.txt",
    "--temperature": "2",
    "--text": "pairs.txt",
    "--threshold": "0.45",
    "--to": "dep-head,last,log",
    "--to-conllu": "written.conllu",
    "--to-label-scores": "to.npz",
    "--to-labels": "to.json",
    "--to-scores": "t.npz",
    "--top": "1",
    "--unlabelled": "raw.conllu",
    "--weights": "0.25,0.75",
    "--within": "0.5",
    "--words": "20",
    "--worth": "0.1",
}
for name, suffix in {
    "calibrate": "json",
    "repair": "conllu",
    "report": "html",
    "show": "svg",
    "bitext show": "txt",
    "hpyp parse": "conllu",
    "hpyp generate": "conllu",
}.items():
    VALUES[f"{name} --output"] = f"out.{suffix}"


# What an option needs: each line is tried without and with it.
NEEDS = {
    "agree --seed": "--test",
    "marginals --seed": "--rules ud --projective",
    "marginals --head-sets": "--temperature calibrated.json",
    "show --seed": "-k 3",
    "--sent-id-format": "-k 3",
}

# What by its nature changes nothing where nothing is wrong, and why.
NEVER = {
    "--jobs": "the same bytes, by several processes",
    "--on-error": "nothing is wrong with these sentences",
    "--quiet": "there may be nothing to say",
    "dump --batch": "the same bytes, in other steps",
    "dump --input": "what the first bytes say anyway; the other one is tried in test_dump",
    "warm --cpu": "compiles for a minute: tried in test_warm",
    "warm --output": "compiles for a minute: tried in test_warm",
}

# What no line can show here, but that it is refused.
REFUSED = {
    "repair --budget": "a search that ends before a tree is found is an error",
    "dump --model": "natasha has none",
    "dump --to-labels": "natasha has none",
    "dump --to-label-scores": "natasha has none",
}


# Lines, by a part of them, that an option by its nature leaves as they are, and why.
EXCUSED: dict[str, dict[str, str]] = {
    "--seed": {"": "scripts pass it to every command"},
    "--conllu": {"scores.npz": "it confirms the names that these scores have"},
    "bitext align --text": {"bitext.npz": "it confirms the numbers of words that these scores have"},
    "bitext expectations --text": {"bitext.npz": "as bitext align"},
    "combine --space": {"padded.npy": "it lets scores through that have no tree with one root"},
    "combine --multi-root": {"padded.npy": "as --space"},
    "convert --space": {"padded.npy": "as combine", "scores.npz": "as combine"},
    "convert --multi-root": {"padded.npy": "as combine", "scores.npz": "as combine"},
    "decode --budget": {"--rules ud": "the first tree obeys"},
    "decode --relax": {"--rules ud": "the first tree obeys"},
    "decode --method": {"deps.conllu": "both find the same tree"},
    "inspect --gold": {"deps.conllu": "these sentences have the same heads"},
    "hpyp train --force": {"new.npz": "nothing is there yet", "copy.npz": "a model of the same data"},
    "bitext align --method": {"pairs.npy": "of such short pairs nothing is pruned"},
    "hpyp parse --particles": {"raw_deps": "few find the best tree too"},
    "measure --labels": {"joint": "their names are not shown"},
    "measure --space": {"--per word": "it lets trees through that have several roots"},
    "measure --multi-root": {"--per word": "as --space"},
    "measure --projective": {"--per word": "it refuses trees with crossing arcs"},
    "agree --labels": {"joint": "their names are not shown"},
    "diff --labels": {"joint": "both files have the same names"},
    **dict.fromkeys(
        [
            f"repair --{each}"
            for each in ("budget", "cost", "like", "multi-root", "projective", "relax", "rules", "space", "temperature")
        ],
        dict.fromkeys(
            ("broken.conllu", "--worth", "gold.conllu", "impossible.conllu"), "these trees are repaired alike"
        ),
    ),
}
