"""Loops of `tir`: ranges, conditions, dependences, work."""
