use cairn_domain::EdgeKind::{Imports, References};

use crate::support::{check, check_kinds};

const CLIENT: (&str, &str) = (
    "src/main/java/org/acme/net/Client.java",
    "package org.acme.net;\n\npublic class Client extends Base {\n  public static Client create() { return new Client(); }\n  public void send(String text) {}\n  public void send(String text, int times) {}\n  void close() { flush(); helper(1); }\n  private void helper(int x) {}\n}\n",
);
const BASE: (&str, &str) =
    ("src/main/java/org/acme/net/Base.java", "package org.acme.net;\n\nclass Base {\n  protected void flush() {}\n}\n");

#[test]
fn packages_imports_and_static_calls() {
    let app = "package org.acme.app;\n\nimport org.acme.net.Client;\nimport static org.acme.util.Text.fold;\nimport org.acme.util.*;\n\npublic class App {\n  private final Client client = new Client();\n  void run() {\n    Client.create();\n    client.send(\"a\", 2);\n    fold();\n    Text.trim();\n    new Neighbour();\n    System.exit(0);\n  }\n}\n";
    check(
        &[
            CLIENT,
            BASE,
            ("src/main/java/org/acme/app/App.java", app),
            ("src/main/java/org/acme/app/Neighbour.java", "package org.acme.app;\nclass Neighbour {}\n"),
            (
                "src/main/java/org/acme/util/Text.java",
                "package org.acme.util;\npublic class Text {\n  public static void fold() {}\n  public static void trim() {}\n}\n",
            ),
        ],
        &[
            "src/main/java/org/acme/app/App.java:8 App.client CALLS src/main/java/org/acme/net/Client.java:Client import",
            "src/main/java/org/acme/app/App.java:10 App.run CALLS src/main/java/org/acme/net/Client.java:Client.create import",
            "src/main/java/org/acme/app/App.java:11 App.run CALLS src/main/java/org/acme/net/Client.java:Client.send heuristic",
            "src/main/java/org/acme/app/App.java:12 App.run CALLS src/main/java/org/acme/util/Text.java:Text.fold import",
            "src/main/java/org/acme/app/App.java:13 App.run CALLS src/main/java/org/acme/util/Text.java:Text.trim import",
            "src/main/java/org/acme/app/App.java:14 App.run CALLS src/main/java/org/acme/app/Neighbour.java:Neighbour exact",
            "src/main/java/org/acme/net/Client.java:3 Client EXTENDS src/main/java/org/acme/net/Base.java:Base exact",
            "src/main/java/org/acme/net/Client.java:4 Client.create CALLS src/main/java/org/acme/net/Client.java:Client exact",
            "src/main/java/org/acme/net/Client.java:7 Client.close CALLS src/main/java/org/acme/net/Base.java:Base.flush exact",
            "src/main/java/org/acme/net/Client.java:7 Client.close CALLS src/main/java/org/acme/net/Client.java:Client.helper exact",
        ],
    );
}

#[test]
fn overloads_and_open_bases_are_never_exact() {
    let app = "package a;\n\nclass App extends framework.Base {\n  void run() { go(1); go(1, 2); outside(); only(); }\n  void go(int x) {}\n  void go(int x, int y) {}\n  void go(String x) {}\n  void only() {}\n  class Inner extends framework.Other {\n    void inner() { only(); }\n  }\n}\n";
    check(
        &[("a/App.java", app)],
        &[
            "a/App.java:4 App.run CALLS a/App.java:App.go ambiguous",
            "a/App.java:4 App.run CALLS a/App.java:App.go ambiguous",
            "a/App.java:4 App.run CALLS a/App.java:App.go heuristic",
            "a/App.java:4 App.run CALLS a/App.java:App.only exact",
            "a/App.java:10 App.Inner.inner CALLS a/App.java:App.only heuristic",
        ],
    );
}

