"""Services on IR that xDSL lacks: parsing with locations, exact printing, verification, dominance,
changes.
"""
