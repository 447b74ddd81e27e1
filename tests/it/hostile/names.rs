//! Texts that a grammar parses easily, but that attack later stages. The texts contain thousands of related
//! definitions, references, imports and classes.

use std::fmt::Write;

use super::shapes::{numbered, repeated};

/// Files with their names and texts. Each text has about `size` bytes. In each line, `{}` is replaced with
/// the number of the line.
pub(super) fn names(size: usize) -> Vec<(&'static str, String)> {
    let half = size / 2;
    let many = |line: &str| numbered(line, size);
    let halves = |first: &str, second: &str| numbered(first, half) + &numbered(second, half);
    let within = |open: &str, line: &str, close: &str| format!("{open}{}{close}", numbered(line, size));
    let dotted = |open: &str, close: &str| format!("{open}{}{close}", repeated(".a\n", 50, size));
    vec![
        // Files that use one name for everything.
        ("one-function.py", many("def f(): f()\n")),
        ("one-class.py", many("class A:\n  def m(self): self.m()\n")),
        ("one-class.cpp", many("class A { void m() { m(); } };\n")),
        ("one-class.rb", many("class A; def m; m; self.m; end; end\n")),
        ("one-class.swift", many("class A { func m() { m() } }\n")),
        ("one-class.cs", many("partial class A { void M() { M(); } }\n")),
        ("one-class.ts", many("class A { m() { this.m() } }\n")),
        ("one-type.go", within("package p\ntype A struct{}\n", "func (a *A) M() { a.M() }\n", "")),
        ("one-method-outside.cpp", many("void A::m() { m(); n(); }\n")),
        ("one-method-of-many.cpp", many("void A{}::m() { m(); n(); }\n")),
        ("one-macro.rs", halves("macro_rules! send { () => { } }\n", "fn f() { send!(); }\n")),
        ("called-on-others.py", many("class A:\n  def send(self): x.send()\n")),
        // Overloads.
        ("overloads.java", within("class A {\n", "void m(B{} b) { m(b); }\n", "}\n")),
        ("overloads-of-one-type.kt", many("fun f(a: Int) { f(1) }\n")),
        (
            "overloads-declared.cpp",
            format!(
                "class A {{\n{}}};\n{}",
                numbered("void m(A{} a);\n", half),
                numbered("void A::m(A{} a) { m(a); }\n", half)
            ),
        ),
        ("constructors.java", within("class A {\n", "A(int b) { new A(1); }\n", "}\n")),
        // Variables.
        ("variables.py", within("class B:\n  def x(self): pass\ndef g():\n", "  f = B()\n  f.x()\n", "")),
        (
            "variables.java",
            within("class B { void x() {} }\nclass A { void m() {\n", "B f = new B(); f.x();\n", "}}\n"),
        ),
        (
            "declarators.java",
            format!("class A {{\n{}int\n{}z; }}\n", repeated("@B\n", 50, half), numbered("a{},\n", half)),
        ),
        (
            "commented-declarators.c",
            format!("{}int\n{}z;\n", repeated("// words of a comment\n", 50, half), numbered("a{},\n", half)),
        ),
        ("parameters.ts", many("function f{}<T>(a: T): T { const b: T = g<T>(a); return b }\n")),
        // Imports.
        ("imports-of-one-name.py", within("def g():\n", "  from m{} import a\n  a()\n", "")),
        ("imports-of-all.py", many("from m{} import *\nf{}()\n")),
        ("imports-of-all.rs", many("use crate::m{}::*;\nfn f{}() { g() }\n")),
        ("imports-of-all.java", halves("import a.b{}.*;\n", "class D{} extends C{} { void m() { n(); } }\n")),
        ("imports-of-all.cs", halves("using A{};\n", "class C{} : D { void M() { E(); } }\n")),
        ("imports-of-files.rb", many("require 'a{}'\nA{}.b\n")),
        ("imports-of-files.sh", many(". ./a{}.sh\nf{}\n")),
        (
            "exports-of-itself.js",
            many("export * from './exports-of-itself'\nimport { q } from './exports-of-itself'\nq()\n"),
        ),
        (
            "exports-listed.hs",
            format!("module M (\n{} g) where\n{}", numbered(" f{},\n", half), numbered("f{} = 1\n", half)),
        ),
        ("one-statement.rs", within("use a::{\n", " b{}::{c, d},\n", "};\n")),
        // Hierarchies.
        ("own-base.py", many("class A(A):\n  def m(self): self.q()\n")),
        ("cycle-of-bases.py", many("class A{}(A1, A2):\n  def m(self): self.q()\n")),
        (
            "many-interfaces.java",
            format!(
                "class A implements\n{}J {{\n{}}}\n",
                numbered("I{},\n", half),
                numbered("void m{}() { q{}(); }\n", half)
            ),
        ),
        // Long names.
        ("base-of-many-parts.py", dotted("class A(a\n", "): pass\n")),
        ("chain-of-many-parts.py", dotted("x = (a\n", ".b())\n")),
        (
            "namespace-of-many-parts.cs",
            format!(
                "namespace {}B {{\n{}}}\n",
                "A.".repeat(6_000),
                numbered("class C{} : D { void M() { E{}.F(); } }\n", size)
            ),
        ),
        ("nested-long-names.py", nested_long_names(size)),
        ("long-imported-names.py", long_imported_names(size)),
        // Scopes.
        ("namespaces.php", within("<?php\n", "namespace A{} { class B extends C { function m() { D::n(); } } }\n", "")),
        ("nested-modules.rb", format!("{}{}", numbered("class A{}\n", half), repeated("def f; g; h; end\n", 1, half))),
        ("lines-of-calls.ts", repeated("!function(e){function r(i){return r(i+1)}e.b=r}(a);", 18, size)),
        // Shapes.
        ("alike-classes.ts", many("class A{} {a(){ }b(){ }c(){ }d(){ }e(){ }f(){ }g(){ }h(){ }x{}(){ }}\n")),
        // Documents.
        ("sections.md", many("# h{}\n\ntext `f{}` and `a/b{}.py`\n")),
        ("setext.md", repeated("a\n=\n", 50, size)),
    ]
}

/// Nested classes with long names. The full name of each member would contain all these names.
fn nested_long_names(size: usize) -> String {
    let long = "N".repeat(size / 60);
    let mut text = String::new();
    for depth in 0..30 {
        let _ = writeln!(text, "{}class {long}{depth}:", " ".repeat(depth));
    }
    text + &numbered(&format!("{}def m{{}}(self): pass\n", " ".repeat(30)), size / 2)
}

/// Imports of long names that every chunk uses.
fn long_imported_names(size: usize) -> String {
    let long = "n".repeat(size / 70);
    let imports: String = (0..24).map(|number| format!("import {long}{number} as q{number}\n")).collect();
    let uses: String = (0..24).map(|number| format!("q{number}()\n")).collect();
    imports + &repeated(&uses, 1, size / 2)
}
