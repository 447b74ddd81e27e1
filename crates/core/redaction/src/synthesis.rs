//! Generates values that look like secrets from templates at run time, so that no file of this project
//! contains such a value.

/// A sequence of pseudo-random numbers. The same seed gives the same sequence on every machine.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678_9ABC_DEF1)
    }

    /// The next number of SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A word that does not name a secret.
    fn word(&mut self) -> &'static str {
        const WORDS: [&str; 12] = [
            "hunter", "dragon", "winter", "tiger", "battery", "staple", "sunset", "coffee", "purple", "rocket",
            "monkey", "garden",
        ];
        WORDS[(self.next() % WORDS.len() as u64) as usize]
    }

    fn of(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length).map(|_| alphabet[(self.next() % alphabet.len() as u64) as usize] as char).collect()
    }
}

/// The way in which the parts of a template are filled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fill {
    Random,
    /// Filled with a single character: `x` or `0`.
    Same,
    /// Filled with random characters that have only four different values.
    Cut,
}

/// Fills the parts of a template, such as `{hex32}` or `{url43}`. In a template that contains other braces,
/// parts have the form `«hex32»`. Returns the text and the filled parts.
///
/// Kinds with a length: `hex`, `an` (letters and digits), `low` (lower-case letters and digits), `up`
/// (capitals and digits), `url` (with `-` and `_`), `b64` (with `+` and `/`), `num`, `al` (letters), `bech`
/// (the alphabet of age).
///
/// Kinds without a length: `uuid`, `basic`, `pw`, `weak` (words and a digit), `words`, `phrase`, `encoded`,
/// `pem`.
pub(crate) fn fill(template: &str, dice: &mut Dice, fill: Fill) -> (String, Vec<String>) {
    let (open, close) = if template.contains('«') { ('«', '»') } else { ('{', '}') };
    let mut text = String::new();
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once(open) {
        let (spec, after) = after.split_once(close).expect("a closed mark");
        let part = part(spec, dice, fill);
        text.push_str(before);
        text.push_str(&part);
        parts.push(part);
        rest = after;
    }
    text.push_str(rest);
    (text, parts)
}

fn part(spec: &str, dice: &mut Dice, fill: Fill) -> String {
    let digits = spec
        .find(|character: char| character.is_ascii_digit() && !spec.starts_with("b64"))
        .unwrap_or(3.min(spec.len()));
    let (kind, length) = spec.split_at(digits);
    let length = length.parse().unwrap_or(0);
    let alphabet: &[u8] = match kind {
        "hex" => b"0123456789abcdef",
        "an" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "al" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "bech" => b"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
        "low" => b"abcdefghijklmnopqrstuvwxyz0123456789",
        "up" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "url" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        "b64" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "num" => b"0123456789",
        _ => return composed(spec, dice, fill),
    };
    let same = if matches!(kind, "hex" | "num") { "0" } else { "x" };
    match fill {
        Fill::Random => dice.of(alphabet, length),
        Fill::Same => same.repeat(length),
        Fill::Cut => dice.of(alphabet, length.min(4)),
    }
}

fn composed(spec: &str, dice: &mut Dice, fill: Fill) -> String {
    match (spec, fill) {
        ("uuid", Fill::Random) => {
            let groups: Vec<String> =
                [8, 4, 4, 4, 12].iter().map(|length| dice.of(b"0123456789abcdef", *length)).collect();
            groups.join("-")
        }
        ("uuid", _) => "00000000-0000-0000-0000-000000000000".to_owned(),
        ("pw", Fill::Random) => format!(
            "{}{}!{}",
            dice.of(b"BCDFGHKMNPQRTVWXZ", 2),
            dice.of(b"bcdfghkmnpqrtvwxz", 4),
            dice.of(b"23456789", 3)
        ),
        ("pw", Fill::Same) => "changeme".to_owned(),
        ("pw", Fill::Cut) => "pwd".to_owned(),
        ("weak", Fill::Random) => format!("{}{}{}", dice.word(), dice.of(b"23456789", 1), dice.word()),
        ("weak", _) => "password".to_owned(),
        ("words", Fill::Random) => (0..4).map(|_| dice.word()).collect::<Vec<_>>().join(" "),
        ("phrase", Fill::Random) => (0..12).map(|_| dice.word()).collect::<Vec<_>>().join(" "),
        ("phrase", _) => "twelve words go here".to_owned(),
        ("words", _) => "your password here".to_owned(),
        ("basic", Fill::Random) => base64(&format!("deploy:{}", dice.of(b"bcdfghkmnpqrtvwxz23456789", 14))),
        ("basic", _) => "authentication".to_owned(),
        ("encoded", Fill::Random) => base64(&format!("postgres://app:{}@db/x", part("pw", dice, fill))),
        ("encoded", _) => base64("password = changeme"),
        ("pem", Fill::Random) => (0..4)
            .map(|_| dice.of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 64))
            .collect::<Vec<_>>()
            .join("\n"),
        ("pem", _) => "…".to_owned(),
        _ => panic!("no kind of part: {spec}"),
    }
}

/// The text encoded as base64 with padding.
pub(crate) fn base64(text: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in text.as_bytes().chunks(3) {
        let bits = group.iter().enumerate().fold(0u32, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            let sign = ALPHABET[(bits >> (18 - 6 * at)) as usize & 63] as char;
            out.push(if at <= group.len() { sign } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled() {
        let (text, parts) = fill("a{hex8}-{b644}{pw}", &mut Dice::new(1), Fill::Random);
        assert_eq!(parts.iter().map(String::len).collect::<Vec<_>>(), [8, 4, 10]);
        assert_eq!(text.len(), 1 + 8 + 1 + 4 + 10);
        assert_eq!(fill("{an5}", &mut Dice::new(1), Fill::Same).0, "xxxxx");
        assert_eq!(base64("user:pass"), "dXNlcjpwYXNz");
        assert_eq!(base64("a"), "YQ==");
    }
}
