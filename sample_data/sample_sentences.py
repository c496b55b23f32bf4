"""The sentences of this folder with their trees, invented for this project."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """A gold tree in brief, and the other heads that a reader might have chosen.

    `table` has a line per word or multiword token: ID FORM LEMMA UPOS FEATS HEAD DEPREL MISC.
    `margin` is the gold logit minus the logit of the other head; negative where the parser prefers the other reading.
    """

    sent_id: str
    comments: tuple[str, ...]
    table: str
    other_heads: dict[int, int]
    margin: float

    @property
    def rows(self) -> list[list[str]]:
        return [line.split() for line in self.table.strip().splitlines()]

    @property
    def words(self) -> list[list[str]]:
        return [row for row in self.rows if row[0].isdigit()]

    @property
    def heads(self) -> list[int]:
        return [int(row[5]) for row in self.words]


SAMPLES = [
    Sample(
        "en-1",
        ("text = She saw the man with the telescope.", "Who has the telescope?"),
        """
        1  She        she        PRON   Case=Nom|Number=Sing|Person=3|PronType=Prs  2  nsubj  _
        2  saw        see        VERB   Mood=Ind|Tense=Past|VerbForm=Fin            0  root   _
        3  the        the        DET    Definite=Def|PronType=Art                   4  det    _
        4  man        man        NOUN   Number=Sing                                 2  obj    _
        5  with       with       ADP    _                                           7  case   _
        6  the        the        DET    Definite=Def|PronType=Art                   7  det    _
        7  telescope  telescope  NOUN   Number=Sing                                 2  obl    Also=head=4|SpaceAfter=No
        8  .          .          PUNCT  _                                           2  punct  _
        """,
        other_heads={7: 4},
        margin=0.625,
    ),
    Sample(
        "en-2",
        ("text = I don't like eating fish outdoors.",),
        """
        1    I         I         PRON   Case=Nom|Number=Sing|Person=1|PronType=Prs  4  nsubj   _
        2-3  don't     _         _      _                                           _  _       _
        2    do        do        AUX    Mood=Ind|VerbForm=Fin                       4  aux     _
        3    n't       not       PART   Polarity=Neg                                4  advmod  _
        4    like      like      VERB   VerbForm=Inf                                0  root    _
        5    eating    eat       VERB   VerbForm=Ger                                4  xcomp   _
        6    fish      fish      NOUN   Number=Sing                                 5  obj     _
        7    outdoors  outdoors  ADV    _                                           5  advmod  SpaceAfter=No
        8    .         .         PUNCT  _                                           4  punct   _
        """,
        other_heads={7: 4},
        margin=1.125,
    ),
    Sample(
        "en-3",
        ("text = Friends of Anna who sang came early.",),
        """
        1  Friends  friend  NOUN   Number=Plur                       6  nsubj      _
        2  of       of      ADP    _                                 3  case       _
        3  Anna     Anna    PROPN  Number=Sing                       1  nmod       _
        4  who      who     PRON   PronType=Rel                      5  nsubj      _
        5  sang     sing    VERB   Mood=Ind|Tense=Past|VerbForm=Fin  1  acl:relcl  _
        6  came     come    VERB   Mood=Ind|Tense=Past|VerbForm=Fin  0  root       _
        7  early    early   ADV    _                                 6  advmod     SpaceAfter=No
        8  .        .       PUNCT  _                                 6  punct      _
        """,
        other_heads={5: 3},
        margin=0.25,
    ),
    Sample(
        "en-4",
        ("text = Plants flower.",),
        """
        1  Plants  plant   NOUN   Number=Plur            2  nsubj  _
        2  flower  flower  VERB   Mood=Ind|VerbForm=Fin  0  root   SpaceAfter=No
        3  .       .       PUNCT  _                      2  punct  _
        """,
        other_heads={1: 0, 2: 1, 3: 1},
        margin=0.5,
    ),
    Sample(
        "cs-1",
        ("text = Spěchám, abych stihla vlak do Brna.", "text_en = I am hurrying to catch the train to Brno."),
        """
        1    Spěchám  spěchat   VERB   Mood=Ind|Number=Sing|Person=1|VerbForm=Fin  0  root   SpaceAfter=No
        2    ,        ,         PUNCT  _                                           5  punct  _
        3-4  abych    _         _      _                                           _  _      _
        3    aby      aby       SCONJ  _                                           5  mark   _
        4    bych     být       AUX    Mood=Cnd|Number=Sing|Person=1|VerbForm=Fin  5  aux    _
        5    stihla   stihnout  VERB   Gender=Fem|Number=Sing|VerbForm=Part        1  advcl  _
        6    vlak     vlak      NOUN   Case=Acc|Number=Sing                        5  obj    _
        7    do       do        ADP    _                                           8  case   _
        8    Brna     Brno      PROPN  Case=Gen|Number=Sing                        6  nmod   SpaceAfter=No
        9    .        .         PUNCT  _                                           1  punct  _
        """,
        other_heads={8: 5},
        margin=-0.375,
    ),
    Sample(
        "cs-2",
        ("text = Jana slíbila zavolat večer.", "text_en = Jana promised to call in the evening."),
        """
        1  Jana     Jana     PROPN  Case=Nom|Gender=Fem|Number=Sing       2  nsubj   _
        2  slíbila  slíbit   VERB   Gender=Fem|Number=Sing|VerbForm=Part  0  root    _
        3  zavolat  zavolat  VERB   VerbForm=Inf                          2  xcomp   _
        4  večer    večer    ADV    _                                     3  advmod  SpaceAfter=No
        5  .        .        PUNCT  _                                     2  punct   _
        """,
        other_heads={4: 2},
        margin=0.875,
    ),
    Sample(
        "ru-1",
        ("text = Мы встретили друга брата из Москвы.", "text_en = We met our brother's friend from Moscow."),
        """
        1  Мы         мы         PRON   Case=Nom|Number=Plur|Person=1|PronType=Prs    2  nsubj  _
        2  встретили  встретить  VERB   Mood=Ind|Number=Plur|Tense=Past|VerbForm=Fin  0  root   _
        3  друга      друг       NOUN   Case=Acc|Number=Sing                          2  obj    _
        4  брата      брат       NOUN   Case=Gen|Number=Sing                          3  nmod   _
        5  из         из         ADP    _                                             6  case   _
        6  Москвы     Москва     PROPN  Case=Gen|Number=Sing                          3  nmod   SpaceAfter=No
        7  .          .          PUNCT  _                                             2  punct  _
        """,
        other_heads={6: 4},
        margin=0.125,
    ),
    Sample(
        "ru-2",
        ("text = Студент читал статью с интересом.", "text_en = The student was reading the article with interest."),
        """
        1  Студент    студент  NOUN   Case=Nom|Number=Sing                          2  nsubj  _
        2  читал      читать   VERB   Mood=Ind|Number=Sing|Tense=Past|VerbForm=Fin  0  root   _
        3  статью     статья   NOUN   Case=Acc|Number=Sing                          2  obj    _
        4  с          с        ADP    _                                             5  case   _
        5  интересом  интерес  NOUN   Case=Ins|Number=Sing                          2  obl    SpaceAfter=No
        6  .          .        PUNCT  _                                             2  punct  _
        """,
        other_heads={5: 3},
        margin=1.5,
    ),
]
