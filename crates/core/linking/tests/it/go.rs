use cairn_domain::EdgeKind::Imports;

use crate::support::{check, check_kinds};

const MODULE: (&str, &str) = ("go.mod", "module example.com/app\n\nrequire github.com/x/y v1.0.0\n");

#[test]
fn packages_are_folders() {
    check(
        &[
            MODULE,
            (
                "main.go",
                "package main\n\nimport (\n\t\"example.com/app/store\"\n\tu \"example.com/app/internal/util\"\n\t\"fmt\"\n)\n\nfunc main() {\n\tstart()\n\tstore.Open()\n\tu.Fold()\n\tfmt.Println()\n}\n",
            ),
            ("start.go", "package main\n\nfunc start() {}\n"),
            ("store/store.go", "package store\n\nfunc Open() { connect() }\n"),
            ("store/conn.go", "package store\n\nfunc connect() {}\n"),
            ("internal/util/util.go", "package util\n\nfunc Fold() {}\n"),
            ("other/start.go", "package other\n\nfunc start() {}\n"),
        ],
        &[
            "main.go:10 main CALLS start.go:start exact",
            "main.go:11 main CALLS store/store.go:Open import",
            "main.go:12 main CALLS internal/util/util.go:Fold import",
            "store/store.go:3 Open CALLS store/conn.go:connect exact",
        ],
    );
}

#[test]
fn methods_stand_in_any_file_of_the_package() {
    check(
        &[
            MODULE,
            (
                "a/server.go",
                "package a\n\ntype Server struct {\n\tconn *Conn\n}\n\nfunc (s *Server) Run(handle func()) {\n\ts.accept()\n\ts.conn.Dial()\n\thandle()\n}\n\nfunc handle() {}\n",
            ),
            (
                "a/accept.go",
                "package a\n\nfunc (s *Server) accept() {}\n\ntype Conn struct{}\n\nfunc (c Conn) Dial() {}\n\nfunc use(server *Server) { server.Run(handle) }\n",
            ),
            ("b/other.go", "package b\n\ntype Server struct{}\n\nfunc (s *Server) accept() {}\n"),
        ],
        &[
            "a/accept.go:9 use CALLS a/server.go:Server.Run heuristic",
            "a/server.go:8 Server.Run CALLS a/accept.go:Server.accept exact",
            "a/server.go:9 Server.Run CALLS a/accept.go:Conn.Dial heuristic",
        ],
    );
}

#[test]
fn variants_by_build_tag_are_ambiguous() {
    check(
        &[
            MODULE,
            ("p/open_linux.go", "package p\n\nfunc open() {}\n"),
            ("p/open_windows.go", "package p\n\nfunc open() {}\n"),
            ("p/p.go", "package p\n\nfunc Use() { open() }\n\nfunc Hide() { open := pick(); open() }\n"),
        ],
        &["p/p.go:3 Use CALLS p/open_linux.go:open ambiguous", "p/p.go:3 Use CALLS p/open_windows.go:open ambiguous"],
    );
}

#[test]
fn imports_reach_packages() {
    check_kinds(
        &[
            MODULE,
            (
                "main.go",
                "package main\n\nimport \"example.com/app/store\"\nimport \"github.com/x/y/sub\"\nimport \"net/http\"\n",
            ),
            ("store/a.go", "package store\n"),
            ("store/store.go", "package store\n"),
        ],
        &[Imports],
        &["main.go:3 - IMPORTS store/store.go import", "main.go:4 - IMPORTS go:github.com/x/y import"],
    );
}

#[test]
fn variables_of_the_package_have_the_types_that_they_are_declared_with() {
    let binding = "package app\n\ntype jsonBinding struct{}\n\nfunc (jsonBinding) BindBody() {}\n\nvar JSON jsonBinding = jsonBinding{}\n";
    let context = "package app\n\ntype xmlBinding struct{}\n\nfunc (xmlBinding) BindBody() {}\n\nfunc bind() {\n\tJSON.BindBody()\n}\n";
    check(
        &[("binding.go", binding), ("context.go", context)],
        &[
            "binding.go:7 JSON CALLS binding.go:jsonBinding exact",
            "context.go:8 bind CALLS binding.go:jsonBinding.BindBody heuristic",
        ],
    );
}
