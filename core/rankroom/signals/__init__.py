"""Where the signals of a comparison disagree: rules, each with a sentence and the queries that cause it.

`search` tries them on two runs, `stored` keeps what they find as runs are added. Nothing is imported here:
most adds have no use for statistics.
"""
