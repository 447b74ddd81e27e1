//! Inserts secrets into whole files of many kinds, and checks that all secrets are redacted and that no other
//! text changes.

use crate::rule_tests::CASES;
use crate::synthesis::{Dice, Fill, fill};
use crate::{Redactor, SecretsIgnore};

/// Templates of texts around a token that is recognised without a name. `§` is replaced by the token.
const PLACES: [&str; 15] = [
    "x = \"§\"\n",
    "    call('§', 7);\n",
    "// was § until May\n",
    "# §\n",
    "/* use §. */\n",
    "See `§` for access.\n",
    "| staging | § | old |\n",
    "curl -H \"X-Auth: §\" https://api.host/v1\n",
    "https://api.host/v1?k=§&page=2\n",
    "- run: deploy §\n",
    "{\"k\":\"§\",\"v\":1}\n",
    "   \"source\": [\"client = Client(\\\"§\\\")\\n\", \"x\"]\n",
    "\"line one\\n§\\nline two\"\n",
    "<a href=\"https://h/?k=§\">x</a>\n",
    "VALUE=§\n",
];

/// Files with secrets that are identified only by their names. `«kind»` is replaced by a value of the kind
/// `kind`.
const FILES: [&str; 20] = [
    "import os\n\nDB_PASSWORD = '«pw»'\nAPI_KEY = \"«an32»\"  # production\nclient = Client(password=\"«pw»\", token='«hex40»')\n",
    "# settings.py\nSECRET_KEY = 'k1-«an50»'\nDATABASES = {'default': {'USER': 'app', 'PASSWORD': '«pw»', 'HOST': 'db'}}\n",
    "{\n \"cells\": [\n  {\n   \"source\": [\n    \"password = \\\"«pw»\\\"\\n\",\n    \"config = {\\\"api_key\\\": \\\"«an32»\\\"}\\n\",\n    \"# token: «an40»\\n\",\n    \"engine = create_engine('postgresql://app:«pw»@db/x')\\n\"\n   ]\n  }\n ]\n}\n",
    "spring.datasource.username=app\nspring.datasource.password=«pw»\njwt.secret=«an40»\n",
    "apiVersion: v1\nkind: Pod\nspec:\n  env:\n    - name: DB_PASSWORD\n      value: «pw»\n    - name: API_TOKEN\n      value: \"«an40»\"\n",
    "services:\n  db:\n    environment:\n      POSTGRES_PASSWORD: «pw»\n      - REDIS_PASSWORD=«pw»\n",
    "FROM alpine\nENV DB_PASSWORD=«pw»\nENV API_TOKEN «hex40»\nRUN mysql -u root -p«pw» shop\n",
    "#!/bin/sh\nexport SECRET_TOKEN=«hex40»\nPGPASSWORD='«pw»' psql -h db\ncurl -u deploy:«pw» https://h/\ndocker login -u ci -p «pw» registry\nsshpass -p «pw» ssh host\n",
    "const config = {\n  apiKey: \"«an39»\",\n  clientSecret: '«url40»',\n  auth: { password: `«pw»` },\n};\nprocess.env.TOKEN = \"«an32»\";\n",
    "public class Db {\n  private static final String PASSWORD = \"«pw»\";\n  DriverManager.getConnection(\"jdbc:mysql://db/x?user=a&password=«pw»\");\n  dataSource.setPassword(\"«pw»\");\n}\n",
    "var cs = \"Server=db;Database=x;User Id=sa;Password=«pw»;Encrypt=true\";\nvar secret = \"«an40»\";\n",
    "package main\n\nconst apiKey = \"«hex32»\"\n\nvar dbPassword string = \"«pw»\"\n\nfunc dsn() string { return \"app:«pw»@tcp(db:3306)/x\" }\n",
    "fn main() {\n    let password = \"«pw»\";\n    let token: &str = \"«an40»\";\n    let url = \"redis://:«pw»@cache:6379/0\";\n    let config = Config { api_key: String::from(\"«an32»\") };\n}\n",
    "provider \"x\" {\n  access_key = \"«up20»\"\n  secret_key = \"«b6440»\"\n  password   = \"«pw»\"\n}\n",
    "CREATE USER app IDENTIFIED BY '«pw»';\nALTER ROLE app WITH PASSWORD '«pw»';\n",
    "<configuration>\n  <password>«pw»</password>\n  <add key=\"ApiSecret\" value=\"«an40»\"/>\n  <property name=\"password\" value=\"«pw»\"/>\n  <connection url=\"amqp://app:«pw»@mq/\"/>\n</configuration>\n",
    "# Access\n\nThe password is `«pw»`, the token: `«an40»`.\n\n    Authorization: Bearer «an40»\n    X-Api-Key: «hex32»\n\nAsk for mongodb://root:«pw»@mongo:27017/admin.\n",
    "Rotate these:\n\n* API key: «an32»\n* client_secret: «an40»\n* mongodb+srv://app:«pw»@c0.host/x\n",
    "<?php\ndefine('DB_PASSWORD', '«pw»');\n$config['secret'] = '«an32»';\n$pdo = new PDO($dsn, 'app', $password = \"«pw»\");\n",
    "production:\n  password: <%= x %>\n  secret_key_base: «hex128»\n  smtp: { user_name: a, password: \"«pw»\" }\nmachine host login app password «pw»\n",
];

