//! Measures how many generated secrets redaction finds: surroundings × kinds of values × seeds.
//!
//! The tests of this crate and the example `generated`, which prints the table, both include this file.

use std::fmt::Write as _;

/// How the surroundings delimit a value, and so which characters the value may contain and how they are
/// written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writing {
    /// Up to the end of the line; no blanks.
    Line,
    /// Unquoted YAML: like `Line`, without values that YAML would not read as plain text.
    Yaml,
    /// Between double quotes with backslash escapes.
    Double,
    /// Between single quotes with backslash escapes.
    Single,
    /// Between single quotes, which are doubled inside.
    Doubled,
    /// Between single quotes of a shell: `'\''` inside.
    Shell,
    /// XML text and attributes: entities.
    Xml,
    /// The userinfo of a URL: characters that a URL does not allow are percent-encoded, and sub-delimiters
    /// are not.
    Url,
    /// Up to a semicolon, within double quotes.
    Semicolon,
    /// Up to a blank; no characters with a meaning in a shell.
    Word,
    /// A literal with backticks.
    Backtick,
}

/// The text around a value; `§` marks the position of the value.
pub struct Surrounding {
    pub name: &'static str,
    pub writing: Writing,
    pub text: &'static str,
}

const fn at(name: &'static str, writing: Writing, text: &'static str) -> Surrounding {
    Surrounding { name, writing, text }
}

