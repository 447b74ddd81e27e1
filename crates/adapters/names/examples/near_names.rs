//! Measures, for each kind of change, how often a search for a changed name finds the original name.
//!
//! ```text
//! cargo run --release -p cairn-names --example near_names -- FOLDER…
//! ```
//!
//! The program collects the names that the files below the folders define. It prints how often the original
//! name is the first result, how often it is among the first five results, and the latency. `COUNT=n` sets
//! the number of names for each kind of change, `MISSES=n` prints up to n misses of each kind, and
//! `SYNTHETIC=n` adds n names that are composed of words.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use cairn_name_match::{MemoryTable, NearIndex, WantedName, folded, near_names};

/// A generator of pseudo-random numbers (xorshift). With this generator, every run asks for the same names.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

const KEYWORDS: [&str; 17] = [
    "fn",
    "struct",
    "enum",
    "trait",
    "class",
    "def",
    "func",
    "interface",
    "const",
    "static",
    "type",
    "function",
    "void",
    "int",
    "mod",
    "module",
    "macro_rules!",
];

fn collect(path: &Path, names: &mut BTreeSet<String>) {
    if path.is_dir() {
        let Ok(entries) = std::fs::read_dir(path) else { return };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths.iter().for_each(|path| collect(path, names));
        return;
    }
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !["rs", "py", "go", "java", "ts", "js", "c", "h", "cc", "cpp", "rb", "php"].contains(&extension) {
        return;
    }
    let Ok(text) = std::fs::read_to_string(path) else { return };
    for line in text.lines().filter(|line| line.len() < 300) {
        let mut tokens = line.split_whitespace();
        while let Some(token) = tokens.next() {
            if !KEYWORDS.contains(&token) {
                continue;
            }
            let Some(next) = tokens.clone().next() else { continue };
            let name: String = next.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if name.len() >= 3 && name.chars().any(char::is_alphabetic) && !KEYWORDS.contains(&name.as_str()) {
                names.insert(name);
            }
        }
    }
}

/// Adds names of two to five words. Few words are frequent, and most are rare, as in real code.
fn synthetic(count: usize, names: &mut BTreeSet<String>) {
    const STARTS: [&str; 40] = [
        "con", "re", "in", "de", "pro", "ex", "com", "per", "sub", "trans", "un", "dis", "pre", "inter", "over", "ob",
        "al", "ad", "ar", "be", "ca", "da", "fi", "ga", "ho", "lo", "ma", "ne", "pa", "qua", "ra", "sa", "ta", "va",
        "wi", "str", "gr", "bl", "cl", "tr",
    ];
    const MIDDLES: [&str; 25] = [
        "ta", "te", "ti", "to", "ra", "re", "ri", "ro", "na", "ne", "ni", "no", "la", "le", "li", "lo", "ma", "me",
        "mi", "sa", "se", "si", "da", "de", "vi",
    ];
    const ENDS: [&str; 20] = [
        "r", "t", "n", "ct", "st", "nt", "l", "d", "x", "m", "ng", "ck", "te", "ne", "ve", "ge", "y", "le", "se", "ll",
    ];
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let word = |number: usize| {
        let (start, rest) = (number % STARTS.len(), number / STARTS.len());
        let (middle, rest) = (rest % MIDDLES.len(), rest / MIDDLES.len());
        let more = if rest / ENDS.len() == 0 { "" } else { MIDDLES[rest / ENDS.len() % MIDDLES.len()] };
        format!("{}{}{more}{}", STARTS[start], MIDDLES[middle], ENDS[rest % ENDS.len()])
    };
    let all_verbs: Vec<&str> = VERBS.iter().flat_map(|group| group.iter().copied()).collect();
    while names.len() < count {
        let mut words = Vec::new();
        if random.below(2) == 0 {
            words.push(random.pick(&all_verbs).to_owned());
        }
        for _ in 0..2 + random.below(3) {
            let range = [30, 300, 3_000, 60_000][random.below(4)];
            if random.below(4) == 0 {
                words.push(ABBREVIATIONS[random.below(ABBREVIATIONS.len())].0.to_owned());
            } else {
                words.push(word(random.below(range)));
            }
        }
        names.insert(styled(&words, random.below(3)));
    }
}

