use cairn_domain::EdgeKind::{Imports, References};

use crate::support::{check, check_kinds};

const MANIFEST: (&str, &str) = ("Cargo.toml", "[package]\nname = \"my-app\"\n[dependencies]\nserde = \"1\"\n");

#[test]
fn paths_follow_the_tree_of_modules() {
    check(
        &[
            MANIFEST,
            (
                "src/lib.rs",
                "mod net;\npub mod util;\npub use util::fold;\nfn start() { net::connect(); util::deep::dive(); fold(); }\n",
            ),
            (
                "src/net.rs",
                "use crate::util::{self, fold as f};\npub fn connect() { f(); util::fold(); super::util::fold(); crate::fold(); }\n",
            ),
            ("src/util/mod.rs", "pub mod deep;\npub fn fold() {}\n"),
            ("src/util/deep.rs", "use super::*;\npub fn dive() { fold(); self::inner(); }\nfn inner() {}\n"),
            ("tests/api.rs", "use my_app::util::fold;\n#[test]\nfn works() { fold(); my_app::fold(); }\n"),
        ],
        &[
            "src/lib.rs:4 start CALLS src/net.rs:connect exact",
            "src/lib.rs:4 start CALLS src/util/deep.rs:dive exact",
            "src/lib.rs:4 start CALLS src/util/mod.rs:fold import",
            "src/net.rs:2 connect CALLS src/util/mod.rs:fold exact",
            "src/net.rs:2 connect CALLS src/util/mod.rs:fold import",
            "src/net.rs:2 connect CALLS src/util/mod.rs:fold import",
            "src/net.rs:2 connect CALLS src/util/mod.rs:fold import",
            "src/util/deep.rs:2 dive CALLS src/util/deep.rs:inner exact",
            "src/util/deep.rs:2 dive CALLS src/util/mod.rs:fold import",
            "tests/api.rs:3 works CALLS src/util/mod.rs:fold import",
            "tests/api.rs:3 works CALLS src/util/mod.rs:fold import",
        ],
    );
}

#[test]
fn methods_of_types_and_traits() {
    let text = "\
pub struct Client { inner: Inner }
struct Inner;
trait Greet { fn greet(&self) { self.name_it(); } fn name_it(&self); }

impl Client {
    pub fn new() -> Self { Self { inner: Inner } }
    pub fn run(&self) { self.step(); Self::helper(); self.inner.poke(); self.greet(); }
    fn step(&self) {}
    fn helper() {}
}
impl Inner { fn poke(&self) {} }
impl Greet for Client { fn name_it(&self) {} }

fn free(client: &Client) { Client::new(); client.run(); }
";
    check(
        &[MANIFEST, ("src/lib.rs", text)],
        &[
            "src/lib.rs:3 Greet.greet CALLS src/lib.rs:Greet.name_it exact",
            "src/lib.rs:6 Client.new CALLS src/lib.rs:Client exact",
            "src/lib.rs:7 Client.run CALLS src/lib.rs:Client.helper exact",
            "src/lib.rs:7 Client.run CALLS src/lib.rs:Client.step exact",
            "src/lib.rs:7 Client.run CALLS src/lib.rs:Greet.greet exact",
            "src/lib.rs:7 Client.run CALLS src/lib.rs:Inner.poke heuristic",
            "src/lib.rs:12 Client IMPLEMENTS src/lib.rs:Greet exact",
            "src/lib.rs:14 free CALLS src/lib.rs:Client.new exact",
            "src/lib.rs:14 free CALLS src/lib.rs:Client.run heuristic",
        ],
    );
}

#[test]
fn inline_modules_see_nothing_of_the_file_unless_they_import_it() {
    let text = "\
fn outer() {}
mod closed { fn go() { outer(); } }
mod tests { use super::*; fn go() { outer(); helper(); } fn helper() {} }
";
    check(
        &[("src/lib.rs", text)],
        &[
            "src/lib.rs:3 tests.go CALLS src/lib.rs:outer import",
            "src/lib.rs:3 tests.go CALLS src/lib.rs:tests.helper exact",
        ],
    );
}

#[test]
fn closures_and_patterns_hide_functions() {
    let text = "\
fn parse() {}
fn by_parameter(parse: impl Fn()) { parse(); }
fn by_let() { let parse = pick(); parse(); }
fn by_pattern(x: Option<F>) { if let Some(parse) = x { parse(); } }
fn by_closure() { each(|parse| parse()); }
fn free() { parse(); }
";
    check(&[("src/lib.rs", text)], &["src/lib.rs:6 free CALLS src/lib.rs:parse exact"]);
}

#[test]
fn crates_of_the_workspace_and_outside() {
    check_kinds(
        &[
            (
                "a/Cargo.toml",
                "[package]\nname = \"crate-a\"\n[dependencies]\ncrate-b = { path = \"../b\" }\nserde = \"1\"\n",
            ),
            (
                "a/src/main.rs",
                "use crate_b::Thing;\nuse serde::Serialize;\nuse std::fmt;\nuse unknown::x;\nfn main() {}\n",
            ),
            ("b/Cargo.toml", "[package]\nname = \"crate-b\"\n"),
            ("b/src/lib.rs", "mod thing;\npub use thing::Thing;\n"),
            ("b/src/thing.rs", "pub struct Thing;\n"),
        ],
        &[Imports, References],
        &[
            "a/src/main.rs:1 - IMPORTS b/src/lib.rs import",
            "a/src/main.rs:1 - IMPORTS b/src/thing.rs import",
            "a/src/main.rs:1 - IMPORTS b/src/thing.rs:Thing import",
            "a/src/main.rs:2 - IMPORTS cargo:serde import",
            "b/src/lib.rs:2 - IMPORTS b/src/thing.rs import",
            "b/src/lib.rs:2 - IMPORTS b/src/thing.rs:Thing import",
        ],
    );
}

#[test]
fn macros_are_seen_across_files_in_the_order_of_the_text() {
    let library = "#[macro_use]\nmod macros;\nmod run;\n";
    let macros =
        "macro_rules! checked {\n    (@inner ($e:expr)) => { $e };\n    ($e:expr) => { checked!(@inner ($e)) };\n}\n";
    let run = "fn run() {\n    checked!(1);\n}\n";
    check(
        &[("src/lib.rs", library), ("src/macros.rs", macros), ("src/run.rs", run)],
        &[
            "src/macros.rs:3 checked CALLS src/macros.rs:checked exact",
            "src/run.rs:2 run CALLS src/macros.rs:checked heuristic",
        ],
    );
}

#[test]
fn a_type_from_outside_has_methods_of_its_own() {
    let kill = "use std::process::Child;\n\ntrait Kill {\n    fn kill(&mut self);\n}\n\nimpl Kill for Child {\n    fn kill(&mut self) {\n        self.kill()\n    }\n}\n";
    check(
        &[("src/lib.rs", kill)],
        &[
            "src/lib.rs:7 - IMPLEMENTS src/lib.rs:Kill exact",
            "src/lib.rs:9 Child.kill CALLS src/lib.rs:Child.kill heuristic",
        ],
    );
}
