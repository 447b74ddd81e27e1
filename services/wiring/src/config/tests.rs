use super::*;

fn read(text: &str, variables: &[(&str, &str)]) -> Result<ClusterConfig, InvalidConfig> {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    ClusterConfig::read(text, variables)
}

#[test]
fn environment_overrides_the_file() {
    let text = "[http]\nlisten = \"127.0.0.1:1\"\n[pipeline]\nwindow = 3\n";
    let config = read(text, &[("CAIRN__PIPELINE__WINDOW", "7"), ("CAIRN__HTTP__LISTEN", "127.0.0.1:2"), ("HOME", "x")]);
    let config = config.expect("sound");
    assert_eq!((config.pipeline.window, config.http.listen.port()), (7, 2));
    assert!(config.rabbitmq.is_none());
    config.validate().expect("sound");
}

fn local(text: &str, variables: &[(&str, &str)]) -> Result<EmbeddingConfig, InvalidConfig> {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    local_embedding(text, variables)
}

const LOCAL: &str = "num_workers = 2\n[embedding]\nkind = \"http\"\n[embedding.provider]\nprovider = \"tei\"\n\
                     url = \"https://tei.example.org/embed\"\nmodel = \"a\"\ndimensions = 8\n";

#[test]
fn embedding_of_local_mode_is_read_from_its_section_and_variables() {
    let model = |config: &EmbeddingConfig| config.model_id().expect("a model").name;
    let shipped = local("num_workers = 2\n", &[]).expect("sound");
    assert!(matches!(shipped, EmbeddingConfig::Local));
    let of_file = local(LOCAL, &[]).expect("sound");
    assert!(model(&of_file).starts_with("a-"), "{}", model(&of_file));
    let variables = [("CAIRN__EMBEDDING__PROVIDER__MODEL", "b"), ("CAIRN__QDRANT__URL", "ignored"), ("HOME", "x")];
    let changed = local(LOCAL, &variables).expect("sound");
    assert!(model(&changed).starts_with("b-"), "{}", model(&changed));
    let only_variable = local("", &[("CAIRN__EMBEDDING__KIND", "local")]).expect("sound");
    assert_eq!(model(&only_variable), model(&shipped));
}

#[test]
fn wrong_embedding_of_local_mode_is_refused() {
    let check = |text: &str, expect: &str| {
        let error = format!("{}", local(text, &[]).expect_err(text));
        assert!(error.contains(expect), "{text}: {error}");
    };
    let with = |line: &str| LOCAL.replace("kind = \"http\"\n", &format!("kind = \"http\"\n{line}\n"));
    check(&with("key_name = \"k\""), "[embedding] `key_name` is allowed only in clusters");
    check(&with("key_nam = \"k\""), "`key_nam`: unknown key; the nearest known key is `key_name`");
    check(&with("colour = \"red\""), "[embedding] unknown key; the nearest known key is");
    check(&LOCAL.replace("dimensions = 8", "dimensions = 0"), "`dimensions` must not be 0");
    check(&LOCAL.replace("https", "http"), "`url` has no TLS");
    check("[embedding\n", "line 1: not TOML");
}

#[test]
fn password_of_digits_is_a_text() {
    let config = read("[neo4j]\nurl = \"bolt://h\"", &[("CAIRN__NEO4J__PASSWORD", "12345")]);
    config.expect("a text").validate().expect("sound");
}