fn typo(word: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let at = random.below(letters.len());
    let letter = (b'a' + random.below(26) as u8) as char;
    match random.below(4) {
        0 => letters[at] = letter,
        1 => letters.insert(at, letter),
        2 if letters.len() > 2 => drop(letters.remove(at)),
        _ if at + 1 < letters.len() => letters.swap(at, at + 1),
        _ => letters.push(letter),
    }
    letters.into_iter().collect()
}

fn styled(words: &[String], style: usize) -> String {
    let capital = |word: &String| word[..1].to_uppercase() + &word[1..];
    match style % 3 {
        0 => words.join("_"),
        1 => words[0].clone() + &words[1..].iter().map(capital).collect::<String>(),
        _ => words.iter().map(capital).collect(),
    }
}

const VERBS: [&[&str]; 12] = [
    &["get", "fetch", "load", "retrieve", "read", "find"],
    &["set", "update", "assign"],
    &["create", "make", "build", "new", "generate"],
    &["delete", "remove", "drop", "clear", "erase"],
    &["add", "append", "insert", "push"],
    &["parse", "decode", "read"],
    &["send", "emit", "dispatch", "publish"],
    &["check", "verify", "validate", "is"],
    &["start", "begin", "run", "launch"],
    &["stop", "end", "finish", "close"],
    &["write", "save", "store", "persist"],
    &["compute", "calculate", "calc"],
];
const ABBREVIATIONS: [(&str, &str); 48] = [
    ("config", "cfg"),
    ("configuration", "config"),
    ("message", "msg"),
    ("button", "btn"),
    ("context", "ctx"),
    ("request", "req"),
    ("response", "resp"),
    ("error", "err"),
    ("string", "str"),
    ("buffer", "buf"),
    ("number", "num"),
    ("index", "idx"),
    ("length", "len"),
    ("value", "val"),
    ("parameter", "param"),
    ("argument", "arg"),
    ("function", "fn"),
    ("variable", "var"),
    ("pointer", "ptr"),
    ("temporary", "tmp"),
    ("source", "src"),
    ("destination", "dst"),
    ("directory", "dir"),
    ("command", "cmd"),
    ("connection", "conn"),
    ("database", "db"),
    ("environment", "env"),
    ("manager", "mgr"),
    ("initialize", "init"),
    ("maximum", "max"),
    ("minimum", "min"),
    ("previous", "prev"),
    ("current", "cur"),
    ("count", "cnt"),
    ("character", "char"),
    ("attribute", "attr"),
    ("element", "elem"),
    ("object", "obj"),
    ("reference", "ref"),
    ("package", "pkg"),
    ("token", "tok"),
    ("expression", "expr"),
    ("statement", "stmt"),
    ("iterator", "iter"),
    ("document", "doc"),
    ("information", "info"),
    ("address", "addr"),
    ("format", "fmt"),
];
const KINDS: [&str; 20] = [
    "typo",
    "two typos",
    "drop",
    "add",
    "reorder",
    "affix",
    "plural",
    "abbreviate",
    "expand",
    "verb",
    "phrase",
    "phrase typo",
    "phrase fill",
    "cut end",
    "no vowels",
    "verb form",
    "swap and typo",
    "glued typo",
    "drop and typo",
    "initials",
];

