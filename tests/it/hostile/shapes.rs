//! Texts that attack parsers. Some texts attack every language, and others attack the weak points of one
//! language.
//!
//! Most lines are shorter than the lines of a minified file, because minified files are not parsed. A text
//! that is nested too deeply is not passed to its grammar. Most texts are nested less deeply, so the grammars
//! read these texts. Only the first shapes of the list are rejected before a grammar reads them.

/// The name and the text of a hostile file.
pub(super) struct Shape {
    pub(super) name: String,
    pub(super) text: Vec<u8>,
}

/// A language, identified by its file extension, with the syntax that the texts use.
pub(super) struct Attacked {
    pub(super) extension: &'static str,
    /// The text that opens a nested block, and the text that closes it.
    block: (&'static str, &'static str),
    open_comment: &'static str,
    open_text: &'static str,
    function: &'static str,
    own: fn() -> Vec<(&'static str, String)>,
}

pub(super) const ATTACKED: [Attacked; 8] = [
    Attacked {
        extension: "py",
        block: ("f(lambda: [\n", "])\n"),
        open_comment: "\"\"\"",
        open_text: "x = f'{",
        function: "def f{}(): pass\n",
        own: python,
    },
    Attacked {
        extension: "ts",
        block: ("{ (() => {\n", "})}\n"),
        open_comment: "/*",
        open_text: "x = `${",
        function: "function f{}() {}\n",
        own: typescript,
    },
    Attacked {
        extension: "rs",
        block: ("mod m { fn f() {\n", "}}\n"),
        open_comment: "/* /*",
        open_text: "let x = r#####\"",
        function: "fn f{}() {}\n",
        own: rust,
    },
    Attacked {
        extension: "go",
        block: ("func() { if x {\n", "}}()\n"),
        open_comment: "/*",
        open_text: "var x = `",
        function: "func f{}() {}\n",
        own: go,
    },
    Attacked {
        extension: "cpp",
        block: ("namespace n { class c {\n", "};}\n"),
        open_comment: "/*",
        open_text: "auto x = R\"delimiter(",
        function: "void f{}() {}\n",
        own: cpp,
    },
    Attacked {
        extension: "java",
        block: ("class C { void f() {\n", "}}\n"),
        open_comment: "/*",
        open_text: "String x = \"\"\"\n",
        function: "class C{} {}\n",
        own: java,
    },
    Attacked {
        extension: "sh",
        block: ("if x; then y=$(\n", ")\nfi\n"),
        open_comment: ": '",
        open_text: "cat <<EOF\n",
        function: "f{}() { :; }\n",
        own: bash,
    },
    Attacked {
        extension: "rb",
        block: ("foo do [\n", "] end\n"),
        open_comment: "=begin\n",
        open_text: "x = <<~EOF\n#{",
        function: "def f{}; end\n",
        own: ruby,
    },
];

/// The size of most texts, which is below the limit of 1 MiB.
pub(super) const SIZE: usize = 1_000_000;

/// Repeats `unit` up to about `size` bytes, with a line feed after every `per_line` units.
pub(super) fn repeated(unit: &str, per_line: usize, size: usize) -> String {
    let mut text = String::with_capacity(size + unit.len());
    let mut number = 0;
    while text.len() < size {
        text.push_str(unit);
        number += 1;
        if number % per_line == 0 {
            text.push('\n');
        }
    }
    text
}

/// Repeats `unit` up to about `size` bytes. In each repetition, `{}` is replaced with the number of the
/// repetition.
pub(super) fn numbered(unit: &str, size: usize) -> String {
    let mut text = String::with_capacity(size + unit.len());
    let mut number = 0;
    while text.len() < size {
        text.push_str(&unit.replace("{}", &number.to_string()));
        number += 1;
    }
    text
}

/// All shapes for a language; there are more than thirty.
pub(super) fn shapes(language: &Attacked) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = Vec::new();
    let mut add = |name: &str, text: Vec<u8>| shapes.push(Shape { name: name.to_owned(), text });
    for (name, text) in stopped_before() {
        add(name, text);
    }
    for (name, text) in common(language).into_iter().chain((language.own)()) {
        add(name, text.into_bytes());
    }
    shapes
}

