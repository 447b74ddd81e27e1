//! The planted secrets: tokens of many providers, and values that only the surrounding text marks as secret.
//! The secrets are built from parts, so that secret scanners do not report this file.

/// A secret in a file.
pub(super) struct Planted {
    pub(super) path: String,
    pub(super) text: String,
    /// The rule that must find the secret.
    pub(super) rule: &'static str,
    /// The secret value, which must not occur in any output or store.
    pub(super) secret: String,
}

/// A generator of random-looking letters and digits, which are the same on every run.
pub(super) struct Noise(u64);

const ALPHABET: &str = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";

impl Noise {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(97))
    }

    fn next(&mut self) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize
    }

    fn of(&mut self, alphabet: &str, length: usize) -> String {
        (0..length).map(|_| alphabet.as_bytes()[self.next() % alphabet.len()] as char).collect()
    }

    pub(super) fn letters(&mut self, length: usize) -> String {
        self.of(ALPHABET, length)
    }

    fn hex(&mut self, length: usize) -> String {
        self.of("0123456789abcdef", length)
    }

    fn capitals(&mut self, length: usize) -> String {
        self.of("ABCDEFGHJKLMNPQRSTUVWXYZ234567", length)
    }

    fn digits(&mut self, length: usize) -> String {
        self.of("123456789", length)
    }

    /// A password like the passwords that users choose.
    fn password(&mut self) -> String {
        let (first, rest) = (self.of("BCDFGHKMNPQRTVWXZ", 2), self.of("bcdfghkmnpqrtvwxz", 5));
        format!("{first}{rest}!{}", self.of("23456789", 4))
    }
}

/// Tokens that a rule recognises without their surroundings. Each entry is the rule and the token.
fn tokens(noise: &mut Noise) -> Vec<(&'static str, String)> {
    let mut tokens = Vec::new();
    let mut add = |rule: &'static str, parts: &[&str]| tokens.push((rule, parts.concat()));
    add("github-pat", &["gh", "p_", &noise.letters(36)]);
    add("github-oauth-token", &["gh", "o_", &noise.letters(36)]);
    add("github-app-token", &["gh", "s_", &noise.letters(36)]);
    add("github-fine-grained-pat", &["github", "_pat_", &noise.letters(22), "_", &noise.letters(59)]);
    add("gitlab-pat", &["glp", "at-", &noise.letters(20)]);
    add("gitlab-pipeline-trigger-token", &["glp", "tt-", &noise.hex(40)]);
    add("gitlab-runner-token", &["glr", "t-", &noise.letters(20)]);
    add("aws-access-key-id", &["AK", "IA", &noise.capitals(16)]);
    add("gcp-api-key", &["AI", "za", &noise.letters(35)]);
    add("gcp-oauth-client-secret", &["GOC", "SPX-", &noise.letters(28)]);
    add("digitalocean-token", &["dop", "_v1_", &noise.hex(64)]);
    add("vault-token", &["hv", "s.", &noise.letters(28)]);
    add("pulumi-token", &["pu", "l-", &noise.hex(40)]);
    add("databricks-token", &["da", "pi", &noise.hex(32)]);
    add("npm-token", &["np", "m_", &noise.letters(36)]);
    add("pypi-token", &["py", "pi-", &noise.letters(120)]);
    add("rubygems-key", &["ruby", "gems_", &noise.hex(48)]);
    add("docker-hub-token", &["dck", "r_pat_", &noise.letters(27)]);
    add("stripe-key", &["sk", "_live_", &noise.letters(24)]);
    add("slack-token", &["xo", "xb-", &noise.digits(12), "-", &noise.digits(12), "-", &noise.letters(24)]);
    add("sendgrid-key", &["S", "G.", &noise.letters(22), ".", &noise.letters(43)]);
    add("twilio-api-key", &["S", "K", &noise.hex(32)]);
    add("shopify-token", &["shp", "at_", &noise.hex(32)]);
    add("square-token", &["sq0", "atp-", &noise.letters(22)]);
    add("telegram-bot-token", &[&noise.digits(10), ":", "AA", &noise.letters(33)]);
    add("huggingface-token", &["h", "f_", &noise.letters(34)]);
    add("anthropic-api-key", &["sk", "-ant-api03-", &noise.letters(93)]);
    add("grafana-token", &["gl", "sa_", &noise.letters(32), "_", &noise.hex(8)]);
    add("linear-token", &["lin", "_api_", &noise.letters(40)]);
    add("notion-token", &["nt", "n_", &noise.letters(46)]);
    add("figma-token", &["fi", "gd_", &noise.letters(40)]);
    add("postman-key", &["PMA", "K-", &noise.hex(24), "-", &noise.hex(34)]);
    add("age-secret-key", &["AGE-SEC", "RET-KEY-1", &noise.capitals(58)]);
    add("jwt", &["ey", "J", &noise.letters(30), ".ey", "J", &noise.letters(50), ".", &noise.letters(43)]);
    tokens
}

