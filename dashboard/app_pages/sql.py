"""Any question that no page answers, in SQL: what there is, a place to ask, and what came of it."""

import streamlit as st
from panels import sql_chart_choice, sql_dictionary, sql_editor, sql_examples, sql_result
from panels.store_access import reading
from rankroom.sandbox import StatementError

with reading() as store:
    stamp = store.stamp
    names = sql_examples.names_of(store)
    readable = sql_dictionary.readable(store.rows(sql_dictionary.OBJECTS))
    with st.sidebar:
        sql_dictionary.show(store)

st.title("SQL", anchor=False)
sql_editor.show(names, readable)
shown = sql_editor.run_if_wanted()
if shown is None:
    st.caption("Nothing was asked yet.")
elif isinstance(shown.outcome, StatementError):
    sql_result.show_error(shown, shown.outcome)
else:
    sql_result.show_rows(shown, shown.outcome, stamp)
    sql_chart_choice.show(shown.outcome.table)
