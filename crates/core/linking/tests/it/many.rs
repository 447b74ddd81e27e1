//! Tests repositories with very many definitions of one name. In these repositories, the linker remembers the
//! results of lookups and shares them between files. The edges must be the same as without remembered
//! results.

use cairn_domain::EdgeKind;

use crate::support::{Parsed, lines, link_parsed};

/// The `CALLS` edges of a repository, as lines.
fn calls(files: &[(String, String)]) -> Vec<String> {
    let parsed: Vec<Parsed> = files.iter().map(|(path, text)| Parsed::new(path, text)).collect();
    lines(&link_parsed(&parsed), &[EdgeKind::Calls])
}

fn file(path: &str, text: &str) -> (String, String) {
    (path.to_owned(), text.to_owned())
}

#[test]
fn call_links_to_the_overload_by_argument_count() {
    let list = |count: usize, item: &str| vec![item; count].join(", ");
    let method = |count| {
        let parameters: Vec<String> = (0..count).map(|number| format!("int a{number}")).collect();
        format!("    void m({}) {{ m({}); }}\n", parameters.join(", "), list(count + 1, "1"))
    };
    for num_methods in [3, 20] {
        let text = format!("class A {{\n{}}}\n", (0..num_methods).map(method).collect::<String>());
        let linked = link_parsed(&[Parsed::new("A.java", &text)]);
        let calls = linked.edges.iter().filter(|edge| edge.kind == EdgeKind::Calls);
        let mut targets: Vec<_> = calls.map(|edge| edge.target).collect();
        targets.dedup();
        assert_eq!(targets.len(), num_methods - 1, "of {num_methods}");
    }
}

#[test]
fn private_function_is_visible_in_its_file_only() {
    let own = |number| {
        let text = format!("local function status() return 0 end\nfunction g{number}() return status() end\n");
        (format!("f{number:02}.lua"), text)
    };
    for num_files in [2, 40] {
        let mut files: Vec<(String, String)> = (0..num_files).map(own).collect();
        files.push(file("public.lua", "function status() return 1 end"));
        files.push(file("user.lua", "function use() return status() end"));
        files.push(file("zuser.lua", "function use_too() return status() end"));
        let expect =
            (0..num_files).map(|number| format!("f{number:02}.lua:2 g{number} CALLS f{number:02}.lua:status exact"));
        let users = [
            "user.lua:1 use CALLS public.lua:status heuristic".to_owned(),
            "zuser.lua:1 use_too CALLS public.lua:status heuristic".to_owned(),
        ];
        assert_eq!(calls(&files), expect.chain(users).collect::<Vec<_>>(), "{num_files} files");
    }
}

#[test]
fn call_on_unknown_object_links_only_to_rare_methods() {
    let class = |number| (format!("c{number}.py"), format!("class C{number}:\n  def render_it(self): pass\n"));
    let mut files: Vec<(String, String)> = (0..5).map(class).collect();
    files.push(file("user.py", "def run(x):\n  x.render_it()"));
    assert_eq!(calls(&files).len(), 5);
    files.extend((5..40).map(class));
    assert_eq!(calls(&files), [] as [String; 0]);
}

#[test]
fn names_with_thousands_of_parts_are_resolved() {
    let base = format!("B{}", "\n .a".repeat(100_000));
    let text = format!("class B: pass\nclass A({base}): pass\n");
    let linked = link_parsed(&[Parsed::new("a.py", &text)]);
    let kinds = [EdgeKind::Calls, EdgeKind::Extends, EdgeKind::Implements];
    assert_eq!(lines(&linked, &kinds), [] as [String; 0]);
    let namespace = format!("A{}", ".B".repeat(4_000));
    let text = format!(
        "namespace {namespace} {{ class C {{ void M() {{ D.N(); }} }} class D {{ public static void N() {{ }} }} }}"
    );
    let linked = link_parsed(&[Parsed::new("a.cs", &text)]);
    assert_eq!(lines(&linked, &kinds), ["a.cs:1 C.M CALLS a.cs:D.N exact"]);
}
