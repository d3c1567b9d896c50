"""Operations whose parameters are operands and not properties (Relay's `dyn` dialect)."""