/// The places, in many languages and formats.
#[rustfmt::skip]
pub const SURROUNDINGS: &[Surrounding] = &[
    at("yaml", Writing::Yaml, "db:\n  user: app\n  password: §\n  port: 5432\n"),
    at("yaml comment", Writing::Yaml, "db:\n  password: § # rotated in May\n"),
    at("yaml list", Writing::Yaml, "users:\n  - name: app\n    role: x\n  - password: §\n    name: bob\n"),
    at("yaml list of passwords", Writing::Yaml, "passwords:\n  - §\nother: 1\n"),
    at("yaml double", Writing::Double, "db:\n  password: \"§\"\n"),
    at("yaml single", Writing::Doubled, "db:\n  password: '§'\n"),
    at("yaml block", Writing::Line, "db:\n  password: |\n    §\n  port: 1\n"),
    at("yaml folded", Writing::Line, "db:\n  password: >-\n    §\n  port: 1\n"),
    at("yaml env list", Writing::Yaml, "env:\n  - name: DB_PASSWORD\n    value: §\n  - name: X\n    value: y\n"),
    at("compose list", Writing::Line, "environment:\n  - POSTGRES_PASSWORD=§\n  - X=y\n"),
    at("dotenv", Writing::Line, "DB_USER=app\nDB_PASSWORD=§\nDB_PORT=1\n"),
    at("dotenv double", Writing::Double, "DB_PASSWORD=\"§\"\nX=1\n"),
    at("dotenv single", Writing::Shell, "DB_PASSWORD='§'\nX=1\n"),
    at("properties", Writing::Line, "spring.datasource.username=app\nspring.datasource.password=§\nx=y\n"),
    at("properties spaced", Writing::Line, "db.user = app\ndb.password = §\ndb.port = 1\n"),
    at("properties colon", Writing::Line, "db.user: app\ndb.password: §\ndb.port: 1\n"),
    at("ini", Writing::Line, "[client]\nuser=root\npassword=§\nport=1\n"),
    at("ini spaced", Writing::Line, "[database]\nuser = root\npassword = §\nport = 1\n"),
    at("toml", Writing::Double, "[db]\npassword = \"§\"\nport = 1\n"),
    at("toml single", Writing::Line, "[db]\npassword = '''§'''\n"),
    at("json", Writing::Double, "{\n  \"user\": \"app\",\n  \"password\": \"§\",\n  \"port\": 1\n}\n"),
    at("json inline", Writing::Double, "{\"user\":\"app\",\"password\":\"§\",\"port\":1}\n"),
    at("json array", Writing::Double, "{\"passwords\": [\"§\"], \"x\": 1}\n"),
    at("xml element", Writing::Xml, "<db>\n  <user>app</user>\n  <password>§</password>\n</db>\n"),
    at("xml attribute", Writing::Xml, "<user name=\"app\" password=\"§\" port=\"1\"/>\n"),
    at("xml property", Writing::Xml, "<property name=\"password\" value=\"§\"/>\n"),
    at("xml add key", Writing::Xml, "<add key=\"DbPassword\" value=\"§\" />\n"),
    at("xml entry", Writing::Xml, "<entry key=\"db.password\">§</entry>\n"),
    at("url postgres", Writing::Url, "url: postgres://app:§@db:5432/x\n"),
    at("url https", Writing::Url, "git clone https://bob:§@git.acme.io/x.git\n"),
    at("url in code", Writing::Url, "engine = create_engine(\"mysql+pymysql://app:§@db/x\")\n"),
    at("redis url", Writing::Url, "REDIS_URL=redis://:§@cache:6379/0\n"),
    at("jdbc", Writing::Url, "url=jdbc:mysql://db/x?user=app&password=§\n"),
    at("jdbc sqlserver", Writing::Semicolon, "String u = \"jdbc:sqlserver://db:1433;user=sa;password=§;encrypt=true\";\n"),
    at("ado", Writing::Semicolon, "var cs = \"Server=db;Database=x;User Id=sa;Password=§;Encrypt=true\";\n"),
    at("ado json", Writing::Semicolon, "\"Default\": \"Server=db;User Id=sa;Pwd=§\"\n"),
    at("ado bare", Writing::Semicolon, "CONNECTION=Server=db;User Id=sa;Password=§;Encrypt=true\n"),
    at("odbc", Writing::Semicolon, "cs = 'Driver={SQL Server};Server=db;Uid=sa;Pwd=§;'\n"),
    at("libpq", Writing::Word, "dsn = \"host=db user=app password=§ dbname=x\"\n"),
    at("flag equals", Writing::Shell, "deploy --user=app --password='§' --force\n"),
    at("flag space", Writing::Shell, "deploy --user app --password '§' --force\n"),
    at("flag bare", Writing::Word, "deploy --user app --password § --force\n"),
    at("flag bare equals", Writing::Word, "deploy --user app --password=§ --force\n"),
    at("mysql flag", Writing::Shell, "mysql -u root -p'§' shop\n"),
    at("curl user", Writing::Shell, "curl -u 'bob:§' https://acme.io/\n"),
    at("sshpass", Writing::Shell, "sshpass -p '§' ssh bob@host\n"),
    at("comment hash", Writing::Line, "x = 1\n# password: §\ny = 2\n"),
    at("comment slashes", Writing::Line, "int x;\n// password: §\nint y;\n"),
    at("comment equals", Writing::Line, "int x;\n// old password = §\nint y;\n"),
    at("comment block", Writing::Line, "/*\n * login: bob\n * password: §\n */\n"),
    at("comment inside", Writing::Line, "/* password: § */\n"),
    at("comment after", Writing::Line, "connect(); // password: §\n"),
    at("comment xml", Writing::Line, "<!-- password: § -->\n"),
    at("comment sql", Writing::Line, "-- password: §\nselect 1;\n"),
    at("prose", Writing::Line, "Log in as bob, the password is § on every host.\n"),
    at("markdown code", Writing::Backtick, "The password is `§`.\n"),
    at("markdown list", Writing::Line, "* user: bob\n* password: §\n"),
    at("markdown bold", Writing::Line, "**Password:** §\n"),
    at("docker env", Writing::Line, "FROM x\nENV DB_PASSWORD=§\nRUN y\n"),
    at("docker env space", Writing::Line, "FROM x\nENV DB_PASSWORD §\nRUN y\n"),
    at("docker env double", Writing::Double, "FROM x\nENV DB_PASSWORD=\"§\"\n"),
    at("docker arg", Writing::Line, "FROM x\nARG DB_PASSWORD=§\nRUN y\n"),
    at("export", Writing::Shell, "export DB_PASSWORD='§'\n"),
    at("export double", Writing::Double, "export DB_PASSWORD=\"§\"\n"),
    at("export bare", Writing::Word, "export DB_PASSWORD=§\n"),
    at("env prefix", Writing::Shell, "PGPASSWORD='§' psql -h db\n"),
    at("http header", Writing::Line, "POST /login\nX-Db-Password: §\nHost: x\n"),
    at("sql identified", Writing::Doubled, "CREATE USER 'app'@'%' IDENTIFIED BY '§';\n"),
    at("sql with password", Writing::Doubled, "ALTER ROLE app WITH PASSWORD '§';\n"),
    at("sql oracle", Writing::Word, "CREATE USER app IDENTIFIED BY \"§\";\n"),
    at("terraform", Writing::Double, "resource \"x\" \"y\" {\n  password = \"§\"\n}\n"),
    at("terraform variable", Writing::Double, "variable \"db_password\" {\n  default = \"§\"\n}\n"),
    at("kubernetes", Writing::Yaml, "kind: Secret\nmetadata:\n  name: x\nstringData:\n  db: §\n"),
    at("kubernetes double", Writing::Double, "kind: Secret\nstringData:\n  db: \"§\"\n"),
    at("python", Writing::Double, "password = \"§\"\nlogin(password)\n"),
    at("python argument", Writing::Double, "client = Client(user=\"app\", password=\"§\")\n"),
    at("python dict", Writing::Single, "CONFIG = {'USER': 'app', 'PASSWORD': '§', 'HOST': 'db'}\n"),
    at("javascript", Writing::Single, "const db = { user: 'app', password: '§' };\n"),
    at("javascript template", Writing::Backtick, "const password = `§`;\n"),
    at("java", Writing::Double, "private static final String PASSWORD = \"§\";\n"),
    at("java setter", Writing::Double, "dataSource.setPassword(\"§\");\n"),
    at("go", Writing::Double, "cfg := Config{User: \"app\", Password: \"§\"}\n"),
    at("go raw", Writing::Backtick, "const dbPassword = `§`\n"),
    at("rust", Writing::Double, "let password: &str = \"§\";\n"),
    at("csharp", Writing::Double, "public string Password { get; set; } = \"§\";\n"),
    at("php", Writing::Single, "define('DB_PASSWORD', '§');\n"),
    at("php array", Writing::Single, "$config['password'] = '§';\n"),
    at("ruby hash", Writing::Single, "config = { :user => 'app', :password => '§' }\n"),
    at("powershell", Writing::Doubled, "$password = '§'\n"),
    at("batch", Writing::Line, "set DB_PASSWORD=§\r\necho x\r\n"),
    at("ansible", Writing::Double, "ansible_password: \"§\"\n"),
    at("hocon", Writing::Double, "db { user = \"app\", password = \"§\" }\n"),
    at("escaped json", Writing::Word, "body = \"{\\\"user\\\": \\\"app\\\", \\\"password\\\": \\\"§\\\"}\"\n"),
];

