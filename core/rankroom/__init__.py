"""rankroom: per-query retrieval results in DuckDB, exact metrics, and a dashboard to read them."""

__version__ = "0.1.0"
