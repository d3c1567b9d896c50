class LitConfig:
    params: dict[str, str]
    def __init__(
        self,
        progname: str,
        path: list[str],
        useValgrind: bool,
        valgrindLeakCheck: bool,
        valgrindArgs: list[str],
        noExecute: bool,
        debug: bool,
        isWindows: bool,
        order: str,
        params: dict[str, str],
        **by_release: object,
    ) -> None: ...
    def note(self, message: str) -> None: ...