/// Kinds of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Letters, digits and signs.
    Mixed,
    /// Begins with a sign.
    LeadingSign,
    /// Contains brackets, also unbalanced ones.
    Brackets,
    /// Contains quotes.
    Quotes,
    /// Contains blanks. Only in quotes.
    Blanks,
    /// Contains letters outside ASCII.
    Unicode,
    /// Words, a digit and a sign.
    Passphrase,
    /// Ends with a sign.
    TrailingSign,
}

pub const KINDS: &[Kind] = &[
    Kind::Mixed,
    Kind::LeadingSign,
    Kind::Brackets,
    Kind::Quotes,
    Kind::Blanks,
    Kind::Unicode,
    Kind::Passphrase,
    Kind::TrailingSign,
];

/// A sequence of pseudo-random numbers (SplitMix64).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66_D1CE_4E5B)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn of(&mut self, alphabet: &str) -> char {
        let characters: Vec<char> = alphabet.chars().collect();
        characters[self.below(characters.len())]
    }
}

const SIGNS: &str = "!@#$%^&*()-_=+[]{}<>?/|~.,:;";
const LETTERS: &str = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ";
const DIGITS: &str = "23456789";

/// A password of the kind, with ten to eighteen characters. One in four characters is a sign, one in five is
/// a digit.
pub fn password(kind: Kind, dice: &mut Dice) -> String {
    let length = 10 + dice.below(9);
    let mut value: Vec<char> = (0..length)
        .map(|_| match dice.below(20) {
            0..5 => dice.of(SIGNS),
            5..9 => dice.of(DIGITS),
            _ => dice.of(LETTERS),
        })
        .collect();
    // Every class occurs, and the first character is a letter unless the kind says otherwise.
    value[0] = dice.of(LETTERS);
    value[1] = dice.of(DIGITS);
    value[2] = dice.of(SIGNS);
    value[length - 1] = dice.of(LETTERS);
    let inside = 3 + dice.below(length - 5);
    match kind {
        Kind::Mixed => {}
        Kind::LeadingSign => value[0] = dice.of("!@#$%^&*({<[~.-+?"),
        Kind::Brackets => {
            value[inside] = dice.of("()[]{}<>");
            value[length - 2] = dice.of("()[]{}<>");
        }
        Kind::Quotes => value[inside] = dice.of("\"'`"),
        Kind::Blanks => value[inside] = ' ',
        Kind::Unicode => value[inside] = dice.of("éüßñøçÄдж漢"),
        Kind::TrailingSign => value[length - 1] = dice.of("!@#$%^&*)}]>?=~."),
        Kind::Passphrase => return passphrase(dice),
    }
    value.into_iter().collect()
}