fn redactor() -> Redactor {
    Redactor::new(&SecretsIgnore::default()).expect("no patterns")
}

/// Templates of tokens that are identified without a name. The tokens contain no quotes and no spaces.
fn nameless_tokens() -> impl Iterator<Item = (&'static str, &'static str)> {
    let named = |template: &str| {
        template.contains([' ', '"', '\'', '\n', '=', '/', '?', '@', '\\']) || template.starts_with('{')
    };
    CASES.iter().flat_map(move |(rule, templates)| {
        templates.iter().filter(move |template| !named(template)).map(|template| (*rule, *template))
    })
}

#[test]
fn tokens_are_redacted_in_every_place() {
    let redactor = redactor();
    let mut survivors = Vec::new();
    let mut num_planted = 0;
    for (seed, (rule, template)) in nameless_tokens().enumerate() {
        for (index, place) in PLACES.iter().enumerate() {
            let (token, _) = fill(template, &mut Dice::new((seed * PLACES.len() + index) as u64), Fill::Random);
            let text = format!("before\n{}after\n", place.replace('§', &token));
            let redacted = redactor.redact(&text);
            num_planted += 1;
            if redacted.text.contains(&token) || redacted.text.lines().count() != text.lines().count() {
                survivors.push(format!("{rule}: {text}"));
            }
        }
    }
    assert!(survivors.is_empty(), "{survivors:#?}");
    assert!(num_planted >= 1_500, "{num_planted}");
}

#[test]
fn only_named_secrets_change() {
    let redactor = redactor();
    let mut faults = Vec::new();
    let mut num_planted = 0;
    for (number, file) in FILES.iter().enumerate() {
        for seed in 0..20 {
            let (text, values) = fill(file, &mut Dice::new(seed * 100 + number as u64), Fill::Random);
            num_planted += values.len();
            let redacted = redactor.redact(&text);
            faults.extend(
                values
                    .iter()
                    .filter(|value| redacted.text.contains(*value))
                    .map(|value| format!("survives: {value} in\n{text}")),
            );
            let expect = values.iter().fold(text.clone(), |text, value| text.replace(value.as_str(), "§"));
            let shown = without_markers(&redacted.text);
            if shown != without_users(&expect) {
                faults.push(format!("changed: {shown}\nfrom: {expect}"));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults of {num_planted}: {}",
        faults.len(),
        faults[..faults.len().min(12)].join("\n")
    );
    assert!(num_planted >= 60 * 20, "{num_planted}");
}

fn without_markers(text: &str) -> String {
    let marker = regex::Regex::new(r"\[REDACTED(?::[a-z0-9-]+)?\]").expect("valid");
    marker.replace_all(text, "§").into_owned()
}

/// In URLs, the user is redacted together with the password. In `settings.py`, the prefix of the key is
/// redacted together with the rest of the key.
fn without_users(text: &str) -> String {
    ["app:§@db", "app:§@mq", "app:§@c0", "root:§@mongo", ":§@cache", "k1-§", "app:§@tcp"].iter().fold(
        text.to_owned(),
        |text, whole| {
            let host = whole.split_once('@').map_or(String::new(), |(_, host)| format!("@{host}"));
            let kept = if whole.ends_with("tcp") { "app:§" } else { "§" };
            text.replace(whole, &format!("{kept}{host}"))
        },
    )
}
