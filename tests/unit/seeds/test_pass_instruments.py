"""The instrument examples of TVM's design document."""

from __future__ import annotations

from support.passes.toy import Append, Nothing, module

from passline.passmanager import PassContext, PassInfo, Sequential, pass_instrument


@pass_instrument
class Calls:
    """An instrument that notes its calls in the words of the document."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def enter_pass_ctx(self) -> None:
        self.calls.append("EnterPassContext")

    def exit_pass_ctx(self) -> None:
        self.calls.append("ExitPassContext")

    def should_run(self, module: object, info: PassInfo) -> bool:
        self.calls.append(f"ShouldRun({info.name})")
        return True

    def run_before_pass(self, module: object, info: PassInfo) -> None:
        self.calls.append(f"RunBeforePass({info.name})")

    def run_after_pass(self, module: object, info: PassInfo) -> None:
        self.calls.append(f"RunAfterPass({info.name})")

    def get_result(self) -> list[str]:
        return self.calls


def calls_of(name: str) -> list[str]:
    return [f"ShouldRun({name})", f"RunBeforePass({name})", f"RunAfterPass({name})"]


def test_call_sequence_of_an_instrument_within_a_context() -> None:
    pi = Calls()
    with PassContext(instruments=[pi]):  # pyright: ignore[reportArgumentType]
        Nothing()(module())
        Append()(module())
    expected = [*calls_of("toy-nothing"), *calls_of("toy-append")]
    assert pi.calls == ["EnterPassContext", *expected, "ExitPassContext"]


def test_override_instruments_in_the_current_pass_context() -> None:
    pass_inst = Calls()
    cur_pass_ctx = PassContext.current()
    # override PassInstrument instances
    cur_pass_ctx.override_instruments([pass_inst])  # pyright: ignore[reportArgumentType]
    try:
        Sequential([Append()])(module())
        result = pass_inst.get_result()
    finally:
        cur_pass_ctx.override_instruments(None)
    assert result[1:3] == ["ShouldRun(sequential)", "RunBeforePass(sequential)"]
    assert result[3:6] == calls_of("toy-append")
    assert result[-1] == "ExitPassContext"
