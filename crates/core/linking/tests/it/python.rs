use crate::support::{check, check_kinds};
use cairn_domain::EdgeKind::{Imports, References};

#[test]
fn names_are_found_from_the_inside_out() {
    let app = "\
from util import helper as h, Thing
import pkg.mod

def outer():
    def inner():
        return leaf()
    inner()
    h(1)
    pkg.mod.run_it()
    pkg.mod.Deep.make()

def leaf():
    return Thing()
";
    let util = "def helper(x):\n    return len(x)\n\nclass Thing:\n    pass\n";
    let module = "def run_it():\n    pass\n\nclass Deep:\n    @staticmethod\n    def make():\n        pass\n";
    check(
        &[("app.py", app), ("util.py", util), ("pkg/__init__.py", ""), ("pkg/mod.py", module)],
        &[
            "app.py:6 outer.inner CALLS app.py:leaf exact",
            "app.py:7 outer CALLS app.py:outer.inner exact",
            "app.py:8 outer CALLS util.py:helper import",
            "app.py:9 outer CALLS pkg/mod.py:run_it import",
            "app.py:10 outer CALLS pkg/mod.py:Deep.make import",
            "app.py:13 leaf CALLS util.py:Thing import",
        ],
    );
}

#[test]
fn methods_come_from_the_class_then_from_its_bases() {
    let base = "class Base:\n    def shared(self):\n        self.hook()\n    def hook(self):\n        pass\n";
    let app = "\
from .base import Base
import external

class Child(Base):
    def hook(self):
        super().hook()
        self.shared()
        self.own()
        self.missing_here()
    def own(self):
        pass

class Open(external.Thing, Base):
    def go(self):
        self.shared()
        self.go()
";
    check(
        &[("p/__init__.py", ""), ("p/base.py", base), ("p/app.py", app)],
        &[
            "p/base.py:3 Base.shared CALLS p/base.py:Base.hook exact",
            "p/app.py:4 Child EXTENDS p/base.py:Base import",
            "p/app.py:6 Child.hook CALLS p/base.py:Base.hook import",
            "p/app.py:7 Child.hook CALLS p/base.py:Base.shared import",
            "p/app.py:8 Child.hook CALLS p/app.py:Child.own exact",
            "p/app.py:13 Open EXTENDS p/base.py:Base import",
            "p/app.py:15 Open.go CALLS p/base.py:Base.shared heuristic",
            "p/app.py:16 Open.go CALLS p/app.py:Open.go exact",
        ],
    );
}

#[test]
fn receivers_of_evident_type() {
    let app = "\
from client import Client

class Service:
    def __init__(self, backend: Client):
        self.client = Client()
    def run(self, other: Client, mystery):
        self.client.fetch_rows()
        local = Client()
        local.fetch_rows()
        other.fetch_rows()
        mystery.fetch_rows()
        mystery.get()
";
    let client = "class Client:\n    def fetch_rows(self):\n        pass\n    def get(self):\n        pass\n";
    check(
        &[("app.py", app), ("client.py", client)],
        &[
            "app.py:5 Service.__init__ CALLS client.py:Client import",
            "app.py:7 Service.run CALLS client.py:Client.fetch_rows heuristic",
            "app.py:8 Service.run CALLS client.py:Client import",
            "app.py:9 Service.run CALLS client.py:Client.fetch_rows heuristic",
            "app.py:10 Service.run CALLS client.py:Client.fetch_rows heuristic",
            "app.py:11 Service.run CALLS client.py:Client.fetch_rows heuristic",
        ],
    );
}

#[test]
fn what_depends_on_a_condition_is_never_exact() {
    let app = "\
try:
    from fast import dumps
except ImportError:
    def dumps(x):
        return x

if True:
    def pick():
        return 1
else:
    def pick():
        return 2

def use():
    dumps(1)
    pick()
";
    check(
        &[("app.py", app), ("fast.py", "def dumps(x):\n    pass\n")],
        &[
            "app.py:15 use CALLS app.py:dumps ambiguous",
            "app.py:15 use CALLS fast.py:dumps ambiguous",
            "app.py:16 use CALLS app.py:pick ambiguous",
            "app.py:16 use CALLS app.py:pick ambiguous",
        ],
    );
}