fn change(kind: &str, words: &[String], vocabulary: &[String], random: &mut Random) -> Option<String> {
    let mut words = words.to_vec();
    let style = random.below(3);
    let at = random.below(words.len());
    let position = |test: &dyn Fn(&String) -> bool, words: &[String]| words.iter().position(test);
    match kind {
        "typo" => return Some(typo(&styled(&words, style), random)),
        "two typos" => {
            if words.concat().len() < 8 {
                return None;
            }
            let once = typo(&styled(&words, style), random);
            return Some(typo(&once, random));
        }
        "glued typo" => return Some(typo(&words.concat(), random)),
        "drop" => {
            if words.len() < 3 {
                return None;
            }
            words.remove(at);
        }
        "drop and typo" => {
            if words.len() < 4 {
                return None;
            }
            words.remove(at);
            let at = random.below(words.len());
            words[at] = typo(&words[at], random);
        }
        "add" => {
            if words.len() < 2 {
                return None;
            }
            words.insert(random.below(words.len() + 1), vocabulary[random.below(vocabulary.len())].clone());
        }
        "reorder" | "swap and typo" => {
            if words.len() < 2 {
                return None;
            }
            let to = (at + 1) % words.len();
            words.swap(at, to);
            if kind == "swap and typo" {
                let longest = (0..words.len()).max_by_key(|at| words[*at].len())?;
                words[longest] = typo(&words[longest], random);
            }
        }
        "affix" => {
            let affix = random.pick(&[
                "impl", "base", "default", "abstract", "async", "internal", "helper", "new", "i", "util", "_",
                "service", "x",
            ]);
            if random.below(2) == 0 {
                words.push(affix.to_owned());
            } else {
                words.insert(0, affix.to_owned());
            }
        }
        "plural" => {
            let at = words.len() - 1;
            let word = words[at].clone();
            if word.len() < 3 {
                return None;
            }
            words[at] = match word.strip_suffix('s') {
                Some(single) if !word.ends_with("ss") => single.to_owned(),
                _ if word.ends_with('y') => word[..word.len() - 1].to_owned() + "ies",
                _ => word + "s",
            };
        }
        "abbreviate" => {
            let at = position(&|word| ABBREVIATIONS.iter().any(|(long, _)| long == word), &words)?;
            words[at] = ABBREVIATIONS.iter().find(|(long, _)| *long == words[at])?.1.to_owned();
        }
        "expand" => {
            let at = position(&|word| ABBREVIATIONS.iter().any(|(_, short)| short == word), &words)?;
            words[at] = ABBREVIATIONS.iter().find(|(_, short)| *short == words[at])?.0.to_owned();
        }
        "verb" => {
            let at = position(&|word| VERBS.iter().any(|group| group.contains(&word.as_str())), &words)?;
            if words.len() < 2 {
                return None;
            }
            let group = VERBS.iter().find(|group| group.contains(&words[at].as_str()))?;
            words[at] = random.pick(group).to_owned();
        }
        "phrase" => {
            if words.len() < 2 {
                return None;
            }
            return Some(words.join(" ")).map(|phrase| phrase + "s");
        }
        "phrase fill" => {
            if words.len() < 2 {
                return None;
            }
            let start = random.pick(&["the function to", "method that", "class for", "how to"]);
            words.insert(1, "the".to_owned());
            return Some(format!("{start} {}", words.join(" ")));
        }
        "phrase typo" => {
            if words.len() < 2 {
                return None;
            }
            words[at] = typo(&words[at], random);
            let other = random.below(words.len());
            if words[other].len() > 4 && other != at {
                words[other] = typo(&words[other], random);
            }
            return Some(words.join(" "));
        }
        "cut end" => {
            let name = styled(&words, style);
            if name.len() < 8 {
                return None;
            }
            return Some(name[..name.len() - 2 - random.below(2)].to_owned());
        }
        "no vowels" => {
            let at = (0..words.len()).max_by_key(|at| words[*at].len())?;
            let word = words[at].clone();
            if word.len() < 5 {
                return None;
            }
            words[at] = word[..1].to_owned() + &word[1..].replace(['a', 'e', 'i', 'o', 'u'], "");
        }
        "verb form" => {
            let word = words[0].clone();
            if word.len() < 3 || words.len() < 2 {
                return None;
            }
            let base = word.strip_suffix('e').unwrap_or(&word);
            words[0] = base.to_owned() + random.pick(&["ing", "ed", "es"]);
        }
        "initials" => {
            if words.len() < 4 {
                return None;
            }
            return Some(words.iter().map(|word| word[..1].to_owned()).collect());
        }
        _ => return None,
    }
    words.retain(|word| !word.is_empty());
    if words.is_empty() {
        return None;
    }
    Some(styled(&words, style))
}

