"""Which run is best at k, by how much, and over which queries."""

import streamlit as st
from panels import (
    chart_style,
    costs,
    first_ranks,
    k_curve,
    leaderboard,
    leaderboard_table,
    legend,
    run_notes,
    targets,
    trend,
    words,
)
from panels.layout import answer, heading, panel_title, show_sql
from panels.sidebar import current, reset_filters
from panels.store_access import reading

filters = current()
board_question = leaderboard.question(filters, costs=True)
trend_question = trend.question(filters)
curve_question = k_curve.question(filters)
rescore_question = run_notes.to_rescore(filters)
with reading() as store:
    board = store.table(board_question)
    rows = board.to_pylist()
    drawn = [str(row["run"]) for row in rows if row["n"]]
    drawn = drawn[: chart_style.MOST_RUNS if filters.runs else 5]
    curve = store.table(curve_question)
    ranks_question = first_ranks.question(filters, drawn)
    ranks = store.table(ranks_question)
    behind = store.column(rescore_question)
    history = store.table(trend_question)

n = words.count(rows[0]["n"], "labelled, answerable query", "labelled, answerable queries") if rows else ""
heading("Runs", filters, n or "no queries")
run_notes.name_unscored(behind, filters)

if not drawn:
    answer(leaderboard.sentence(rows, filters))
    st.button("Clear the filters", icon=":material/filter_alt_off:", on_click=reset_filters)
    if not rows:
        show_sql(board_question)
        st.stop()
else:
    answer(leaderboard.sentence(rows, filters))
    st.caption(
        "A ranking of means: it does not test whether a difference is more than chance."
        if len(rows) > 1
        else "One run: there is nothing to rank it against yet."
    )

with st.container(horizontal=True, vertical_alignment="center"):
    chosen_targets = targets.choose(filters.k)
    if drawn:
        for target in chosen_targets:
            st.markdown(target.sentence(rows, filters.k), width="content")
        if note := targets.note(chosen_targets):
            st.caption(note, width="content")
leaderboard_table.show(board, chosen_targets, filters)
show_sql(board_question)

metric = words.metric(filters.order, filters.k)
if drawn and len(rows) > 1:
    dated = trend.dated(history)
    if len(dated) > 1:
        panel_title(f"{metric} over time")
        names = trend.series_of(dated)
        legend.show_series(names, others=len(set(dated.column("series").to_pylist())) - len(names))
        st.altair_chart(trend.chart(dated, metric), alt=trend.alt_text(dated, metric))
    for note in trend.notes(history.to_pylist(), filters.label_set):
        st.caption(note)
    if len(dated) > 1:
        show_sql(trend_question)

if drawn:
    panel_title("How deep the evidence lies")
    legend.show_runs(drawn, others=len(rows) - len(drawn))
    with st.grid(3, min_column_width=280):
        for name in k_curve.METRICS:
            st.altair_chart(
                k_curve.chart(curve, name, drawn, filters.k), alt=k_curve.alt_text(curve, name, drawn)
            )
    show_sql(curve_question)

    panel_title("Where the first relevant document stands")
    st.caption("MRR is one number for this whole shape.")
    legend.show_fills(first_ranks.fills(ranks), "rank of the first relevant document:")
    st.altair_chart(first_ranks.chart(ranks, drawn), alt=first_ranks.alt_text(ranks, drawn))
    first_ranks.show_table(ranks, drawn)
    show_sql(ranks_question)

    measured = [cost for cost in costs.TITLES if len(costs.recorded(board, cost, filters.order))]
    if measured:
        panel_title("What it costs")
        st.caption(costs.note(rows))
        legend.show_runs(drawn, others=len(rows) - len(drawn))
        with st.grid(2, min_column_width=360):
            for cost in measured:
                st.altair_chart(
                    costs.chart(board, cost, filters.order, metric, drawn),
                    alt=costs.alt_text(board, cost, filters.order, metric),
                )
        show_sql(board_question)