#[test]
fn broker_addresses_are_read_from_a_variable() {
    let addresses = |value: &str| {
        let config = read("", &[("CAIRN__RABBITMQ__URLS", value)]).expect("addresses");
        config.rabbitmq.expect("a section").urls.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(addresses("amqp://u:hunter2@a/v"), ["amqp://a/v"]);
    assert_eq!(addresses("amqp://u:hunter2@a/v, amqp://u:hunter2@b/v"), ["amqp://a/v", "amqp://b/v"]);
    assert_eq!(addresses("['amqp://u:hunter2@a/v']"), ["amqp://a/v"]);
}

#[test]
fn no_form_of_a_secret_is_shown_in_an_error() {
    const SECRET: &str = "hunter2hunter2";
    let fields = [
        ("rabbitmq", "urls"),
        ("rabbitmq", "management_url"),
        ("rabbitmq", "prefetch"),
        ("rabbitmq", "stage_prefetch"),
        ("rabbitmq.topology", "prefix"),
        ("rabbitmq.topology", "owned_keys"),
        ("s3", "endpoint"),
        ("s3", "bucket"),
        ("s3", "checksums"),
        ("neo4j", "url"),
        ("neo4j", "namespace"),
        ("qdrant", "url"),
        ("qdrant", "collection_prefix"),
        ("embedding", "kind"),
        ("embedding", "key_name"),
        ("embedding.provider", "url"),
        ("http", "listen"),
        ("pipeline", "window"),
        ("query.gateway", "allowed_origins"),
        ("organisations.hosting", "owner"),
        ("organisations.hosting", "url"),
        ("s3", "access_key_id"),
        ("s3", "secret_access_key"),
        ("s3", "session_token"),
        ("neo4j", "password"),
        ("qdrant", "api_key"),
        ("embedding.provider", "api_key"),
        ("organisations.hosting", "token"),
    ];
    let forms = [
        "'SECRET'",
        "'amqp://u:SECRET@h/v'",
        "'u:SECRET@h:5672'",
        "'SECRET:u@h'",
        "'amqp:u:SECRET@h'",
        "'amqp:/u:SECRET@h/v'",
        "'amqp://u:a/SECRET@h'",
        "'http://h/?token=SECRET'",
        "['amqp:u:SECRET@h']",
        "['SECRET', 7]",
        "[['SECRET']]",
        "[{ SECRET = 'x' }]",
        "{ SECRET = 'SECRET' }",
        "{ value = ['SECRET'] }",
        "{ env = { SECRET = 1 } }",
        "{ env = 'A', file = 'SECRET' }",
        "'SECRET",
        "20242024202420",
        "2024.202420242",
    ];
    let is_shown = |error: &InvalidConfig| {
        let shown = format!("{error} {error:?}");
        [SECRET, "20242024202420", "2024.202420242"].iter().any(|secret| shown.contains(secret))
    };
    let mut num_errors = 0;
    for (section, field) in fields {
        for form in forms.map(|form| form.replace("SECRET", SECRET)) {
            let header = if section == "organisations.hosting" { "[[organisations]]\ntenant = 'a'\n" } else { "" };
            let kind = match (section, field) {
                ("organisations.hosting", "owner") => "kind = 'github'\n",
                ("organisations.hosting", "url") => "kind = 'gitea'\nowner = 'a'\n",
                ("organisations.hosting", _) => "kind = 'github'\nowner = 'a'\n",
                _ => "",
            };
            let in_file = read(&format!("{header}[{section}]\n{kind}{field} = {form}\n"), &[]);
            let in_place_of_section = read(&format!("{} = {form}\n", section.replace('.', "_")), &[]);
            let variable = format!("CAIRN__{}__{}", section.replace('.', "__"), field).to_uppercase();
            let in_variable = read("", &[(&variable, &form)]);
            for result in [in_file, in_place_of_section, in_variable] {
                let checked = result.and_then(|config| config.validate());
                let Err(error) = checked else { continue };
                num_errors += 1;
                assert!(!is_shown(&error), "[{section}] {field} = {form}: {error}");
            }
        }
    }
    assert!(num_errors > 200, "only {num_errors} forms are refused");
    for (section, text) in [("RABBITMQ", "amqp://u:hunter2hunter2@h/v"), ("NEO4J", SECRET), ("QDRANT", SECRET)] {
        let error = read("", &[(&format!("CAIRN__{section}"), text)]).expect_err("no section");
        assert!(!is_shown(&error), "{error}");
    }
}

#[test]
fn secret_given_as_a_value_is_named_with_its_remedy() {
    const SECRET: &str = "hunter2hunter2";
    let form = "expected `{ env = \"NAME\" }` or `{ file = \"PATH\" }`, never the secret itself";
    let check = |section: &str, field: &str| {
        let provider =
            "[embedding]\nkind = 'http'\n[embedding.provider]\nprovider = 'tei'\nmodel = 'm'\ndimensions = 8\n";
        let file = match section {
            "s3" => "[s3]\nbucket = 'artifacts'\n",
            _ => provider,
        };
        let variable = format!("CAIRN__{}__{}", section.replace('.', "__"), field).to_uppercase();
        let of_variable = read(file, &[(&variable, SECRET)]).expect_err("a value").to_string();
        let of_file = read(&format!("{file}{field} = '{SECRET}'\n"), &[]).expect_err("a value").to_string();
        let (first, rest) = section.split_once('.').map_or((section, ""), |(first, _)| (first, "provider."));
        for error in [of_variable, of_file] {
            assert!(error.contains(&format!("[{first}] `{rest}{field}`: {form}")), "{error}");
            assert!(!error.contains(SECRET), "{error}");
        }
    };
    check("s3", "access_key_id");
    check("s3", "secret_access_key");
    check("s3", "session_token");
    check("embedding.provider", "api_key");
}

#[test]
fn all_faults_of_all_sections_are_in_one_list() {
    let text = "cache_directory = 7\n[rabitmq]\n[http]\nlisten = 'nowhere'\n\
                [neo4j]\npasswrd = 'x'\nmax_connections = 'many'\n\
                [qdrant]\nurl = 'bolt://h'\ntimeout_ms = 0\n\
                [embedding]\nkind = 'htp'\n[pipeline]\nwindow = 0\n\
                [[organisations]]\ntenant = 'acme'\nhosting = { kind = 'github', ownr = 'acme' }\n";
    let error = read(text, &[("CAIRN__QDRANT__SHARD_NUMBER", "70000000000")]).expect_err("faults").to_string();
    let expected = [
        "`rabitmq`: unknown key; the nearest known key is `rabbitmq`",
        "`cache_directory`: expected a text, found a whole number",
        "[http] `listen`: invalid socket address syntax",
        "[neo4j] `passwrd`: unknown key; the nearest known key is `password`",
        "[neo4j] `max_connections`: expected a whole number from 0, found a text",
        "[neo4j] `url` is missing",
        "[qdrant] `shard_number`: expected a whole number from 0 to 4294967295",
        "[embedding] `kind`: expected `local` or `http`",
        "[pipeline] `window` must be at least 1",
        "[[organisations]] 1: `hosting.ownr`: unknown key; the nearest known key is `owner`",
        "[[organisations]] 1: `hosting.owner` is missing",
    ];
    for fault in expected {
        assert_eq!(error.lines().filter(|line| line.trim() == fault).count(), 1, "{fault}: {error}");
    }
    assert_eq!(error.lines().count(), 1 + expected.len(), "{error}");
}

#[test]
fn provider_with_a_quota_needs_an_owned_key() {
    let faults = |provider: &str, key_name: &str| {
        let provider =
            format!("provider = \"{provider}\"\nmodel = \"m\"\ndimensions = 8\nurl = \"https://e.example/v1\"");
        let text = format!(
            "[embedding]\nkind = \"http\"\n{key_name}\n[embedding.provider]\n{provider}\n\
             [rabbitmq]\nurls = [\"amqp://g:g@r/v\"]\n[rabbitmq.topology]\nowned_keys = [\"one\"]\n"
        );
        let config = read(&text, &[]).expect("valid settings");
        config.validate().err().map(|faults| faults.to_string()).unwrap_or_default()
    };
    assert_eq!(faults("tei", ""), "");
    assert_eq!(faults("openai", "key_name = \"one\""), "");
    assert!(faults("openai", "").contains("[embedding] `key_name` is missing"), "{}", faults("openai", ""));
    let unknown = faults("openai", "key_name = \"two\"");
    assert!(unknown.contains("`key_name` is not among `rabbitmq.topology.owned_keys`"), "{unknown}");
}

#[test]
fn unknown_and_invalid_settings_are_refused() {
    assert!(read("[rabitmq]\n", &[]).is_err());
    let fault = read("[neo4j]\npassword = \"hunter2\n", &[]).expect_err("no TOML").to_string();
    assert!(fault.contains("line 2") && !fault.contains("hunter2"), "{fault}");
    assert!(read("", &[("CAIRN__PIPELINE__WINDOWS", "7")]).is_err());
    assert!(read("cache_directory = \"x\"", &[("CAIRN__CACHE_DIRECTORY__Y", "7")]).is_err());
    let config = read("[pipeline]\nwindow = 0\ngrace_ms = 5\n", &[]).expect("valid settings");
    let faults = config.validate().expect_err("two faults").to_string();
    assert!(faults.contains("`window`") && faults.contains("`grace_ms`"), "{faults}");
    for name in ["sweep_every_ms", "sync_again_after_ms", "stalled_after_ms", "reaped_after_ms"] {
        let config = read(&format!("[pipeline]\n{name} = 0\n"), &[]).expect("valid settings");
        let faults = config.validate().expect_err("a loop without a pause").to_string();
        assert!(faults.contains(&format!("`{name}` must be at least 1")), "{faults}");
    }
}

#[test]
fn organisations_are_parsed_and_checked() {
    let acme = "[[organisations]]\ntenant = 'acme'\ninclude = ['shop*']\ninclude_forks = true\n\
                hosting = { kind = 'github', owner = 'acme', token = { env = 'GITHUB_TOKEN' } }\n";
    let config = read(acme, &[]).expect("valid settings");
    config.validate().expect("sound");
    assert_eq!((config.organisations[0].max_deletions, config.organisations[0].delete_vanished), (10, false));
    let wrong = "[[organisations]]\ntenant = ''\nexclude = ['[']\nhosting = { kind = 'gitea', owner = 'a/b' }\n";
    let config = read(&format!("[pipeline]\nwindow = 0\n{acme}{acme}{wrong}"), &[]).expect("valid settings");
    let faults = config.validate().expect_err("faults").to_string();
    for part in ["`window`", "2: is listed twice", "3: `tenant`", "`exclude`", "`url`", "`owner`"] {
        assert!(faults.contains(part), "{part}: {faults}");
    }
    let secret = acme.replace("{ env = 'GITHUB_TOKEN' }", "'ghp_secret'");
    let error = format!("{}", read(&secret, &[]).expect_err("a token by value"));
    assert!(error.contains("never the secret") && !error.contains("ghp_secret"), "{error}");
    assert!(read(&acme.replace("include_forks", "include_fork"), &[]).is_err());
}
