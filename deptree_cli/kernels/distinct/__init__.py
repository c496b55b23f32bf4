"""Distinct trees, drawn without replacement: what is left of cells of trees and of derivations, and sets of trees."""
