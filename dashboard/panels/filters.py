"""Which runs, queries and labels a page is about, and how a statement says so."""

from __future__ import annotations

from dataclasses import dataclass

from panels.question import Value
from panels.words import count

ALL = "all"
NONE = "(none)"
"""A query that does not say its category or language."""


@dataclass(frozen=True)
class Filters:
    """The filters in force. Every one has a value: those that do not narrow anything are empty or ALL."""

    data: str
    label_set: str
    query_set: str
    is_current: bool = True
    k: int = 5
    stage: str = "final"
    split: str = ALL
    left_aside: int = 0
    category: tuple[str, ...] = ()
    language: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    must_pass: str = ""
    attributes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    runs: tuple[str, ...] = ()
    run_tag: tuple[str, ...] = ()
    settings: tuple[tuple[str, tuple[str, ...]], ...] = ()
    order: str = "ndcg"
    run: str = ""
    cause: tuple[str, ...] = ()
    against: str = ""
    was: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    has_notes: bool = False
    noted: tuple[str, ...] = ()

    def values(self, **more: Value) -> dict[str, Value]:
        """What the `$names` of a statement stand for."""
        return {
            "label_set": self.label_set,
            "query_set": self.query_set,
            "k": self.k,
            "stage": self.stage,
            "split": self.split,
            "category": self.category,
            "language": self.language,
            "tag": self.tag,
            "runs": self.runs,
            "run_tag": self.run_tag,
            "run": self.run,
            "cause": self.cause,
            "against": self.against,
            "was": self.was,
            "lost": self.lost,
            "noted": self.noted,
            **_numbered("attribute", self.attributes),
            **_numbered("setting", self.settings),
            **more,
        }

    @property
    def by_query(self) -> bool:
        """Whether queries are chosen by more than their split, for which the store keeps no summary."""
        return bool(self.category or self.language or self.tag or self.must_pass or self.attributes)

    def view(self, name: str) -> str:
        """The public view that holds this stage and label set: the plain one wherever it does."""
        return name if self.is_current and self.stage == "final" else f"{name}_all"

    def scope(self, alias: str, at_k: bool = True) -> str:
        """The condition on rows of a scores or summary view."""
        parts = [f"{alias}.label_set = $label_set"]
        if not (self.is_current and self.stage == "final"):
            parts.append(f"{alias}.stage = $stage")
        if at_k:
            parts.append(f"{alias}.k = $k")
        return " and ".join([*parts, *self.run_conditions(alias)])

    @property
    def by_run(self) -> bool:
        """Whether some runs are chosen, by name or by what they are."""
        return bool(self.runs or self.run_tag or self.settings)

    def run_conditions(self, alias: str) -> list[str]:
        """The conditions that leave only rows of the chosen runs."""
        parts = []
        if self.runs:
            parts.append(f"list_contains($runs, {alias}.run)")
        if self.run_tag:
            parts.append(
                f"{alias}.run in (select runs.run from runs where list_has_any(runs.tags, $run_tag))"
            )
        for at in range(1, len(self.settings) + 1):
            parts.append(
                f"{alias}.run in (select runs.run from runs left join run_config\n"
                f"        on run_config.run = runs.run and run_config.setting = $setting_{at}\n"
                f"        where list_contains($setting_{at}_values, coalesce(run_config.value, '{NONE}')))"
            )
        return parts

    def query_ids(self) -> str:
        """The ids of the chosen queries, for the macros that take a choice of queries."""
        conditions = ["queries.query_set = $query_set", *self.query_conditions()]
        return f"array(select query_id from queries where {' and '.join(conditions)})"

    def query_conditions(self) -> list[str]:
        """The conditions on rows of `queries`."""
        parts = []
        if self.split != ALL:
            parts.append("queries.split = $split")
        if self.category:
            parts.append(f"list_contains($category, coalesce(queries.category, '{NONE}'))")
        if self.language:
            parts.append(f"list_contains($language, coalesce(queries.language, '{NONE}'))")
        if self.tag:
            parts.append("list_has_any(queries.tags, $tag)")
        if self.must_pass:
            parts.append("queries.must_pass" if self.must_pass == "true" else "not queries.must_pass")
        for at in range(1, len(self.attributes) + 1):
            value = f"coalesce(queries.attributes[$attribute_{at}], '{NONE}')"
            parts.append(f"list_contains($attribute_{at}_values, {value})")
        return parts

    def join_queries(self, alias: str) -> str:
        """The join that leaves only the chosen queries; nothing where all are."""
        conditions = self.query_conditions()
        if not conditions:
            return ""
        return (
            f"join queries on queries.query_set = $query_set and queries.query_id = {alias}.query_id\n"
            f"     and {' and '.join(conditions)}"
        )

    def facts(self) -> list[tuple[str, object]]:
        """The filters in force, for the top of a page: names and values."""
        labels = self.label_set if self.is_current else f"{self.label_set} (not the current ones)"
        found: list[tuple[str, object]] = [("data", self.data), ("labels", labels), ("k", self.k)]
        if self.stage != "final":
            found.append(("stage", self.stage))
        found.append(("split", self.split))
        if self.left_aside:
            found.append(("left aside", f"{count(self.left_aside, 'query', 'queries')} of other splits"))
        for name in ("category", "language", "tag"):
            if chosen := getattr(self, name):
                found.append((name, " or ".join(chosen)))
        if self.must_pass:
            found.append(("must pass", "yes" if self.must_pass == "true" else "no"))
        found += [(name, " or ".join(chosen)) for name, chosen in self.attributes]
        if self.runs:
            found.append(("chosen runs", len(self.runs)))
        if self.run_tag:
            found.append(("runs tagged", " or ".join(self.run_tag)))
        found += [(f"runs with {name}", " or ".join(chosen)) for name, chosen in self.settings]
        return found


def _numbered(kind: str, chosen: tuple[tuple[str, tuple[str, ...]], ...]) -> dict[str, Value]:
    """Names from data and their chosen values, as parameters with a number instead of the name."""
    return {
        **{f"{kind}_{at}": name for at, (name, _) in enumerate(chosen, 1)},
        **{f"{kind}_{at}_values": values for at, (_, values) in enumerate(chosen, 1)},
    }
