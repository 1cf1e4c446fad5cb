"""What the pages are made of: questions to the store, charts, tables, filters and words."""
