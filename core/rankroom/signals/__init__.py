"""Where the signals of a comparison disagree: rules, each with the queries that cause it and a sentence about them.

`search` tries them on two runs, `stored` keeps what they find as runs are added. Nothing is imported here: most adds
have no use for statistics.
"""
