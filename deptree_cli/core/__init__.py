"""The library floor: arrays in, arrays out; no files, no terminal."""