fn main() {
    let mut names = BTreeSet::new();
    for folder in std::env::args().skip(1) {
        collect(Path::new(&folder), &mut names);
    }
    if let Some(count) = std::env::var("SYNTHETIC").ok().and_then(|count| count.parse().ok()) {
        synthetic(count, &mut names);
    }
    let distinct: BTreeSet<String> =
        names.iter().map(|name| folded(name)).filter(|name| name.is_ascii() && !name.is_empty()).collect();
    let distinct: Vec<String> = distinct.into_iter().collect();
    let flats: BTreeSet<String> = distinct.iter().map(|name| name.replace(' ', "")).collect();
    let started = Instant::now();
    let table = MemoryTable::of(distinct.iter().map(String::as_str));
    let index = NearIndex::of(&table);
    println!("{} names, {} words, {} ms to prepare", distinct.len(), table.words.len(), started.elapsed().as_millis());
    let count: usize = std::env::var("COUNT").ok().and_then(|count| count.parse().ok()).unwrap_or(300);
    let shown: usize = std::env::var("MISSES").ok().and_then(|count| count.parse().ok()).unwrap_or(0);
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut totals = (0, 0, 0);
    for kind in KINDS {
        let (mut asked, mut first, mut five, mut times, mut misses) = (0, 0, 0, Vec::new(), BTreeMap::new());
        for _ in 0..count * 40 {
            if asked == count {
                break;
            }
            let name = random.below(distinct.len());
            let words: Vec<String> = distinct[name].split(' ').map(str::to_owned).collect();
            let Some(query) = change(kind, &words, &table.words, &mut random) else { continue };
            let flat = folded(&query).replace(' ', "");
            if flats.contains(&flat) || distinct[name].len() < 4 {
                continue;
            }
            let started = Instant::now();
            let wanted = WantedName::new(&query);
            let near = near_names(&wanted, &table, &index, 10, |_| true);
            times.push(started.elapsed().as_micros());
            if kind.contains("typo") {
                // A changed name is used only if exactly one name is nearest to it.
                let distance = |name: &str| cairn_name_match::bounded_distance(&flat, &name.replace(' ', ""), 6);
                let own = distance(&distinct[name]);
                let is_nearer = |other: &u32| {
                    *other as usize != name
                        && own.is_none_or(|own| distance(&distinct[*other as usize]).is_some_and(|d| d <= own))
                };
                if !kind.contains("swap") && !kind.contains("drop") && near.iter().any(|near| is_nearer(&near.name)) {
                    continue;
                }
            }
            asked += 1;
            let position = near.iter().position(|near| near.name as usize == name);
            first += usize::from(position == Some(0));
            five += usize::from(position.is_some_and(|position| position < 5));
            if position != Some(0) && misses.len() < shown {
                let best: Vec<String> = near
                    .iter()
                    .take(3)
                    .map(|near| format!("{} {} ({})", distinct[near.name as usize], near.score, near.reasons))
                    .collect();
                misses.insert(query, format!("{} at {position:?}, found {}", distinct[name], best.join("; ")));
            }
        }
        times.sort_unstable();
        let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
        let percent = |number: usize| 100.0 * number as f64 / f64::from(asked.max(1) as u32);
        println!(
            "{kind:14} {asked:5} first {:5.1} five {:5.1} p50 {:6} us p99 {:6} us",
            percent(first),
            percent(five),
            at(50),
            at(99)
        );
        for (query, miss) in misses {
            println!("    {query}: {miss}");
        }
        totals = (totals.0 + asked, totals.1 + first, totals.2 + five);
    }
    println!(
        "all {} first {:.3} five {:.3}",
        totals.0,
        totals.1 as f64 / totals.0 as f64,
        totals.2 as f64 / totals.0 as f64
    );
}
