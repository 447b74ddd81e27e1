//! Surroundings in which the name of the secret varies, and the names of secrets by family. The module
//! `generated` writes each name in each spelling that the surroundings allow.

use crate::surroundings::Writing;

/// The way in which the words of a name are joined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spelling {
    /// `client_secret`
    Snake,
    /// `client-secret`
    Kebab,
    /// `clientSecret`
    Camel,
    /// `ClientSecret`
    Pascal,
    /// `CLIENT_SECRET`
    Upper,
    /// `client.secret`
    Dotted,
    /// `Client-Secret`
    Header,
    /// `client secret`
    Words,
}

/// Names of the same kind of secret.
pub struct Family {
    pub name: &'static str,
    /// The words of each name, separated by blanks.
    pub names: &'static [&'static str],
}

/// A text with places for a name and its value. `¤` is replaced by the name, `§` by the value.
pub struct Named {
    pub name: &'static str,
    pub spellings: &'static [Spelling],
    pub writing: Writing,
    pub text: &'static str,
}

#[rustfmt::skip]
pub const FAMILIES: &[Family] = &[
    Family { name: "pass", names: &[
        "password", "db password", "smtp password", "spring datasource password", "admin passwd", "db pass", "root pwd",
        "passphrase", "signing key passphrase", "redis password",
    ] },
    Family { name: "secret", names: &[
        "client secret", "api secret", "secret", "jwt secret", "oauth client secret", "app secret", "webhook secret",
        "credentials", "db credentials", "session secret", "acme billing secret", "shared secret",
    ] },
    Family { name: "token", names: &[
        "auth token", "redis auth token", "private token", "access token", "token", "bot token", "refresh token",
        "github token", "acme deploy token", "api token", "slack access token",
    ] },
    Family { name: "key", names: &[
        "secret key", "api key", "access key", "aws secret access key", "stripe api key", "private key", "encryption key",
        "signing key", "acme api key", "django secret key", "master key",
    ] },
];

use Spelling::{Camel, Dotted, Header, Kebab, Pascal, Snake, Upper, Words};

const SETTING: &[Spelling] = &[Snake, Kebab, Camel, Dotted, Upper];
const YAML: &[Spelling] = &[Snake, Kebab, Camel, Upper];
const CODE: &[Spelling] = &[Snake, Camel, Pascal, Upper];
const VARIABLE: &[Spelling] = &[Upper];
const LABEL: &[Spelling] = &[Snake, Kebab, Camel, Upper, Words];
const ELEMENT: &[Spelling] = &[Snake, Kebab, Camel, Pascal, Dotted];

const fn named(name: &'static str, spellings: &'static [Spelling], writing: Writing, text: &'static str) -> Named {
    Named { name, spellings, writing, text }
}