fn passphrase(dice: &mut Dice) -> String {
    const WORDS: [&str; 16] = [
        "Hunter", "dragon", "Winter", "tiger", "Battery", "staple", "Sunset", "coffee", "Purple", "rocket", "Monkey",
        "garden", "Copper", "velvet", "Anchor", "pepper",
    ];
    let joiner = dice.of("-_.!+$");
    let mut words: Vec<&str> = Vec::new();
    for _ in 0..3 + dice.below(2) {
        words.push(WORDS[dice.below(WORDS.len())]);
    }
    format!("{}{}{}", words.join(&joiner.to_string()), dice.of(DIGITS), dice.of("!$#%?"))
}

/// The value as these surroundings write it; `None` if they cannot hold it.
pub fn written(value: &str, writing: Writing) -> Option<String> {
    let has = |signs: &str| value.contains(|character| signs.contains(character));
    let escaped = |quote: char| value.replace('\\', "\\\\").replace(quote, &format!("\\{quote}"));
    match writing {
        Writing::Line => (!has(" ")).then(|| value.to_owned()),
        Writing::Yaml => {
            let is_special = value.starts_with(|first| "!&*[]{}<>|%@`#\"',-?:.~".contains(first))
                || value.contains(": ")
                || value.ends_with(':');
            (!has(" ") && !is_special).then(|| value.to_owned())
        }
        Writing::Double => Some(escaped('"')),
        Writing::Single => Some(escaped('\'')),
        Writing::Doubled => Some(value.replace('\'', "''")),
        Writing::Shell => Some(value.replace('\'', "'\\''")),
        Writing::Xml => {
            Some(value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;"))
        }
        Writing::Url => {
            let mut out = String::new();
            for byte in value.bytes() {
                if byte.is_ascii_alphanumeric() || b"-_.~!$*+,;=()'".contains(&byte) {
                    out.push(char::from(byte));
                } else {
                    let _ = write!(out, "%{byte:02X}");
                }
            }
            Some(out)
        }
        Writing::Semicolon => (!has(";\"' ")).then(|| value.to_owned()),
        Writing::Word => (!has(" \"'`\\$&|;<>(){}*?!#~[]") && value.is_ascii()).then(|| value.to_owned()),
        Writing::Backtick => (!has("`\\")).then(|| value.replace("${", "$.")),
    }
}

/// Result for the values of one kind in one kind of surroundings.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Count {
    pub num_values: usize,
    pub num_found: usize,
    /// Texts in which more than two consecutive characters of the value are left.
    pub leaks: Vec<String>,
}

/// Plants `num_values` passwords of a kind in the surroundings. A value counts as found if no piece of three
/// or more of its characters is left. Pieces that the surroundings also contain do not count.
pub fn measure(surrounding: &Surrounding, kind: Kind, num_values: u64, redact: &dyn Fn(&str) -> String) -> Count {
    let mut count = Count::default();
    for seed in 0..num_values {
        let mut dice = Dice::new(seed * 977 + kind as u64);
        let mut tries = 0;
        let value = loop {
            tries += 1;
            match written(&password(kind, &mut dice), surrounding.writing) {
                Some(value) => break Some(value),
                None if tries == 20 => break None,
                None => {}
            }
        };
        let Some(value) = value else { continue };
        let text = surrounding.text.replace('§', &value);
        let redacted = redact(&text);
        count.num_values += 1;
        if is_gone(surrounding.text, &value, &redacted) {
            count.num_found += 1;
        } else {
            count.leaks.push(redacted);
        }
    }
    count
}