/// Files that are rejected before a grammar reads them, because of their bytes, their lines or their
/// brackets.
fn stopped_before() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("brackets-200000", b"(".repeat(200_000)),
        ("nesting-100000", [b"[".repeat(100_000), b"]".repeat(100_000)].concat()),
        ("brackets-on-lines", b"(\n".repeat(200_000)),
        ("line-1-mib", b"x = 1; ".repeat((1 << 20) / 7)),
        ("nuls", vec![0; 100_000]),
        ("nul-within", [b"x = 1\n".repeat(10_000), vec![0], b"y = 2\n".repeat(10_000)].concat()),
        ("invalid-utf8", vec![0xff; 100_000]),
        ("invalid-utf8-within", b"x = '\xff\xc0\x80\xf8'\n".repeat(20_000)),
        ("lone-surrogates", b"x = '\xed\xa0\x80\xed\xbf\xbf'\n".repeat(20_000)),
    ]
}

/// Shapes that are used for every language.
fn common(language: &Attacked) -> Vec<(&'static str, String)> {
    let (open, close) = language.block;
    let nested = |depth: usize| format!("{}{}", open.repeat(depth), close.repeat(depth));
    vec![
        ("nested-blocks", nested(110).repeat(SIZE / 110 / (open.len() + close.len()))),
        ("open-blocks", format!("{}{}", open.repeat(110), repeated("x = y\n", 1, SIZE / 2))),
        ("closing-only", repeated(close, 1, SIZE)),
        ("open-comment", format!("{}{}", language.open_comment, repeated(" words of a comment", 4, SIZE))),
        ("open-comments", repeated(language.open_comment, 40, SIZE)),
        ("open-text", format!("{}{}", language.open_text, repeated("words of a text ", 5, SIZE))),
        ("open-texts", repeated(&format!("{}\n{}", language.open_text, "x = y\n".repeat(200)), 1, SIZE / 2)),
        ("quotes", repeated("\" ' ` \"\"\" ''' ", 10, SIZE)),
        ("huge-names", repeated(&format!("{} = 1\n", "n".repeat(900)), 1, SIZE)),
        ("tiny-functions", numbered(language.function, SIZE)),
        ("operators", repeated("a + -b * !c / ~d % e ^ f | g & h << i >> j && ", 8, SIZE)),
        ("less-and-greater", repeated("a < b > c < (d) > e, ", 10, SIZE / 2)),
        ("chain", repeated(".a(b)[c].d\n", 1, SIZE)),
        ("separators", repeated(";,:;,:", 20, SIZE / 2)),
        ("mixed-scripts", repeated("имя = 名前 + ὄνομα\u{200b}\u{202e} # \u{fffd}", 4, SIZE / 2)),
        ("carriage-returns", repeated("x = 1\r", 100, SIZE / 2)),
    ]
}

fn python() -> Vec<(&'static str, String)> {
    let indented: String =
        (0..20).flat_map(|_| (0..490).map(|depth| format!("{}if x:\n", " ".repeat(depth)))).collect();
    vec![
        ("deep-indentation", indented.chars().take(SIZE).collect()),
        ("tabs-and-spaces", repeated("if x:\n\ty\n        z\n  w\n", 1, SIZE / 2)),
        ("continued-lines", repeated("x = \\\n", 1, SIZE)),
        ("nested-lambdas", repeated(&format!("{}1\n", "lambda x: ".repeat(80)), 1, SIZE)),
        ("print-statements", repeated("print >> a, b, print\nexec a in b\n", 1, SIZE)),
        ("soft-keywords", repeated("match (match) [case]\ntype type = type\ncase _: match\n", 1, SIZE)),
        ("nested-formats", repeated(&format!("{}x{}\n", "f\"{".repeat(60), "}\"".repeat(60)), 1, SIZE)),
        ("decorators-only", repeated("@a.b(c)\n", 1, SIZE)),
        ("stars", repeated("*a, **b, *c = ", 40, SIZE / 2)),
    ]
}