#[rustfmt::skip]
pub const NAMED: &[Named] = &[
    // Settings.
    named("yaml", YAML, Writing::Yaml, "app:\n  user: bob\n  ¤: §\n  port: 5432\n"),
    named("yaml, one line", YAML, Writing::Yaml, "¤: §\n"),
    named("yaml, comment", YAML, Writing::Yaml, "  ¤: §  # the app\n"),
    named("yaml, list", YAML, Writing::Yaml, "apps:\n  - name: x\n    ¤: §\n  - ¤: §\n"),
    named("yaml, double", YAML, Writing::Double, "app:\n  ¤: \"§\"\n"),
    named("yaml, single", YAML, Writing::Doubled, "app:\n  ¤: '§'\n"),
    named("yaml, block", YAML, Writing::Line, "app:\n  ¤: |\n    §\n  port: 1\n"),
    named("yaml, flow", YAML, Writing::Double, "app: {user: bob, ¤: \"§\", port: 1}\n"),
    named("yaml, list of variables", VARIABLE, Writing::Yaml, "env:\n  - name: ¤\n    value: §\n  - name: X\n    value: y\n"),
    named("compose, list", VARIABLE, Writing::Line, "    environment:\n      - ¤=§\n      - X=y\n"),
    named("compose, map", VARIABLE, Writing::Yaml, "    environment:\n      ¤: §\n      X: y\n"),
    named("dotenv", VARIABLE, Writing::Line, "APP_USER=app\n¤=§\nAPP_PORT=1\n"),
    named("dotenv, double", VARIABLE, Writing::Double, "¤=\"§\"\nX=1\n"),
    named("dotenv, single", VARIABLE, Writing::Shell, "¤='§'\nX=1\n"),
    named("properties", SETTING, Writing::Line, "app.user=bob\n¤=§\napp.port=1\n"),
    named("properties, spaced", SETTING, Writing::Line, "app.user = bob\n¤ = §\napp.port = 1\n"),
    named("properties, colon", SETTING, Writing::Line, "app.user: bob\n¤: §\n"),
    named("properties, blank", SETTING, Writing::Line, "app.user bob\n¤ §\n"),
    named("ini", SETTING, Writing::Line, "[app]\nuser = root\n¤ = §\nport = 1\n"),
    named("ini, no section", SETTING, Writing::Line, "¤ = §\n"),
    named("ini, no blanks", SETTING, Writing::Line, "[app]\n¤=§\n"),
    named("ini, comment", SETTING, Writing::Word, "¤=§ ; changed in May\n"),
    named("conf, blank", SETTING, Writing::Line, "user bob\n¤ §\nport 1\n"),
    named("conf, tab", SETTING, Writing::Line, "¤\t§\n"),
    named("conf, semicolon", SETTING, Writing::Word, "    ¤ §;\n"),
    named("toml", YAML, Writing::Double, "[app]\n¤ = \"§\"\nport = 1\n"),
    named("toml, single", YAML, Writing::Line, "¤ = '''§'''\n"),
    named("hcl", YAML, Writing::Double, "resource \"x\" \"y\" {\n  ¤ = \"§\"\n}\n"),
    named("terraform variable", &[Snake], Writing::Double, "variable \"¤\" {\n  default = \"§\"\n}\n"),
    named("json", YAML, Writing::Double, "{\n  \"user\": \"bob\",\n  \"¤\": \"§\",\n  \"port\": 1\n}\n"),
    named("json, inline", YAML, Writing::Double, "{\"user\":\"bob\",\"¤\":\"§\"}\n"),
    named("json, name and value", VARIABLE, Writing::Double, "[{\"name\": \"¤\", \"value\": \"§\"}]\n"),
    named("json, value and name", VARIABLE, Writing::Double, "[{\"value\": \"§\", \"name\": \"¤\"}]\n"),
    named("xml, element", ELEMENT, Writing::Xml, "<app>\n  <¤>§</¤>\n</app>\n"),
    named("xml, attribute", &[Snake, Kebab, Camel], Writing::Xml, "<app user=\"bob\" ¤=\"§\" port=\"1\"/>\n"),
    named("xml, property", ELEMENT, Writing::Xml, "<property name=\"¤\">§</property>\n"),
    named("xml, property value", ELEMENT, Writing::Xml, "<property name=\"¤\" value=\"§\"/>\n"),
    named("xml, add key", ELEMENT, Writing::Xml, "<add key=\"¤\" value=\"§\" />\n"),
    named("xml, entry", ELEMENT, Writing::Xml, "<entry key=\"¤\">§</entry>\n"),
    named("xml, setting", ELEMENT, Writing::Xml, "<setting name=\"¤\" serializeAs=\"String\"><value>§</value></setting>\n"),
    named("gradle", CODE, Writing::Single, "  ¤ '§'\n"),
    named("gradle, assignment", CODE, Writing::Single, "ext.¤ = '§'\n"),
    named("gradle, properties", SETTING, Writing::Line, "org.gradle.daemon=true\n¤=§\n"),
    named("connection string", &[Pascal], Writing::Semicolon, "Endpoint=https://h/;¤=§;User=x\n"),
    named("connection string, code", &[Pascal], Writing::Connection, "var c = \"Server=h;User Id=sa;¤=§;\";\n"),
    named("query", &[Snake, Camel], Writing::Percent, "https://h/login?user=bob&¤=§&x=1\n"),
    named("words", &[Snake], Writing::Word, "host=h port=1 user=app ¤=§ dbname=x\n"),
    named("netrc", &[Snake], Writing::Line, "[default]\nregion = x\n¤ = §\n"),
    named("systemd", VARIABLE, Writing::Double, "[Service]\nEnvironment=\"¤=§\"\n"),
    named("makefile", VARIABLE, Writing::Make, "¤ := §\nall:\n\techo\n"),
    // Comments and documents.
    named("comment hash", LABEL, Writing::Line, "x = 1\n# ¤: §\ny = 2\n"),
    named("comment hash, equals", LABEL, Writing::Line, "# ¤ = §\n"),
    named("comment hash, settings", SETTING, Writing::Line, "#¤=§\n"),
    named("comment slashes", LABEL, Writing::Line, "int x;\n// ¤ = §\nint y;\n"),
    named("comment slashes, colon", LABEL, Writing::Line, "// ¤: §\n"),
    named("comment block", LABEL, Writing::Line, "/* ¤=§ */\nint x;\n"),
    named("comment lines", LABEL, Writing::Line, "/*\n * login: bob\n * ¤: §\n */\n"),
    named("comment sql", LABEL, Writing::Line, "-- ¤: §\nselect 1;\n"),
    named("comment xml", LABEL, Writing::Line, "<!-- ¤: § -->\n"),
    named("comment after", LABEL, Writing::Line, "connect(); // ¤: §\n"),
    named("comment semicolon", LABEL, Writing::Line, "; ¤ = §\nx=1\n"),
    named("comment sentence", LABEL, Writing::Line, "# the ¤ is §\n"),
    named("prose", LABEL, Writing::Line, "Log in as bob, the ¤ is § on every host.\n"),
    named("markdown code", LABEL, Writing::Backtick, "The ¤ is `§`.\n"),
    named("markdown table", LABEL, Writing::Cell, "| name | value |\n|---|---|\n| ¤ | § |\n"),
    named("markdown row", LABEL, Writing::Cell, "| ¤ | § |\n"),
    named("markdown list", LABEL, Writing::Line, "* user: bob\n* ¤: §\n"),
    named("markdown bold", LABEL, Writing::Line, "**¤:** §\n"),
    named("markdown item in code", LABEL, Writing::Backtick, "- ¤: `§`\n"),
    named("log", YAML, Writing::Line, "2024-01-01 INFO connecting user=bob ¤=§ host=db\n"),
    named("http header", &[Header], Writing::Line, "POST /login\nX-¤: §\nHost: x\n"),
    // Commands.
    named("export, single", VARIABLE, Writing::Shell, "export ¤='§'\n"),
    named("export, double", VARIABLE, Writing::Double, "export ¤=\"§\"\n"),
    named("export, bare", VARIABLE, Writing::Word, "export ¤=§\n"),
    named("prefix", VARIABLE, Writing::Shell, "¤='§' ./run\n"),
    named("flag, equals", &[Kebab], Writing::Shell, "deploy --user=app --¤='§' --force\n"),
    named("flag, blank", &[Kebab], Writing::Shell, "deploy --user app --¤ '§' --force\n"),
    named("flag, bare", &[Kebab], Writing::Word, "deploy --user app --¤ § --force\n"),
    named("flag, bare equals", &[Kebab], Writing::Word, "deploy --user app --¤=§ --force\n"),
    named("docker env", VARIABLE, Writing::Line, "FROM x\nENV ¤=§\nRUN y\n"),
    named("docker env, blank", VARIABLE, Writing::Line, "FROM x\nENV ¤ §\nRUN y\n"),
    named("docker env, double", VARIABLE, Writing::Double, "FROM x\nENV ¤=\"§\"\n"),
    named("docker argument", VARIABLE, Writing::Line, "FROM x\nARG ¤=§\nRUN y\n"),
    named("docker run", VARIABLE, Writing::Shell, "docker run -d -e ¤='§' -p 80:80 x\n"),
    named("batch", VARIABLE, Writing::Line, "set ¤=§\r\necho x\r\n"),
    named("powershell", CODE, Writing::Doubled, "$¤ = '§'\n"),
    named("curl header", &[Header], Writing::Double, "curl -H \"X-¤: §\" https://h/\n"),
    named("helm", &[Camel], Writing::Shell, "helm install x y --set 'app.¤=§'\n"),
    // Programs.
    named("python", CODE, Writing::Double, "¤ = \"§\"\nlogin(¤)\n"),
    named("python, argument", &[Snake], Writing::Double, "client = Client(user=\"bob\", ¤=\"§\")\n"),
    named("python, dict", CODE, Writing::Single, "CONFIG = {'user': 'bob', '¤': '§', 'port': 1}\n"),
    named("python, environment", VARIABLE, Writing::Single, "os.environ['¤'] = '§'\n"),
    named("python, default", VARIABLE, Writing::Double, "x = os.environ.get(\"¤\", \"§\")\n"),
    named("javascript", CODE, Writing::Single, "const c = { user: 'bob', ¤: '§' };\n"),
    named("javascript, template", CODE, Writing::Backtick, "const ¤ = `§`;\n"),
    named("java, property", SETTING, Writing::Double, "  c.setProperty(\"¤\", \"§\");\n"),
    named("java, constant", VARIABLE, Writing::Double, "private static final String ¤ = \"§\";\n"),
    named("java, setter", &[Pascal], Writing::Double, "client.set¤(\"§\");\n"),
    named("go", &[Pascal], Writing::Double, "cfg := Config{User: \"bob\", ¤: \"§\"}\n"),
    named("rust", &[Snake], Writing::Double, "let ¤: &str = \"§\";\n"),
    named("c#", &[Pascal], Writing::Double, "public string ¤ { get; set; } = \"§\";\n"),
    named("php, define", VARIABLE, Writing::Single, "define('¤', '§');\n"),
    named("php, array", CODE, Writing::Single, "$config['¤'] = '§';\n"),
    named("ruby", &[Snake], Writing::Single, "  ¤: '§',\n"),
    named("ruby, arrow", &[Snake], Writing::Single, "config = { :user => 'bob', :¤ => '§' }\n"),
    named("c, define", VARIABLE, Writing::Double, "#define ¤ \"§\"\n"),
];

impl Spelling {
    /// The name in this spelling.
    pub fn write(self, name: &str) -> String {
        let words = name.split(' ');
        let capitalised = |word: &str| format!("{}{}", word[..1].to_ascii_uppercase(), &word[1..]);
        match self {
            Snake => name.replace(' ', "_"),
            Kebab => name.replace(' ', "-"),
            Dotted => name.replace(' ', "."),
            Words => name.to_owned(),
            Upper => name.replace(' ', "_").to_ascii_uppercase(),
            Pascal => words.map(capitalised).collect(),
            Header => words.map(capitalised).collect::<Vec<_>>().join("-"),
            Camel => {
                let (first, rest) = name.split_once(' ').unwrap_or((name, ""));
                let rest = rest.split(' ').filter(|word| !word.is_empty());
                first.to_owned() + &rest.map(capitalised).collect::<String>()
            }
        }
    }
}
