//! Finds passwords in command lines: `mysql -pVALUE`, `curl -u user:VALUE`, `echo VALUE | passwd --stdin
//! user`.
//!
//! A command line is divided into words in the same way as in a shell. A table lists for each command which
//! words are passwords. The options of other commands, such as `ssh -p 22`, are never read.

use std::ops::Range;

use crate::before::line_before;
use crate::data::is_strong_choice;
use crate::judge;
use crate::name::Promise;
use crate::words::{Word, Words, list_words};
use crate::{data, name};

/// Names of commands. A name is recognised only if it begins a word and a blank follows it.
pub(crate) static COMMANDS: &[&str] = &[
    "mysql",
    "mariadb",
    "sshpass",
    "redis-cli",
    "docker login",
    "podman login",
    "registry login",
    "curl ",
    "http ",
    "https ",
    "psexec",
    "smbclient",
    "ldapsearch",
    "ldapmodify",
    "ldapadd",
    "ldapwhoami",
    "mongosh",
    "mongo ",
    "mongodump",
    "mongorestore",
    "htpasswd",
    "lftp ",
    "schtasks ",
    "-passin",
    "-passout",
    "zip -p",
    "7z ",
    "openssl ",
    "net use",
    "net user",
    "sqlplus",
    "expdp ",
    "impdp ",
    "sqlldr ",
    "sqlcmd",
    "requirepass",
    "masterauth",
    "nickserv",
    "storepass",
    "keypass",
    "ldappasswd",
    "rar a ",
    "xfreerdp",
    "cmdkey",
    "rabbitmqctl",
    "rootpw",
];

/// Options and settings that are followed by a password.
const FIRST: [&[u8]; 5] = [b"requirepass", b"masterauth", b"storepass", b"keypass", b"rootpw"];

