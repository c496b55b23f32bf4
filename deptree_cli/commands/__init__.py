"""The top floor: a file per subcommand; read, map over sentences, write. No mathematics."""
