"""Rules about parts of the queries that the mean of all hides."""

from __future__ import annotations

import numpy as np

from rankroom.config_changes import config_changes, one_change
from rankroom.counted import count
from rankroom.signals import words
from rankroom.signals.claims import Tested, opposed, risen
from rankroom.signals.finding import Said, Sure
from rankroom.signals.pair import Pair, Slice
from rankroom.signals.stored import DEV
from rankroom.verdict_words import VERDICTS


def overall_up_slice_down(pair: Pair) -> Said | None:
    """The mean rises, and a slice falls behind its back."""
    if not (pair.tests["ndcg"].difference or 0.0) > 0:
        return None
    clear = [(sure, one) for one in pair.slices if (sure := _sure(pair, one.of, -1))]
    if not clear:
        return None
    sure = max(how for how, _ in clear)
    fell = sorted((one for how, one in clear if how == sure), key=lambda one: one.of.difference or 0.0)
    overall, worst, compared = pair.at_k["ndcg"], fell[0], pair.full(fell[0].of)
    member = np.logical_or.reduce([one.member for one in fell])
    losers = pair.scores.by_size("ndcg", -1, member)
    others = f", and so did {words.listed([_called(one) for one in fell[1:]])}" if len(fell) > 1 else ""
    unclear = "" if risen(overall, pair.limits) is Sure.YES else f" ({VERDICTS[overall.verdict]})"
    return Said(
        sure,
        f"over all {overall.n:,} queries {words.moved(words.name('ndcg', pair.k), overall)}{unclear}, but in"
        f" {_called(worst)} (n = {worst.of.n:,}) it {words.by(compared)}: {compared.losses:,} of its queries"
        f" lost and {compared.wins:,} won{others}",
        {
            **words.numbers("ndcg", overall),
            **words.numbers("slice", compared),
            "slices_down": len(fell),
            "slices_looked_at": len(pair.slices),
        },
        losers,
        worst.of.n,
    )


def config_interaction(pair: Pair) -> Said | None:
    """What changed helps in one slice of a dimension and hurts in another."""
    best: tuple[Sure, Slice, Slice] | None = None
    for dimension in dict.fromkeys(one.dimension for one in pair.slices):
        of = [one for one in pair.slices if one.dimension == dimension]
        up, down = _clearest(pair, of, 1), _clearest(pair, of, -1)
        if up is None or down is None:
            continue
        sure = min(up[0], down[0])
        if best is None or sure > best[0]:
            best = (sure, up[1], down[1])
    if best is None:
        return None
    sure, helped, hurt = best
    gain, loss = pair.full(helped.of), pair.full(hurt.of)
    return Said(
        sure,
        f"{words.moved(words.name('ndcg', pair.k), gain)} in {_called(helped)} (n = {gain.n:,}) and"
        f" {words.by(loss)} in {_called(hurt)} (n = {loss.n:,}): {_settings(pair)}",
        {**words.numbers("helped", gain), **words.numbers("hurt", loss)},
        pair.scores.by_size("ndcg", -1, hurt.member),
        gain.n + loss.n,
    )


def _settings(pair: Pair) -> str:
    """What changed, as far as the runs say it, and whether this can be credited to it."""
    changes = config_changes(pair.con, pair.base, pair.cand)
    names = words.listed([one.setting for one in changes])
    if (why := one_change(pair.con, pair.base, pair.cand, changes)) is None:
        return f"the only setting that changed is {names}"
    return f"{why} ({names})" if changes else why


def must_pass_broken(pair: Pair) -> Said | None:
    """A must-pass query had a hit and has none now."""
    before, after = pair.scores.of("hit")
    must = np.isin(np.array(pair.scores.query_ids, dtype=object), list(pair.about.must_pass))
    broken = pair.scores.where(must & (before == 1) & (after == 0))
    if not broken:
        return None
    mended = int((must & (before == 0) & (after == 1)).sum())
    failing = int((must & (after == 0)).sum())
    have = "has" if len(broken) == 1 else "have"
    return Said(
        Sure.YES,
        f"{len(broken):,} of {count(int(must.sum()), 'must-pass query', 'must-pass queries')} had a relevant"
        f" document in the first {pair.k} and {have} none now: {words.listed(broken, 5)};"
        f" {mended:,} had none and {'has' if mended == 1 else 'have'} one now; {failing:,} in all have none",
        {"broken": len(broken), "mended": mended, "failing": failing, "must_pass": int(must.sum())},
        broken,
        int(must.sum()),
    )


def dev_up_heldout_down(pair: Pair) -> Said | None:
    """The queries that were tuned on gained, those kept aside lost."""
    splits = np.array([pair.about.splits.get(one) for one in pair.scores.query_ids], dtype=object)
    others = sorted({one for one in splits if one not in (None, DEV)})
    members = {one: splits == one for one in (DEV, *others)}
    tests = dict(zip(members, pair.parts("ndcg", list(members.values())), strict=True))
    dev_test = tests.pop(DEV)
    found = [(opposed(dev_test, one, pair.limits), name) for name, one in tests.items()]
    sure, name = max(found, default=(Sure.NO, ""))
    if not sure:
        return None
    dev, held = pair.full(dev_test), pair.full(tests[name])
    return Said(
        sure,
        f"{words.moved(words.name('ndcg', pair.k), dev)} on dev (n = {dev.n:,}) and {words.by(held)} on"
        f" {name} (n = {held.n:,}): there {held.losses:,} queries lost and {held.wins:,} won",
        {**words.numbers("dev", dev), **words.numbers("heldout", held)},
        pair.scores.by_size("ndcg", -1, members[name]),
        dev.n + held.n,
    )


def _sure(pair: Pair, one: Tested, sign: int) -> Sure:
    """How sure it is that a part of the queries moved this way."""
    if (one.difference or 0.0) * sign <= 0 or one.p_holm is None:
        return Sure.NO
    if one.p_holm < pair.limits.alpha:
        return Sure.YES
    return Sure.POSSIBLE if one.p_holm < pair.limits.signals.possible_p else Sure.NO


def _clearest(pair: Pair, slices: list[Slice], sign: int) -> tuple[Sure, Slice] | None:
    sure = [(how, one) for one in slices if (how := _sure(pair, one.of, sign))]
    return max(sure, key=lambda pair: (pair[0], abs(pair[1].of.difference or 0.0)), default=None)


def _called(one: Slice) -> str:
    return f"{one.dimension} {one.value}"