fn typescript() -> Vec<(&'static str, String)> {
    vec![
        ("arrows-or-groups", repeated(&format!("{}x{}\n", "(a, ".repeat(120), ")".repeat(120)), 1, SIZE)),
        ("arrows", repeated(&format!("{}x\n", "x => ".repeat(150)), 1, SIZE)),
        ("type-arguments", repeated(&format!("{}x{}\n", "A<".repeat(200), ">".repeat(200)), 1, SIZE / 2)),
        ("casts", repeated("<A><B><C>", 60, SIZE / 2)),
        ("nested-templates", repeated(&format!("{}{}\n", "`${".repeat(120), "}`".repeat(120)), 1, SIZE)),
        ("regular-expressions", repeated("/[/]/ / /(?:/ / ", 30, SIZE / 2)),
        ("missing-semicolons", repeated("a\n(b)\n[c]\n`d`\n/e/\n++f\n", 1, SIZE)),
        ("conditional-types", format!("type T =\n{}", repeated("U extends V ? W :\n", 1, SIZE / 2))),
        ("union-types", format!("type T =\n{}", repeated("| { a: T } & U[]\n", 1, SIZE / 2))),
        ("contextual-keywords", repeated("async of get set type as is in keyof infer ", 12, SIZE / 2)),
    ]
}

fn rust() -> Vec<(&'static str, String)> {
    vec![
        ("macros", repeated(&format!("{}{}\n", "m!{".repeat(160), "}".repeat(160)), 1, SIZE)),
        ("token-trees", format!("m! {{\n{}\n}}", repeated("$( $x:expr ),* => #[a] 'b 1.0.0 ..= ", 15, SIZE))),
        ("closures", repeated("|x| ", 150, SIZE / 2)),
        ("qualified-paths", repeated(&format!("{}T{}\n", "<".repeat(150), " as A>::B".repeat(60)), 1, SIZE / 2)),
        ("turbofish", repeated("a::<b::<c>>::<d>() < e as f < g ", 15, SIZE / 2)),
        ("attributes-only", repeated("#[a(b = \"c\")]\n", 1, SIZE)),
        ("lifetimes", repeated("'a 'b: 'c '\\'' 'd' ", 25, SIZE / 2)),
        ("ranges-and-references", repeated("..&&*..=&mut !-", 40, SIZE / 2)),
        ("match-without-end", format!("fn f() {{ match x {{\n{}", repeated("A | B if c => d,\n", 1, SIZE / 2))),
        ("nested-types", repeated(&format!("type T = {}u8{};\n", "A<".repeat(150), ">".repeat(150)), 1, SIZE)),
    ]
}

fn go() -> Vec<(&'static str, String)> {
    vec![
        ("composite-literals", repeated(&format!("{}{}\n", "T{a: ".repeat(120), "}".repeat(120)), 1, SIZE)),
        ("index-or-instance", repeated(&format!("{}x{}\n", "a[b, ".repeat(120), "]".repeat(120)), 1, SIZE)),
        ("channels", repeated(&format!("var x {}int\n", "<-chan chan<- ".repeat(40)), 1, SIZE)),
        ("function-types", repeated(&format!("var f {}{}\n", "func(func(".repeat(60), "))".repeat(60)), 1, SIZE)),
        ("composite-or-block", repeated("if a == b{} == c{} {}\nfor range d{} {}\n", 1, SIZE)),
        ("labels", repeated("a: b: c:\n", 1, SIZE / 2)),
        ("constraints", repeated("type T[P *Q|~R, S interface{ ~int|~string }] struct{}\n", 1, SIZE)),
        ("cases-without-end", format!("package p\nfunc f() {{ switch x {{\n{}", repeated("case a, b:\n", 1, SIZE / 2))),
        ("pointers-or-products", repeated("(*a)(*b) * *c(*d)\n", 1, SIZE / 2)),
    ]
}

