class GlobItem:
    pattern: str

class Command:
    args: list[str | GlobItem]
    redirects: list[tuple[tuple[str] | tuple[str, int], str | GlobItem]]
    def __init__(
        self,
        args: list[str | GlobItem],
        redirects: list[tuple[tuple[str] | tuple[str, int], str | GlobItem]],
    ) -> None: ...

class Pipeline:
    commands: list[Command]
    negate: bool
    pipe_err: bool

class Seq:
    lhs: Seq | Pipeline
    op: str
    rhs: Seq | Pipeline
