//! No planted secret is found in anything that is written or answered.

use std::fs;
use std::path::Path;

use crate::harness::{Index, commit, repository, write};

/// Texts of letters and digits without pattern, the same every time; assembled here, so that no scanner of sources
/// takes them for real.
fn noise(seed: u32, length: usize) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(97);
    let letter = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        LETTERS[(state >> 16) as usize % LETTERS.len()] as char
    };
    (0..length).map(letter).collect()
}

/// Secrets of many kinds: what is planted, and the text around it.
fn planted() -> Vec<(String, String)> {
    let mut planted = Vec::new();
    let mut add = |secret: String, text: &str| planted.push((secret.clone(), text.replace("{}", &secret)));
    for round in 0..4 {
        let noise = |number: u32, length: usize| noise(round * 100 + number, length);
        add(format!("{}{}", "gh", format_args!("p_{}", noise(1, 36))), "token = \"{}\"\n");
        add(
            format!("{}{}", "glp", format_args!("at-{}", noise(2, 20))),
            "# remote https://oauth2:{}@git.example.org/a.git\n",
        );
        add(
            format!("{}{}", "AK", format_args!("IA{}", noise(3, 16).to_uppercase().replace('0', "2"))),
            "aws_access_key_id = {}\n",
        );
        add(format!("{}{}", "sk_", format_args!("live_{}", noise(4, 24))), "stripe.api_key = '{}'\n");
        add(format!("{}{}", "xox", format_args!("b-{}-{}", "123456789012", noise(5, 24))), "SLACK_TOKEN={}\n");
        add(format!("{}{}", "np", format_args!("m_{}", noise(6, 36))), "//registry.example.org/:_authToken={}\n");
        add(noise(7, 22), "password = \"{}\"\n");
        add(noise(8, 24), "db = connect(\"postgres://app:{}@db.example.org/main\")\n");
        add(noise(9, 24), "url: mongodb://app:{}@db.example.org/main\n");
        add(noise(10, 24), "  \"client_secret\": \"{}\",\n");
        add(noise(11, 24), "redis://:{}@cache.example.org:6379/0\n");
        add(noise(12, 24), "amqp://guest:{}@mq.example.org/\n");
        add(noise(13, 28), "API_KEY={}\n");
        add(noise(14, 28), "Authorization: Bearer {}\n");
        add(noise(15, 24), "Server=db;User Id=sa;Password={};Database=x\n");
        add(noise(16, 24), "export DB_PASSWORD='{}'\n");
    }
    planted
}

/// Every file below a directory, decompressed where it holds zstd frames.
fn contents(directory: &Path, found: &mut Vec<u8>) {
    for entry in fs::read_dir(directory).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            contents(&path, found);
            continue;
        }
        let bytes = fs::read(&path).expect("a file");
        let mut at = 0;
        // Every frame of zstd starts with the same four bytes.
        while let Some(next) = bytes[at..].windows(4).position(|window| window == [0x28, 0xb5, 0x2f, 0xfd]) {
            at += next;
            let mut decoder = zstd::stream::read::Decoder::new(&bytes[at..]).expect("a decoder").single_frame();
            let mut text = Vec::new();
            if std::io::Read::read_to_end(&mut decoder, &mut text).is_ok() {
                found.extend_from_slice(&text);
            }
            at += 4;
        }
        found.extend_from_slice(&bytes);
    }
}

#[test]
fn no_planted_secret_is_kept() {
    let planted = planted();
    assert!(planted.len() >= 60);
    let directory = repository();
    for (number, (_, text)) in planted.iter().enumerate() {
        let name = match number % 4 {
            0 => format!("src/settings_{number}.py"),
            1 => format!("docs/page_{number}.md"),
            2 => format!("config/values_{number}.yaml"),
            _ => format!("src/client_{number}.js"),
        };
        write(directory.path(), &name, text);
    }
    let cells: Vec<String> = planted.iter().map(|(_, text)| serde_json::to_string(text).expect("JSON")).collect();
    let notebook = format!(
        "{{\"cells\": [{{\"cell_type\": \"code\", \"metadata\": {{}}, \"outputs\": [], \"source\": [\n{}\n]}}], \"nbformat\": 4}}\n",
        cells.join(",\n")
    );
    write(directory.path(), "analysis.ipynb", notebook);
    commit(directory.path(), "secrets");
    let index = Index::new();
    let log =
        index.command(&["index", &directory.path().to_string_lossy(), "--name", "r", "-vv"]).output().expect("runs");
    assert!(log.status.success());
    let mut everything = [log.stdout, log.stderr].concat();
    contents(index.path(), &mut everything);
    for query in ["password", "token", "connect to the database", "authorization"] {
        everything.extend(index.ok(&["search", query, "--limit", "100", "--max-tokens", "100000"]).into_bytes());
    }
    everything.extend(index.ok(&["secrets", "r"]).into_bytes());
    let text = String::from_utf8_lossy(&everything);
    let leaked: Vec<&String> =
        planted.iter().map(|(secret, _)| secret).filter(|secret| text.contains(secret.as_str())).collect();
    assert_eq!(leaked, Vec::<&String>::new());
    let listed = index.json(&["secrets", "r"]);
    let num_listed = listed["findings"].as_array().expect("findings").len();
    assert!(num_listed >= planted.len(), "{num_listed} of {} are listed", planted.len());
}
