//! Splits names into words.

/// The classes of characters. Words are separated at changes between certain classes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Separator,
}

impl Class {
    fn of(character: char) -> Self {
        match character {
            'a'..='z' => Class::Lower,
            'A'..='Z' => Class::Upper,
            '0'..='9' => Class::Digit,
            _ if character.is_uppercase() => Class::Upper,
            _ if character.is_alphabetic() => Class::Lower,
            _ if character.is_numeric() => Class::Digit,
            _ => Class::Separator,
        }
    }
}

/// Calls `word` with each word of a name in lower case: `parseHTTPResponse2` has the words `parse`, `http`,
/// `response`, `2`. Unlike [`cairn_ranking::words`], this function keeps letters outside ASCII.
pub fn fold_words(name: &str, mut word: impl FnMut(&str)) {
    let characters: Vec<(usize, char)> = name.char_indices().collect();
    let class = |index: usize| characters.get(index).map_or(Class::Separator, |(_, character)| Class::of(*character));
    let mut buffer = String::new();
    let mut start = 0;
    while start < characters.len() {
        if class(start) == Class::Separator {
            start += 1;
            continue;
        }
        let end = word_end(&class, start);
        buffer.clear();
        buffer.extend(characters[start..end].iter().flat_map(|(_, character)| character.to_lowercase()));
        word(&buffer);
        start = end;
    }
}

/// The end of the word that starts at `start`.
fn word_end(class: &impl Fn(usize) -> Class, start: usize) -> usize {
    let run = |mut end: usize, of: Class| {
        while class(end) == of {
            end += 1;
        }
        end
    };
    let first = class(start);
    let end = run(start + 1, first);
    if first != Class::Upper || class(end) != Class::Lower {
        return end;
    }
    // In `HTTPResponse`, the last capital of `HTTPR` belongs to the next word. `URLs` is one word.
    let end_of_lower = run(end, Class::Lower);
    let is_plural = end - start > 1 && end_of_lower - end == 1 && class(end_of_lower) != Class::Digit;
    match end - start {
        1 => end_of_lower,
        _ if is_plural => end_of_lower,
        _ => end - 1,
    }
}

/// The words of a name, joined by spaces.
pub fn folded(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    fold_words(name, |word| {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    });
    words
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn names_of_all_styles_have_the_same_words() {
        let check = |name: &str, expect: &str| assert_eq!(folded(name), expect, "{name}");
        check("getUserById", "get user by id");
        check("get_user-by id", "get user by id");
        check("GET_USER_BY_ID", "get user by id");
        check("parseHTTPResponse2", "parse http response 2");
        check("getURLs", "get urls");
        check("HTTPServer", "http server");
        check("IService", "i service");
        check("größeÄndern", "größe ändern");
        check("$el", "el");
        check("operator==", "operator");
        check("__", "");
        check("", "");
    }
}
