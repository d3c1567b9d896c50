"""Instruments that print, compare, write or record IR."""
