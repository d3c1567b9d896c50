"""The dialects of Passline; `passes.UNIVERSE` has their factories."""
