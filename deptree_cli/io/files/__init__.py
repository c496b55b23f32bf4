"""Files, standard streams and pipes: opened once, written under their final names only when whole."""