/// The surroundings into which tokens are written: file name and text. `§` is replaced with the token.
const PLACES: [(&str, &str); 24] = [
    ("src/client_#.py", "import client\n\n\ndef connect():\n    return client.Client(\"§\")\n"),
    ("src/comment_#.py", "def work():\n    # was § until May\n    return 1\n"),
    ("src/doc_#.py", "def work():\n    \"\"\"Use § to call it.\"\"\"\n    return 1\n"),
    ("src/call_#.js", "export function call() {\n  return fetch(`https://api.example.org/v1?k=§&page=2`);\n}\n"),
    ("src/header_#.ts", "const headers: Record<string, string> = { \"X-Custom\": '§' };\n"),
    ("src/lib_#.rs", "pub fn call() {\n    send(&[\"§\"]); // production\n}\n"),
    ("src/main_#.go", "package main\n\nvar value = []string{\"a\", \"§\"}\n"),
    ("src/Main_#.java", "class Main {\n  @Value(\"§\") String value;\n}\n"),
    ("src/run_#.sh", "#!/bin/sh\ndeploy --with § --now\n"),
    ("src/name_#.rb", "def work\n  call :a, %w[§ b]\nend\n"),
    ("src/call_#.c", "/* § */\nint f(void) { return g(\"§\"); }\n"),
    ("docs/page_#.md", "# Access\n\nSee `§` for access.\n\n| stage | value |\n|---|---|\n| staging | § |\n"),
    ("docs/page_#.rst", "Access\n======\n\nCall with::\n\n    curl https://api.example.org/§\n"),
    ("docs/note_#.txt", "The old one was § and no longer works.\n"),
    ("config/values_#.yaml", "service:\n  items:\n    - name: a\n      extra: §\n"),
    ("config/values_#.json", "{\"a\": {\"b\": [1, \"§\"]}}\n"),
    ("config/values_#.toml", "[service]\nextra = \"§\"\n"),
    ("config/values_#.xml", "<config>\n  <item key=\"a\">§</item>\n</config>\n"),
    ("config/app_#.properties", "service.extra=§\n"),
    ("config/app_#.ini", "[service]\nextra = §\n"),
    ("deploy/Dockerfile.#", "FROM alpine\nRUN curl https://x:§@git.example.org/a.git\n"),
    ("deploy/main_#.tf", "resource \"x\" \"y\" {\n  value = \"§\"\n}\n"),
    ("deploy/pipeline_#.yml", "steps:\n  - run: |\n      deploy § now\n"),
    ("web/page_#.html", "<html><body><a href=\"https://h.example.org/?k=§\">x</a></body></html>\n"),
];

/// Values that only the surrounding text marks as secret. Each entry is the rule, the file, the text, and the
/// value.
fn found_by_context(noise: &mut Noise) -> Vec<(&'static str, &'static str, &'static str, String)> {
    let encoded = |text: &str| base64(text.as_bytes());
    vec![
        ("generic-password", "src/settings.py", "DB_PASSWORD = \"§\"\n", noise.password()),
        ("generic-password", "src/joined.py", "PASSWORD = (\n    \"§\"\n)\n", noise.password()),
        ("generic-password", "src/fallback.js", "const password = process.env.PASSWORD || \"§\";\n", noise.password()),
        ("generic-password", "config/block.yaml", "db:\n  password: |\n    §\n", noise.password()),
        ("generic-password", "config/anchor.yaml", "db:\n  password: &main §\n", noise.password()),
        ("generic-password", "config/raw.xml", "<a><password><![CDATA[§]]></password></a>\n", noise.password()),
        (
            "generic-password",
            "config/app.plist",
            "<dict><key>password</key>\n<string>§</string></dict>\n",
            noise.password(),
        ),
        (
            "generic-password",
            "deploy/variables.tf",
            "variable \"db_password\" {\n  default = \"§\"\n}\n",
            noise.password(),
        ),
        ("generic-password", "deploy/Dockerfile", "FROM alpine\nENV DB_PASSWORD=§\n", noise.password()),
        ("generic-password", "docs/access.md", "# Access\n\n**Password**: §\n", noise.password()),
        ("generic-secret", "src/oauth.go", "package a\n\nvar clientSecret = \"§\"\n", noise.letters(32)),
        ("generic-token", "src/token.rs", "const TOKEN: &str = \"§\";\n", noise.letters(40)),
        ("generic-api-key", "config/api.toml", "api_key = \"§\"\n", noise.letters(32)),
        ("bearer-authorization", "docs/call.md", "    Authorization: Bearer §\n", noise.letters(40)),
        ("url-credentials", "src/database.py", "URL = \"postgres://app:§@db.example.org/main\"\n", noise.password()),
        ("url-credentials", "config/broker.yaml", "url: amqp://app:§@mq.example.org/\n", noise.password()),
        ("dsn-password", "src/dsn.go", "package a\n\nvar dsn = \"app:§@tcp(db:3306)/x\"\n", noise.password()),
        (
            "jdbc-oracle-password",
            "src/Db.java",
            "class Db { String u = \"jdbc:oracle:thin:scott/§@h:1521:x\"; }\n",
            noise.password(),
        ),
        ("command-line-password", "deploy/dump.sh", "mysqldump -u root -p§ shop > dump\n", noise.password()),
        ("sql-password", "deploy/users.sql", "CREATE USER app IDENTIFIED BY '§';\n", noise.password()),
        ("secure-string", "deploy/run.ps1", "ConvertTo-SecureString \"§\" -AsPlainText -Force\n", noise.password()),
        ("basic-auth-pair", "src/session.py", "session.get(url, auth=(\"deploy\", \"§\"))\n", noise.password()),
        ("signing-secret", "src/sign.js", "module.exports = jwt.sign(payload, \"§\");\n", noise.letters(40)),
        ("piped-password", "deploy/login.sh", "echo § | docker login -u x --password-stdin\n", noise.password()),
        (
            "literal-of-a-secret",
            "deploy/create.sh",
            "kubectl create secret generic x --from-literal=DB=§\n",
            noise.password(),
        ),
        ("secret-manifest", "deploy/manifest.yaml", "kind: Secret\ndata:\n  user: §\n", encoded(&noise.password())),
        (
            "encoded-secret",
            "config/encoded.json",
            "{\"blob\": \"§\"}\n",
            encoded(&format!("postgres://app:{}@db/x", noise.password())),
        ),
        ("aws-access-key-pair", "docs/keys.txt", "«AKIA»:§\n", noise.letters(40)),
        ("raw-private-key", "src/wallet.ts", "export const PRIVATE_KEY = \"0x§\";\n", noise.hex(64)),
        ("url-parameter", "src/weather.py", "URL = \"https://api.example.org/v1?q=x&appid=§\"\n", noise.hex(32)),
        ("translated-password", "docs/zugang.md", "Kennwort: §\n", noise.password()),
    ]
}

