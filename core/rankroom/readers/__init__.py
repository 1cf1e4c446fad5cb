"""Readers: each turns one kind of file into tables of a workspace, and says exactly what is wrong with it."""
