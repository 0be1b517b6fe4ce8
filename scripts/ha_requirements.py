"""Prints the PyPI requirements of Home Assistant integrations and of all they depend on.

Home Assistant installs them itself at run time; tests run without that. Run with the Python that
has homeassistant installed. It decides nothing about versions: the manifests pin them.
"""

import argparse
import ast
from importlib.util import find_spec
import json
from pathlib import Path
import re


def always_loaded(root: Path) -> list[str]:
    """Return the domains that a Home Assistant sets up unasked: its defaults and entity platforms."""
    platforms = (root / "generated" / "entity_platforms.py").read_text(encoding="utf-8")
    domains = re.findall(r' = "(\w+)"', platforms)
    for node in ast.walk(ast.parse((root / "bootstrap.py").read_text(encoding="utf-8"))):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                continue
        if name in ("CORE_INTEGRATIONS", "DEFAULT_INTEGRATIONS"):
            domains += [
                leaf.value
                for leaf in ast.walk(value)
                if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str)
            ]
    return domains


def requirements(root: Path, domains: list[str]) -> list[str]:
    """Return the sorted requirements of the domains and of their dependencies, to any depth."""
    found: set[str] = set()
    seen: set[str] = set()
    while domains:
        domain = domains.pop()
        manifest_file = root / "components" / domain / "manifest.json"
        if domain in seen or not manifest_file.is_file():
            continue
        seen.add(domain)
        manifest = json.loads(manifest_file.read_text(encoding="utf-8"))
        found.update(manifest.get("requirements", []))
        domains += manifest.get("dependencies", [])
    return sorted(found)


def main() -> None:
    """Print one requirement a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("domains", nargs="+", metavar="DOMAIN")
    parser.add_argument(
        "--defaults", action="store_true", help="add what Home Assistant sets up unasked"
    )
    args = parser.parse_args()
    spec = find_spec("homeassistant")
    if spec is None or spec.origin is None:
        parser.error("homeassistant is not installed here")
    root = Path(spec.origin).parent
    print(
        "\n".join(requirements(root, args.domains + (always_loaded(root) if args.defaults else [])))
    )


if __name__ == "__main__":
    main()