/// The position of the password in the command line.
enum Position {
    /// The word after the command.
    First,
    /// The word after this option, or the rest of the word that contains the option.
    Argument(&'static str),
    /// The word after this option. The option and the password are always separate words.
    Next(&'static str),
    /// The rest of the word that contains the option. The next word has a different meaning.
    Joined(&'static str),
    /// The part after this character in the argument of the option: `-u user:VALUE`.
    Pair(&'static str, u8),
    /// The part after `pass:` in the argument of the option.
    Source(&'static str),
}

fn positions(command: &[u8]) -> &'static [Position] {
    use Position::{Argument, First, Joined, Next, Pair, Source};
    match command {
        b"mysql" | b"mariadb" => &[Joined("-p"), Next("password")],
        b"sshpass" | b"docker login" | b"podman login" | b"registry login" => &[Argument("-p")],
        b"mongosh" | b"mongo " | b"mongodump" | b"mongorestore" | b"psexec" => &[Next("-p")],
        b"redis-cli" => &[Next("-a")],
        b"lftp " => &[Pair("-u", b',')],
        b"schtasks " => &[Next("/rp"), Next("/RP"), Next("/p"), Next("/P")],
        b"curl " => &[Pair("-u", b':'), Pair("--user", b':'), Pair("-U", b':'), Pair("--proxy-user", b':')],
        b"http " | b"https " => &[Pair("-a", b':'), Pair("--auth", b':')],
        b"smbclient" => &[Pair("-U", b'%'), Pair("--user", b'%')],
        b"ldapsearch" | b"ldapmodify" | b"ldapadd" | b"ldapwhoami" => &[Argument("-w")],
        b"openssl " | b"-passin" | b"-passout" => &[Source("-passin"), Source("-passout"), Source("-pass"), Next("-k")],
        b"zip -p" | b"sqlcmd" => &[Argument("-P")],
        b"7z " => &[Joined("-p")],
        b"nickserv" => &[Next("identify"), Next("IDENTIFY")],
        b"ldappasswd" => &[Argument("-w"), Next("-s"), Next("-a")],
        b"rar a " => &[Joined("-hp"), Joined("-p")],
        b"xfreerdp" => &[Joined("/p:")],
        b"cmdkey" => &[Joined("/pass:")],
        name if FIRST.contains(&name) => &[First],
        _ => &[],
    }
}

/// The last command line that was read.
#[derive(Default)]
pub(crate) struct LastCommand {
    name: Vec<u8>,
    end: usize,
}

/// The passwords in the command line whose command is at `hit`. If `hit` is inside the command line that was
/// read last (`last`) and is the name of the same command, `hit` is an argument, and the result is empty.
pub(crate) fn passwords(
    text: &[u8],
    hit: &Range<usize>,
    last: &mut LastCommand,
    budget: &mut usize,
) -> Vec<Range<usize>> {
    let command = text[hit.clone()].to_ascii_lowercase();
    let Some(end) = command_end(text, hit, &command) else { return Vec::new() };
    let is_read = hit.start < last.end && last.name == command;
    // The setting of Redis is spelled `masterauth`. The spelling `masterAuth` is an ordinary name in
    // programs, so it is ignored.
    if *budget == 0 || is_read || (command == b"masterauth" && text[hit.clone()] != *b"masterauth") {
        return Vec::new();
    }
    let words = words_of(text, hit, &command, end, budget);
    *last = LastCommand { end: words.last().map_or(end, |word| word.whole.end), name: command.clone() };
    let mut found = match command.as_slice() {
        b"htpasswd" => htpasswd(text, &words),
        b"openssl " => openssl_passwd(text, &words),
        b"net use" => net_use(text, &words),
        b"net user" => net_user(text, &words),
        b"rabbitmqctl" => rabbitmqctl(text, &words),
        b"sqlplus" | b"expdp " | b"impdp " | b"sqlldr " => oracle(text, &words),
        _ => Vec::new(),
    };
    for position in positions(&command) {
        for (index, word) in words.iter().enumerate() {
            found.extend(at_position(text, position, word, words.get(index + 1), index));
        }
    }
    found.retain(|value| is_password(&text[value.clone()]));
    found
}

/// The words of the command line, without the name of the command.
fn words_of(text: &[u8], hit: &Range<usize>, command: &[u8], end: usize, budget: &mut usize) -> Vec<Word> {
    if matches!(text.get(end), Some(b'"' | b'\'')) {
        return list_words(text, end, budget);
    }
    // `-P` in `zip -P` and `-passin` are options and belong to the words of the command line, so they are
    // included.
    let from = match command {
        b"zip -p" => hit.start + b"zip".len(),
        b"-passin" | b"-passout" => hit.start,
        _ => end,
    };
    Words::of_command(text, hit.start, from, budget).collect()
}

/// The end of the name of a command, including suffixes such as `dump` and `.exe`.
fn command_end(text: &[u8], hit: &Range<usize>, command: &[u8]) -> Option<usize> {
    let is_keytool = matches!(command, b"storepass" | b"keypass");
    let is_option = is_keytool || command.starts_with(b"-");
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'@');
    if is_keytool {
        let begins = [b"-".as_slice(), b"-dest", b"-src"].iter().any(|sign| text[..hit.start].ends_with(sign));
        if !begins {
            return None;
        }
    } else if let Some(before) = hit.start.checked_sub(1)
        && (is_name(text[before]) || (text[before] == b'-' && !is_auth(command)))
        && !name::is_escape_letter(text, before)
        && !(command == b"zip -p" && text[..hit.start].ends_with(b"un"))
    {
        return None;
    }
    if command.ends_with(b" ") || command == b"zip -p" {
        return Some(hit.end);
    }
    let ending = match command {
        b"mysql" | b"mariadb" | b"psexec" | b"sqlplus" | b"sqlcmd" => {
            let is_part = |byte: &&u8| byte.is_ascii_lowercase() || b"-._64".contains(byte);
            text[hit.end..].iter().take(16).take_while(is_part).count()
        }
        _ => 0,
    };
    let end = hit.end + ending;
    let is_end = match &text[end..text.len().min(end + 2)] {
        [b' ' | b'\t', ..] => true,
        [b'=', ..] => is_option,
        // The name is an element of an argument list, such as `["mysql", …]`.
        [b'"' | b'\'', b','] => hit.start > 0 && text[hit.start - 1] == text[end],
        _ => false,
    };
    is_end.then_some(end)
}

/// Whether the name is an option that may begin with hyphens: `--requirepass` and `requirepass` are the same
/// setting.
fn is_auth(command: &[u8]) -> bool {
    FIRST.contains(&command) || matches!(command, b"-passin" | b"-passout")
}

/// The argument of an option: the next word, or the rest of the word that contains the option.
fn argument(text: &[u8], option: &str, word: &Word, next: Option<&Word>) -> Option<Range<usize>> {
    let rest = text[word.whole.clone()].strip_prefix(option.as_bytes())?;
    if !rest.is_empty() {
        let joined = !option.starts_with("--");
        let start = word.whole.end - rest.len() + usize::from(rest.starts_with(b"="));
        return (joined || rest.starts_with(b"=")).then(|| Word::inner(text, start..word.whole.end));
    }
    let next = next?;
    (!is_option(&text[next.whole.clone()])).then(|| next.value.clone())
}

fn is_option(word: &[u8]) -> bool {
    word.len() > 1 && word.starts_with(b"-") && word[1..].iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-')
}

fn at_position(
    text: &[u8],
    position: &Position,
    word: &Word,
    next: Option<&Word>,
    index: usize,
) -> Option<Range<usize>> {
    let argument = |option: &str| argument(text, option, word, next);
    match position {
        Position::First if index == 0 && text[word.whole.clone()] == *b"--plaintext" => Some(next?.value.clone()),
        Position::First if index == 0 => Some(word.value.clone()),
        Position::First => None,
        Position::Argument(option) => argument(option),
        Position::Next(option) if text[word.whole.clone()] == *option.as_bytes() => argument(option),
        Position::Next(_) => None,
        Position::Joined(option) => {
            let rest = text[word.whole.clone()].strip_prefix(option.as_bytes())?;
            // If the word is a long option with one hyphen, the rest of the word is not a password:
            // `-port=…`, `-protocol=…`, `-password=…`.
            let is_long =
                [b"ort".as_slice(), b"rotocol", b"assword", b"lugin"].iter().any(|name| rest.starts_with(name));
            (!rest.is_empty() && !is_long).then(|| Word::inner(text, word.whole.end - rest.len()..word.whole.end))
        }
        Position::Pair(option, sign) => after_user(text, argument(option)?, *sign),
        Position::Source(option) => {
            let argument = argument(option)?;
            let rest = text[argument.clone()].strip_prefix(b"pass:")?;
            Some(Word::inner(text, argument.end - rest.len()..argument.end))
        }
    }
}

/// The password in `-u user -p VALUE` or `-u user -pVALUE`, for a command that is not in the table.
pub(crate) fn options(text: &[u8], hit: &Range<usize>, budget: &mut usize) -> Option<Range<usize>> {
    let before = line_before(text, hit.start);
    // In `mysql -u user -p`, the next word is the name of a database.
    let is_database = |name: &[u8]| before.windows(name.len()).any(|window| window.eq_ignore_ascii_case(name));
    let begins_word = before.last().is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-');
    if *budget == 0 || !begins_word || is_database(b"mysql") || is_database(b"mariadb") {
        return None;
    }
    let words: Vec<Word> = Words::of_command(text, hit.start, hit.end, budget).take(3).collect();
    let password = words.get(1)?;
    let rest = text[password.whole.clone()].strip_prefix(b"-p").or(text[password.whole.clone()].strip_prefix(b"-P"))?;
    let value = match rest.len() {
        0 => words.get(2)?.value.clone(),
        length => Word::inner(text, password.whole.end - length..password.whole.end),
    };
    let bytes = &text[value.clone()];
    (!is_option(bytes) && is_strong_choice(bytes)).then_some(value)
}

/// The part of a pair, such as `user:VALUE`, after the user and the character `sign`.
pub(crate) fn after_user(text: &[u8], pair: Range<usize>, sign: u8) -> Option<Range<usize>> {
    let is_user = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.@-\\+/${}".contains(byte);
    let bytes = &text[pair.clone()];
    let length = bytes.iter().position(|byte| *byte == sign)?;
    (length <= 60 && bytes[..length].iter().all(is_user)).then(|| Word::inner(text, pair.start + length + 1..pair.end))
}

/// The password in `htpasswd -b file user VALUE` or `htpasswd -nb user VALUE`.
fn htpasswd(text: &[u8], words: &[Word]) -> Vec<Range<usize>> {
    let is_option = |word: &&Word| text[word.whole.clone()].starts_with(b"-");
    let has = |flag: u8| words.iter().take_while(is_option).any(|word| text[word.whole.clone()].contains(&flag));
    if !has(b'b') {
        return Vec::new();
    }
    let place = if has(b'n') { 1 } else { 2 };
    words.iter().skip_while(is_option).nth(place).map(|word| word.value.clone()).into_iter().collect()
}

/// The password in `openssl passwd -6 VALUE`.
fn openssl_passwd(text: &[u8], words: &[Word]) -> Vec<Range<usize>> {
    let is_passwd = words.first().is_some_and(|word| text[word.whole.clone()] == *b"passwd");
    words
        .last()
        .filter(|word| is_passwd && !is_option(&text[word.whole.clone()]))
        .map(|word| word.value.clone())
        .into_iter()
        .collect()
}

/// The password in `net use X: \\host\share VALUE /user:u`. The password is the word that is not a drive, a
/// share or an option.
fn net_use(text: &[u8], words: &[Word]) -> Vec<Range<usize>> {
    let is_share = |word: &Word| text[word.value.clone()].starts_with(b"\\\\");
    let Some(share) = words.iter().position(is_share) else { return Vec::new() };
    let rest = words[share + 1..].iter().map(|word| word.value.clone());
    rest.filter(|value| !text[value.clone()].starts_with(b"/")).take(1).collect()
}

/// The password in `net user name VALUE /add`.
fn net_user(text: &[u8], words: &[Word]) -> Vec<Range<usize>> {
    let is_switch = |word: &Word| text[word.whole.clone()].starts_with(b"/");
    let is_command = words.len() == 2 || words.iter().skip(2).any(is_switch);
    words.get(1).filter(|word| is_command && !is_switch(word)).map(|word| word.value.clone()).into_iter().collect()
}

/// The password in `rabbitmqctl add_user name VALUE`.
fn rabbitmqctl(text: &[u8], words: &[Word]) -> Vec<Range<usize>> {
    let sets =
        |word: &Word| matches!(&text[word.whole.clone()], b"add_user" | b"change_password" | b"authenticate_user");
    let place = words.iter().position(sets).map(|at| at + 2);
    place.and_then(|at| words.get(at)).map(|word| word.value.clone()).into_iter().collect()
}

/// The password in `sqlplus user/VALUE@host`. If there is no `@host`, the value is accepted only if it cannot
/// be part of a program.
fn oracle(text: &[u8], words: &[Word]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for word in words {
        let Some(mut value) = after_user(text, after_equals(text, word.value.clone()), b'/') else { continue };
        if let Some(host) = text[value.clone()].iter().rposition(|byte| *byte == b'@') {
            value.end = value.start + host;
        } else if !data::is_written(&text[value.clone()], Promise::Password, false) {
            continue;
        }
        found.push(Word::inner(text, value));
        break;
    }
    found
}

/// The value in `userid=user/VALUE@host`.
fn after_equals(text: &[u8], word: Range<usize>) -> Range<usize> {
    if text[word.clone()].starts_with(b"userid=") { word.start + b"userid=".len()..word.end } else { word }
}

/// Whether the value is a password: it looks like a password in plain text, or it is not an expression and a
/// person may have chosen it.
pub(crate) fn is_password(value: &[u8]) -> bool {
    data::is_written(value, Promise::Password, true) || (judge::is_chosen(value) && !judge::is_code(value))
}