/// All planted secrets, each in a separate file.
pub(super) fn planted() -> Vec<Planted> {
    let mut noise = Noise::new(7);
    let mut planted = Vec::new();
    for round in 0..2 {
        for (number, (rule, secret)) in tokens(&mut noise).into_iter().enumerate() {
            let (path, text) = PLACES[(number + round * 11) % PLACES.len()];
            let path = path.replace('#', &format!("{round}_{number}"));
            planted.push(Planted { path, text: text.replace('§', &secret), rule, secret });
        }
    }
    let id = ["AK", "IA", &noise.capitals(16)].concat();
    for (rule, path, text, secret) in found_by_context(&mut noise) {
        let text = text.replace('§', &secret).replace("«AKIA»", &id);
        planted.push(Planted { path: path.to_owned(), text, rule, secret });
    }
    planted
}

/// Secrets across the boundaries of chunks: one long function contains a key of many lines, and another long
/// function contains a token on each line.
pub(super) fn across_chunks() -> (String, Vec<String>) {
    let mut noise = Noise::new(11);
    let mut secrets: Vec<String> = (0..60).map(|_| noise.letters(64)).collect();
    let (head, foot) = (["-----BEG", "IN RSA PRIVATE KEY-----"].concat(), "-----END RSA PRIVATE KEY-----");
    let mut text =
        format!("def key():\n    value = \"\"\"\n{head}\n{}\n{foot}\n\"\"\"\n    return value\n", secrets.join("\n"));
    text.push_str("\n\ndef all():\n");
    for number in 0..400 {
        let token = ["gh", "p_", &noise.letters(36)].concat();
        text.push_str(&format!("    step_{number} = call_{number}(\"{token}\",\n        {number})\n"));
        secrets.push(token);
    }
    (text, secrets)
}

/// A notebook with one code cell for each text. Both the source and the output of the cell contain the text.
pub(super) fn notebook(texts: &[String]) -> String {
    let json = |text: &str| serde_json::to_string(text).expect("JSON");
    let cell = |text: &String| {
        let output = format!("{{\"output_type\": \"stream\", \"name\": \"stdout\", \"text\": [{}]}}", json(text));
        let source = json(text);
        format!(
            "{{\"cell_type\": \"code\", \"metadata\": {{}}, \"outputs\": [\n{output}], \"source\": [\n{source}\n]}}"
        )
    };
    let cells: Vec<String> = texts.iter().map(cell).collect();
    format!("{{\"cells\": [{}], \"metadata\": {{}}, \"nbformat\": 4, \"nbformat_minor\": 5}}\n", cells.join(",\n"))
}

pub(super) fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().enumerate().fold(0u32, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            out.push(if at <= group.len() { SIGNS[(bits >> (18 - 6 * at)) as usize & 63] as char } else { '=' });
        }
    }
    out
}