/// Whether the redacted text contains no three consecutive characters of the value. Pieces that the
/// surroundings contain do not count.
fn is_gone(surrounding: &str, value: &str, redacted: &str) -> bool {
    let redacted = without_markers(redacted);
    let characters: Vec<char> = value.chars().collect();
    characters.windows(3).all(|piece| {
        let piece: String = piece.iter().collect();
        !redacted.contains(&piece) || surrounding.contains(&piece)
    })
}

fn without_markers(redacted: &str) -> String {
    let mut parts = redacted.split("[REDACTED");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push('\n');
        out.push_str(part.split_once(']').map_or(part, |(_, rest)| rest));
    }
    out
}

/// Ways to wrap base64 beside the name of a secret: a name, the text before, a line with `§` for its base64,
/// the text after.
#[rustfmt::skip]
pub const WRAPPED: &[(&str, &str, &str, &str)] = &[
    ("yaml block", "api_secret: |\n", "  §\n", "other: 1\n"),
    ("yaml folded", "client_secret: >-\n", "    §\n", "other: 1\n"),
    ("yaml double", "client_secret: \"", "§\n  ", "\"\nother: 1\n"),
    ("properties", "client.secret=", "§\\\n  ", "\nother=1\n"),
    ("shell double", "export API_TOKEN=\"", "§\n", "\"\necho x\n"),
    ("python triple", "SECRET_KEY = \"\"\"\n", "§\n", "\"\"\"\nx = 1\n"),
    ("python literals", "SECRET_KEY = (\n", "    \"§\"\n", ")\nx = 1\n"),
    ("java literals", "String apiSecret =\n", "    \"§\" +\n", "    \"\";\n"),
    ("javascript template", "const apiToken = `", "§\n", "`;\n"),
    ("go raw", "const signingKey = `\n", "§\n", "`\n"),
    ("xml element", "<client-secret>\n", "    §\n", "</client-secret>\n"),
    ("comment hash", "# secret key:\n", "# §\n", "x = 1\n"),
    ("comment slashes", "// api token:\n", "//   §\n", "int x;\n"),
    ("dotenv", "PRIVATE_KEY=\"", "§\n", "\"\nX=1\n"),
    ("json escaped", "{\"privateKey\": \"", "§\\n", "\", \"x\": 1}\n"),
    ("markdown", "Client secret:\n\n```\n", "§\n", "```\n"),
    ("heredoc", "cat > secret.key <<EOF\n", "§\n", "EOF\n"),
    ("header", "X-Api-Token: ", "§\n ", "\nHost: x\n"),
    ("toml", "private_key = '''\n", "§\n", "'''\nx = 1\n"),
    ("password block", "keystore_password: |\n", "  §\n", "other: 1\n"),
];

/// Number of wrapped runs of base64, out of `num_values`, whose lines are all redacted.
pub fn measure_wrapped(
    index: usize,
    (num_lines, width): (usize, usize),
    num_values: u64,
    redact: &dyn Fn(&str) -> String,
) -> Count {
    const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (_, before, line, after) = WRAPPED[index];
    let mut count = Count::default();
    for seed in 0..num_values {
        let mut dice = Dice::new(seed * 31 + index as u64);
        let mut lines: Vec<String> = (0..num_lines).map(|_| (0..width).map(|_| dice.of(BASE64)).collect()).collect();
        let last = 10 + dice.below(width - 12);
        let end = lines.last_mut().expect("at least one line");
        end.truncate(last / 4 * 4 + 2);
        end.push_str("==");
        let body: String = lines.iter().map(|part| line.replace('§', part)).collect();
        let redacted = redact(&format!("{before}{body}{after}"));
        count.num_values += 1;
        if lines.iter().all(|part| !redacted.contains(&part[..part.len().min(8)])) {
            count.num_found += 1;
        } else {
            count.leaks.push(redacted);
        }
    }
    count
}