fn cpp() -> Vec<(&'static str, String)> {
    vec![
        ("declaration-or-product", repeated("a * b; T (x)(y); c (d) (e); f & g;\n", 1, SIZE)),
        ("template-arguments", repeated(&format!("{}int{} x;\n", "A<".repeat(180), ">".repeat(180)), 1, SIZE)),
        ("open-templates", repeated("template <typename T = A<(B > C)>, ", 20, SIZE / 2)),
        ("casts", repeated("(a)(b)(c)*(d)&(e)-(f)", 30, SIZE / 2)),
        ("conditions-without-end", repeated("#if A\nint x;\n#else\n", 1, SIZE / 2)),
        ("nested-conditions", format!("{}{}", "#if A\n".repeat(5_000), "#endif\n".repeat(5_000))),
        ("macros-for-syntax", repeated("BEGIN_A(b) C D(e) F { G(h) } END\n", 1, SIZE)),
        ("declarators", repeated(&format!("int {}x{};\n", "(*".repeat(120), ")(int)".repeat(120)), 1, SIZE)),
        ("initializers", repeated(&format!("int x[] = {}1{};\n", "{".repeat(120), "}".repeat(120)), 1, SIZE)),
        ("digraphs", repeated("<: :> <% %> %: ??= ", 25, SIZE / 2)),
    ]
}

fn java() -> Vec<(&'static str, String)> {
    vec![
        ("comparison-or-generic", repeated("a < b < c < d <\n", 1, SIZE / 8)),
        ("type-arguments", repeated(&format!("{}E{} x;\n", "A<? super ".repeat(60), ">".repeat(60)), 1, SIZE)),
        ("annotations", repeated(&format!("{}{}\n", "@A(b = ".repeat(100), ")".repeat(100)), 1, SIZE / 2)),
        ("casts-or-lambdas", repeated("(a) (b) -> (c) (d) :: e, ", 20, SIZE / 2)),
        (
            "switch-rules",
            format!("class C {{ int f() {{ return switch (x) {{\n{}", repeated("case A a when b -> c;\n", 1, SIZE / 2)),
        ),
        ("text-blocks", repeated("\"\"\"\n\\\"\"\" \"\"\n", 1, SIZE / 2)),
        ("arrays", repeated("int[] a[][] = new int[b][][] {{}}, c[] [];\n", 1, SIZE)),
        ("modifiers-only", repeated("public static final abstract sealed non-sealed ", 12, SIZE / 2)),
        ("escapes", repeated("\\u0022 \\u007b \\u000a \\uuuu0041 ", 15, SIZE / 2)),
    ]
}

fn bash() -> Vec<(&'static str, String)> {
    vec![
        ("heredocs", repeated("cat <<A <<-B <<'C'\n", 1, SIZE / 4)),
        ("pipes", repeated("a | b |& c ||\n", 1, SIZE / 8)),
        ("substitutions", repeated(&format!("{}{}\n", "$(a ".repeat(120), ")".repeat(120)), 1, SIZE / 2)),
        ("backticks", repeated("`a \\`b` ", 60, SIZE / 2)),
        ("expansions", repeated("${a:-${b%%${c//d/e}}} $((f + $((g)))) ", 12, SIZE / 2)),
        ("cases-without-end", repeated("case a in b|c) d ;;\n", 1, SIZE / 4)),
        ("tests", repeated("[[ a =~ ( && b < c || ! d ]] ((e < f))\n", 1, SIZE / 2)),
        ("redirections", repeated("a 2>&1 >| b <<< c <> d &> e ", 15, SIZE / 2)),
    ]
}

fn ruby() -> Vec<(&'static str, String)> {
    vec![
        ("heredocs", repeated("foo(<<~A, <<-B, <<'C')\n", 1, SIZE / 4)),
        ("division-or-expression", repeated("a / b /c/ d / e\n", 1, SIZE / 2)),
        ("percent-literals", repeated("%w[a %q(b %i{c %r<d ", 20, SIZE / 4)),
        ("interpolations", repeated(&format!("{}x{}\n", "\"#{".repeat(120), "}\"".repeat(120)), 1, SIZE)),
        ("blocks-or-hashes", repeated("a { b { c: d } } do |e| f {} end\n", 1, SIZE)),
        ("modifiers", repeated("a if b unless c while d rescue e\n", 1, SIZE)),
        ("symbols", repeated(":a ? :b : c::d ? e:f :\"g\" ", 15, SIZE / 2)),
        ("ends-missing", repeated("class A; def b; begin; case c\nwhen d then e\n", 1, SIZE / 4)),
    ]
}
