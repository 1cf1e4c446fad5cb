"""The dashboard of rankroom: `rankroom serve` runs it over one store, named by RANKROOM_STORE."""

import logging
from contextlib import ExitStack
from pathlib import Path

import duckdb
import streamlit as st
from panels import data_scope, empty_states, freshness, links, sidebar
from panels.store_access import reading
from rankroom.errors import StoreUnavailable

st.set_page_config(page_title="rankroom", page_icon=str(Path(__file__).with_name("icon.svg")), layout="wide")

st.logo(
    str(Path(__file__).with_name("logo.svg")),
    icon_image=str(Path(__file__).with_name("icon.svg")),
    size="medium",
)

page = st.navigation(
    [
        st.Page(
            "app_pages/runs.py",
            title="Runs",
            icon=":material/leaderboard:",
            default=True,
            help="Every run at one cutoff: means with n, the k-curve, first relevant ranks.",
        ),
        st.Page(
            "app_pages/compare.py",
            title="Compare",
            icon=":material/compare_arrows:",
            help="A candidate run against a baseline: better, where, for whom, at what cost; can we tell?",
        ),
        st.Page(
            "app_pages/signals.py",
            title="Signals",
            icon=":material/call_split:",
            help="Where the signals of two runs disagree, which queries cause it, and what to look at next.",
        ),
        st.Page(
            "app_pages/slices.py",
            title="Slices",
            icon=":material/grid_on:",
            help="Runs by category, language, or whatever else tells queries apart; the worst slices first.",
        ),
        st.Page(
            "app_pages/failures.py",
            title="Failures",
            icon=":material/troubleshoot:",
            help="The failing queries of one run, by cause; each opens to show its evidence.",
        ),
        st.Page(
            "app_pages/labels.py",
            title="Labels",
            icon=":material/rule:",
            help="Labels that may be at fault, by the verdicts that hang on them; labels that are disputed.",
        ),
        st.Page(
            "app_pages/data.py",
            title="Data",
            icon=":material/database:",
            help="Queries, labels and documents: what there is, what changed, what is missing; adding files.",
        ),
        st.Page(
            "app_pages/sql.py",
            title="SQL",
            icon=":material/terminal:",
            help="Any other question: the views and macros, worked examples, a result, a chart, a link.",
        ),
        st.Page("app_pages/query.py", title="Query", icon=":material/manage_search:", visibility="hidden"),
    ]
)

# Pages that write nothing into the store, and run nobody's statements.
ONLY_READ = ("Runs", "Compare", "Signals", "Slices", "Failures", "Labels")

links.begin()
try:
    with ExitStack() as held:
        store = held.enter_context(reading())
        stamp = store.stamp
        state = empty_states.state_of(store)
        on_data = page.title == "Data"  # it has its own filters, and stands where there is no run yet
        on_sql = page.title == "SQL" and state != empty_states.MISSING  # its filters are in the statement
        if on_data:
            filters = data_scope.choose(store) if state != empty_states.MISSING else None
        else:
            filters = sidebar.choose(store, page.title) if state is None and not on_sql else None
        if page.title not in ONLY_READ:
            held.close()  # the others keep it: to open it again costs as much as several questions
        freshness.watch(stamp)
        if filters is None and not on_data and not on_sql:
            empty_states.show(state)
        else:
            st.session_state["filters"] = filters
            page.run()
except StoreUnavailable as error:
    empty_states.unavailable(str(error))
    freshness.retry()
except duckdb.Error as error:
    logging.getLogger("rankroom.dashboard").exception("a statement of the dashboard failed")
    empty_states.unavailable(f"A statement of this page failed: {error}")
