//! Secrets of no particular provider. They come last: where a provider's rule finds the same text, its id is shown.

use super::{Check, Find, Pattern, Rule, checked, token};
use crate::name::Naming;

/// First of all: the base64 of a key may look like the token of some provider.
pub(super) static KEYS: &[Rule] = &[Rule {
    id: "private-key",
    keywords: &["-----BEGIN", "Private-Lines:", "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY"],
    find: Find::PrivateKey,
}];

pub(super) static RULES: &[Rule] = &[
    token("age-secret-key", &["AGE-SECRET-KEY-"], r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{40,}"),
    token("jwt", &["eyJ"], r"eyJ[A-Za-z0-9_\-]{10,}\.(?:eyJ)?[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}"),
    checked("basic-authorization", &["basic "], r"(?i:basic) +([A-Za-z0-9+/\-_]{8,}={0,2})", Check::BasicAuth),
    checked(
        "bearer-authorization",
        &["bearer "],
        r#"(?i:bearer) +[\\"']{0,2}([A-Za-z0-9._~+/\-]{12,}={0,2})"#,
        Check::Random,
    ),
    checked(
        "authorization-header",
        &["authorization"],
        r#"(?i:authorization)[\\"'`\])]{0,4}[ \t]{0,2}[:=,(][ \t]{0,3}[\\"'`]{0,4}(?i:(?:token|apikey|api-key|key|ssws|negotiate|splunk|hmac)[ =]{1,2})?[\\"']{0,2}([A-Za-z0-9._~+/\-]{16,}={0,2})(?:[^\w(\[.=]|\z)"#,
        Check::Random,
    ),
    Rule { id: crate::url::RULE, keywords: &["://"], find: Find::Userinfo },
    Rule {
        id: "dsn-password",
        keywords: &["@tcp(", "@unix("],
        find: Find::Pattern(Pattern {
            regex: r#"[A-Za-z0-9_.\-]{1,60}:([^\s@:"'`/\\]{1,60})@(?:tcp|unix)\("#,
            back: 120,
            check: Check::Chosen,
        }),
    },
    checked(
        "jdbc-oracle-password",
        &["jdbc:oracle:"],
        r#"jdbc:oracle:[a-z0-9]+:[A-Za-z0-9_.$#\-]+/([^\s@"'`/\\]{2,60})@"#,
        Check::Chosen,
    ),
    checked(
        "command-line-password",
        &[
            "mysql",
            "mariadb",
            "sshpass",
            "redis-cli",
            "docker login",
            "curl ",
            "psexec",
            "smbclient",
            "ldapsearch",
            "mongosh",
            "mongo ",
            "htpasswd",
            "wget ",
            "passin",
            "passout",
            "expect ",
            "zip -p",
            "7z ",
        ],
        r#"(?i:(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb)\b(?:[ \t]+[^\n|;&]{0,160})?[ \t]-p|sshpass[ \t]+-p[ \t]*|redis-cli\b[^\n|;&]{0,160}[ \t]-a[ \t]+|docker login\b[^\n|;&]{0,160}[ \t]-p[ \t]+|(?:curl|smbclient)\b[^\n|;]{0,200}[ \t](?:-u|--user|-U)[ \t=]*['"\\]{0,2}[A-Za-z0-9_.@\-]{1,60}[:%]|ldapsearch\b[^\n|;&]{0,200}[ \t]-w[ \t]+|mongo(?:sh)?\b[^\n|;&]{0,200}[ \t]-p[ \t]+|psexec\b[^\n|;&]{0,160}[ \t]-p[ \t]+|htpasswd\b[^\n|;&]{0,20}[ \t]-[a-zA-Z]*b[a-zA-Z]*[ \t]+[^ \t\n]+[ \t]+[^ \t\n]+[ \t]+|pass(?:in|out)[ \t]+['"]?pass:|zip[ \t]+-P[ \t]*|7z[ \t]+[a-z][^\n|;&]{0,80}[ \t]-p)['"]?([^\s"'`\\|;&<>()$]{4,80})"#,
        Check::Chosen,
    ),
    checked(
        "netrc-password",
        &["login "],
        r#"login[ \t]+[^\s"'`]{1,80}[ \t]+password[ \t]+([^\s"'`\\]{3,100})"#,
        Check::Chosen,
    ),
    checked(
        "sql-password",
        &["identified by", "with password", "set password", "password for"],
        r#"(?i:identified by(?: password)?|with (?:encrypted )?password|set password|password for [^\n=]{1,60})[ \t]*=?[ \t]*(?i:password\()?\\?['"]([^\s"'`\\]{4,100})\\?['"]"#,
        Check::Chosen,
    ),
    checked(
        "translated-password",
        &[
            "contraseña",
            "contrasena",
            "mot de passe",
            "kennwort",
            "wachtwoord",
            "lösenord",
            "senha",
            "hasło",
            "пароль",
            "Пароль",
            "密码",
            "密碼",
            "パスワード",
            "비밀번호",
        ],
        r#"(?i:contrase(?:ñ|n)a|mot de passe|kennwort|wachtwoord|lösenord|senha|hasło|пароль|Пароль|密码|密碼|パスワード|비밀번호)[\\"'`*]{0,3}[ \t]{0,2}(?:[:=]|：)[*]{0,2}[ \t]{0,3}[\\"'`]{0,2}([^\s"'`,;\\]{6,64})"#,
        Check::Strong,
    ),
    checked(
        "secure-string",
        &["convertto-securestring"],
        r#"(?i:convertto-securestring)[ \t]+(?i:-string[ \t]+)?\\?["']([^\s"'\\]{4,100})\\?["']"#,
        Check::Chosen,
    ),
    checked(
        "basic-auth-pair",
        &["auth=(", "auth = (", "basicauth(", "httpbasicauth(", "setbasicauth(", "basic_auth("],
        r#"(?i:auth ?= ?|(?:http|set)?basicauth|basic_auth)\([ ]?\\?["'][^\s"'\\]{1,60}\\?["'],[ ]?(?:Some\()?\\?["']([^\s"'\\]{4,100})\\?["']"#,
        Check::Chosen,
    ),
    checked(
        "signing-secret",
        &["jwt.sign(", "jwt.verify(", "jwt.encode(", "jwt.decode(", "hmac.new(", "createhmac("],
        r#"(?i:jwt\.(?:sign|verify|encode|decode)|hmac\.new|createhmac)\([^\n"'\\]{0,80}(?:\\?["'][^\s"'\\]{1,12}\\?["'],[ ]?)?\\?["']([^\s"'\\]{12,200})\\?["']"#,
        Check::Random,
    ),
    token(
        "raw-private-key",
        &["private_key", "privatekey", "private-key", "privkey"],
        r#"(?i:priv(?:ate)?[_\-]?key)[\\"'\])]{0,3}[ \t]{0,3}[=:,(][ \t]{0,3}[\\"']{0,2}(?:0x)?([0-9a-fA-F]{64})\b"#,
    ),
    checked(
        "url-parameter",
        &["key=", "appid="],
        r#"(?i:key|appid)=([A-Za-z0-9_\-]{32,128})(?:[^\w(\[.=+/]|\z)"#,
        Check::Random,
    ),
    Rule {
        id: "piped-password",
        keywords: &["chpasswd", "password-stdin"],
        find: Find::Pattern(Pattern {
            regex: r#"echo[ \t]+(?:-n[ \t]+)?\\?["']?(?:[A-Za-z_][A-Za-z0-9_\-]*:)?([^\s"'|$\\]{4,100})\\?["']?[ \t]*\|[^\n|]{0,80}(?:chpasswd|password-stdin)"#,
            back: 240,
            check: Check::Chosen,
        }),
    },
    checked(
        "literal-of-a-secret",
        &["from-literal"],
        r#"from-literal[= ]['"]?[A-Za-z0-9_.\-]+=\\?['"]?([^\s"'`\\]{4,100})"#,
        Check::Chosen,
    ),
    Rule { id: "secret-manifest", keywords: crate::manifest::KEYWORDS, find: Find::Manifest },
    Rule { id: "encoded-secret", keywords: crate::encoded::KEYWORDS, find: Find::Encoded },
    Rule { id: "generic-password", keywords: &["pass", "pwd"], find: Find::Assignment(Naming::Password) },
    Rule { id: "generic-secret", keywords: &["secret", "cred"], find: Find::Assignment(Naming::Secret) },
    Rule { id: "generic-token", keywords: &["token", "bearer"], find: Find::Assignment(Naming::Token) },
    Rule { id: "generic-api-key", keywords: &["key"], find: Find::Assignment(Naming::Key) },
    Rule { id: "generic-auth", keywords: &["auth"], find: Find::Assignment(Naming::Auth) },
];
