"""The digest of all files from which k8s/ is generated."""
import hashlib
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGEST = ROOT / "k8s/sources.sha256"


def digest() -> str:
    paths = [path for path in sorted((ROOT / "helm/cairn").rglob("*")) if path.is_file()]
    paths += sorted((ROOT / "k8s").glob("*/values.yaml"))
    paths += [ROOT / "tests/kubernetes/manifests"]
    whole = hashlib.sha256()
    for path in paths:
        whole.update(f"{path.relative_to(ROOT)}\n{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()
