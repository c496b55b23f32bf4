"""Sentence pairs: scores of links, words of both sentences, and links in the Pharaoh format."""