#[test]
fn re_exports_wildcards_and_relative_levels() {
    check(
        &[
            ("src/lib/__init__.py", "from .core import build_all\nfrom .extra import *\n"),
            ("src/lib/core.py", "def build_all():\n    pass\n"),
            ("src/lib/extra.py", "from ..shared.text import fold_text\ndef extra_one():\n    fold_text()\n"),
            ("src/shared/text.py", "def fold_text():\n    pass\n"),
            (
                "src/main.py",
                "from lib import build_all, extra_one\nimport lib\nbuild_all()\nextra_one()\nlib.build_all()\n",
            ),
        ],
        &[
            "src/lib/extra.py:3 extra_one CALLS src/shared/text.py:fold_text import",
            "src/main.py:3 - CALLS src/lib/core.py:build_all import",
            "src/main.py:4 - CALLS src/lib/extra.py:extra_one import",
            "src/main.py:5 - CALLS src/lib/core.py:build_all import",
        ],
    );
}

#[test]
fn imports_reach_files_symbols_and_packages() {
    check_kinds(
        &[
            ("pyproject.toml", "[project]\nname = \"app\"\ndependencies = [\"PyYAML\", \"requests\"]\n"),
            ("app/__init__.py", ""),
            (
                "app/a.py",
                "import os\nimport yaml\nfrom requests import get\nfrom app.b import thing\nfrom . import b\n",
            ),
            ("app/b.py", "def thing():\n    pass\n"),
            ("json.py", ""),
            ("app/c.py", "import unknown.sub\n"),
        ],
        &[Imports],
        &[
            "app/a.py:2 - IMPORTS pypi:pyyaml import",
            "app/a.py:3 - IMPORTS pypi:requests import",
            "app/a.py:4 - IMPORTS app/b.py import",
            "app/a.py:4 - IMPORTS app/b.py:thing import",
            "app/a.py:5 - IMPORTS app/__init__.py import",
            "app/a.py:5 - IMPORTS app/b.py import",
        ],
    );
}

#[test]
fn values_types_and_decorators_are_references() {
    let app = "\
def deco(f):
    return f

class Model:
    pass

@deco
def go(m: Model):
    register(go)
    try:
        pass
    except Model:
        pass

def register(f):
    pass
";
    check_kinds(
        &[("app.py", app)],
        &[References],
        &[
            "app.py:7 go REFERENCES app.py:deco exact",
            "app.py:8 go REFERENCES app.py:Model exact",
            "app.py:12 go REFERENCES app.py:Model exact",
        ],
    );
}
#[test]
fn parameters_and_locals_hide_functions() {
    let app = "\
def parse(x):
    return x

def by_parameter(parse):
    return parse(1)

def by_assignment():
    parse = choose()
    return parse(1)

def by_loop(items):
    for parse in items:
        parse(1)

def free():
    return parse(1)
";
    check(&[("app.py", app)], &["app.py:16 free CALLS app.py:parse exact"]);
}

#[test]
fn a_package_imports_its_own_submodules() {
    let app = "import pkg\n\ndef run():\n    pkg.utils.rewind()\n";
    check(
        &[("pkg/__init__.py", "from . import utils\n"), ("pkg/utils.py", "def rewind():\n    pass\n"), ("app.py", app)],
        &["app.py:4 run CALLS pkg/utils.py:rewind import"],
    );
}

#[test]
fn a_method_that_hands_its_name_on_does_not_mean_itself() {
    let drop = "class Drop:\n    def render_theme(self):\n        return self.site.render_theme()\n";
    check(&[("drop.py", drop)], &[]);
}