#[test]
fn imports_and_types() {
    check_kinds(
        &[
            (
                "pom.xml",
                "<project><groupId>org.acme</groupId><artifactId>x</artifactId><dependencies><dependency><groupId>com.google.guava</groupId><artifactId>guava</artifactId></dependency></dependencies></project>",
            ),
            CLIENT,
            BASE,
            (
                "src/main/java/org/acme/app/Use.java",
                "package org.acme.app;\n\nimport org.acme.net.Client;\nimport java.util.List;\nimport com.google.guava.Thing;\n\nclass Use {\n  void go(Client client) {}\n}\n",
            ),
        ],
        &[Imports, References],
        &[
            "src/main/java/org/acme/app/Use.java:3 - IMPORTS src/main/java/org/acme/net/Client.java import",
            "src/main/java/org/acme/app/Use.java:3 - IMPORTS src/main/java/org/acme/net/Client.java:Client import",
            "src/main/java/org/acme/app/Use.java:5 - IMPORTS maven:com.google.guava:guava import",
            "src/main/java/org/acme/app/Use.java:8 Use.go REFERENCES src/main/java/org/acme/net/Client.java:Client import",
            "src/main/java/org/acme/net/Client.java:4 Client.create REFERENCES src/main/java/org/acme/net/Client.java:Client exact",
        ],
    );
}

#[test]
fn constructors_call_those_of_their_base_and_of_their_class() {
    let shape = "package a;\n\nclass Shape {\n  Shape(String name) {}\n}\nclass Dot extends Shape {\n  Dot() { this(1); }\n  Dot(int size) { super(\"dot\"); }\n}\nclass Plain {}\nclass Thin extends Plain {\n  Thin() { super(); }\n}\n";
    check(
        &[("a/Shape.java", shape)],
        &[
            "a/Shape.java:11 Thin EXTENDS a/Shape.java:Plain exact",
            "a/Shape.java:12 Thin.Thin CALLS a/Shape.java:Plain exact",
            "a/Shape.java:6 Dot EXTENDS a/Shape.java:Shape exact",
            "a/Shape.java:7 Dot.Dot CALLS a/Shape.java:Dot exact",
            "a/Shape.java:8 Dot.Dot CALLS a/Shape.java:Shape.Shape exact",
        ],
    );
}

#[test]
fn no_call_means_a_method_that_cannot_take_its_arguments() {
    let value = "package a;\n\nclass Value extends Base {\n  boolean equal(Object other) { return equal(this, other); }\n  void run(int times) { run(times); }\n}\nclass Base {\n  void run(long times) {}\n}\n";
    check(
        &[("a/Value.java", value)],
        &[
            "a/Value.java:3 Value EXTENDS a/Value.java:Base exact",
            // The base has an overload that takes as many.
            "a/Value.java:5 Value.run CALLS a/Value.java:Value.run heuristic",
        ],
    );
}

#[test]
fn a_class_of_scala_is_a_type_and_its_companion_an_object() {
    let json = "package a\n\ntrait Json\nobject Json {\n  def parse(text: String): Json = new Json {}\n}\nclass Text extends Json {\n  def read(): Json = Json.parse(\"{}\")\n}\n";
    check_kinds(
        &[("a/Json.scala", json)],
        &[cairn_domain::EdgeKind::Calls, cairn_domain::EdgeKind::Extends, References],
        &[
            "a/Json.scala:5 Json.parse CALLS a/Json.scala:Json exact",
            "a/Json.scala:5 Json.parse REFERENCES a/Json.scala:Json exact",
            "a/Json.scala:7 Text EXTENDS a/Json.scala:Json exact",
            "a/Json.scala:8 Text.read CALLS a/Json.scala:Json.parse exact",
            "a/Json.scala:8 Text.read REFERENCES a/Json.scala:Json exact",
            "a/Json.scala:8 Text.read REFERENCES a/Json.scala:Json exact",
        ],
    );
}
