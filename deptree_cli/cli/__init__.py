"""The terminal: the table of commands, shared options, the pipeline of every command, tables and progress."""
