"""Rules that trees obey, as files and as entries of MISC."""
