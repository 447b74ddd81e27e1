//! An answer, and what it says beside its body: what is wrong, and where the next page is.

use cairn_ports::ErrorKind;
use url::Url;

/// Of a text of the service's that is shown.
const SHOWN_CHARACTERS: usize = 200;
/// Of what is read at once: in memory it is many times as long. Of all repositories GitHub's are the longest, with ten thousand.
pub(crate) const MAX_JSON_BYTES: usize = 1 << 20;
/// A longer query of a link is not one of a page.
const MAX_QUERY_BYTES: usize = 4_096;

/// What came back. Header names are in lower case; those that came several times stand there several times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// What a status that is no success means, and a sentence about it.
    pub(crate) fn refusal(&self) -> (ErrorKind, String) {
        let (kind, meaning) = match self.status {
            300..=399 => {
                (ErrorKind::Invalid, "redirects, which is not followed: give the present address and name of the owner")
            }
            401 => (ErrorKind::Forbidden, "does not accept the token, or wants one"),
            403 => (ErrorKind::Forbidden, "forbids it: the token may not list this owner's repositories"),
            404 | 410 => (
                ErrorKind::NotFound,
                "has no such owner, or the token may not see it; see `owner`, `owner_is`, `url` and the token's scopes",
            ),
            500.. => (ErrorKind::Unavailable, "has a failure of its own"),
            _ => (ErrorKind::Invalid, "refuses the request"),
        };
        let message = self.message().map_or(String::new(), |message| format!(": {message}"));
        (kind, format!("the service {meaning} (status {}{message})", self.status))
    }

    /// What the service says of an error. A text of somebody else's.
    fn message(&self) -> Option<String> {
        let body = Some(&self.body).filter(|body| body.len() <= MAX_JSON_BYTES)?;
        let body: serde_json::Value = serde_json::from_slice(body).ok()?;
        let said = ["message", "error"].iter().find_map(|key| body.get(key)?.as_str());
        said.map(|text| printable(text, SHOWN_CHARACTERS))
    }

    /// The query of the next page's address; `Ok(None)` after the last page. Only the query: where it is asked is not for the
    /// service to say.
    pub(crate) fn next_query(&self, current: &Url) -> Result<Option<String>, String> {
        let links = self.headers.iter().filter(|(name, _)| name == "link");
        if let Some(target) = links.filter_map(|(_, value)| next_target(value)).next() {
            let target = current.join(target).map_err(|_| "the link to the next page is no URL".to_owned())?;
            let query = target.query().filter(|query| query.len() <= MAX_QUERY_BYTES);
            return query
                .map(|query| Some(query.to_owned()))
                .ok_or("the link to the next page names no page".to_owned());
        }
        let Some(page) = self.header("x-next-page").map(str::trim).filter(|page| !page.is_empty()) else {
            return Ok(None);
        };
        let page: u64 = page.parse().map_err(|_| "`X-Next-Page` is no number".to_owned())?;
        let kept = current.query_pairs().filter(|(name, _)| name != "page");
        let mut next = current.clone();
        next.query_pairs_mut().clear().extend_pairs(kept).append_pair("page", &page.to_string());
        Ok(next.query().map(ToOwned::to_owned))
    }
}

/// The target of the link with `rel="next"` in a `Link` header.
fn next_target(header: &str) -> Option<&str> {
    let mut rest = header;
    while let Some((_, after)) = rest.split_once('<') {
        let (target, after) = after.split_once('>')?;
        let (parameters, next) =
            after.split_once('<').map_or((after, ""), |(before, _)| (before, &after[before.len()..]));
        let is_next = parameters.split([';', ',']).map(str::trim).any(|parameter| {
            let value = parameter.split_once('=').filter(|(name, _)| name.trim().eq_ignore_ascii_case("rel"));
            value.is_some_and(|(_, value)| value.trim().trim_matches('"').split(' ').any(|word| word == "next"))
        });
        if is_next {
            return Some(target);
        }
        rest = next;
    }
    None
}

/// On one line, without control characters and marks that change the direction of a text, bounded.
pub(crate) fn printable(text: &str, max_characters: usize) -> String {
    let is_mark = |character: char| matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let shown =
        text.chars().map(|character| if character.is_control() || is_mark(character) { ' ' } else { character });
    shown.take(max_characters).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Answer {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Answer { status, headers, body: body.as_bytes().to_vec() }
    }

    #[test]
    fn of_a_link_only_the_query_counts() {
        let current = Url::parse("https://api.example/orgs/a/repos?per_page=100&page=1").expect("URL");
        let check = |headers: &[(&str, &str)], expect: Result<Option<&str>, ()>| {
            let found = answer(200, headers, "").next_query(&current).map_err(drop);
            assert_eq!(found, expect.map(|query| query.map(ToOwned::to_owned)), "{headers:?}");
        };
        check(&[], Ok(None));
        let link = "<https://api.example/organizations/9/repos?page=1>; rel=\"prev\", \
                    <https://api.example/organizations/9/repos?per_page=100&page=3>; rel=\"next\", <https://x/?page=9>; rel=\"last\"";
        check(&[("link", link)], Ok(Some("per_page=100&page=3")));
        check(&[("link", "<https://evil.example/x?page=2>; rel=\"next\"")], Ok(Some("page=2")));
        check(&[("link", "<http://169.254.169.254/?page=2>; rel=next")], Ok(Some("page=2")));
        check(&[("link", "<?cursor=abc,d>; title=\"x\"; rel=\"next\"")], Ok(Some("cursor=abc,d")));
        check(
            &[("link", "<https://x/?page=1>; rel=\"last\""), ("link", "<?page=2>; rel=\"next\"")],
            Ok(Some("page=2")),
        );
        check(&[("link", "<https://api.example/>; rel=\"next\"")], Err(()));
        check(&[("link", "<http://[>; rel=\"next\"")], Err(()));
        check(&[("link", "< rel=\"next\"")], Ok(None));
        check(&[("link", "<https://x/?page=2>; rel=\"nextish\"")], Ok(None));
        check(&[("x-next-page", "2")], Ok(Some("per_page=100&page=2")));
        check(&[("x-next-page", "")], Ok(None));
        check(&[("x-next-page", "two")], Err(()));
        check(&[("link", &format!("<?page={}>; rel=\"next\"", "9".repeat(5_000)))], Err(()));
    }

    #[test]
    fn refusals_say_what_to_look_at() {
        let check = |status: u16, kind: ErrorKind, words: &str| {
            let (found, text) = answer(status, &[], "{\"message\":\"Bad\\n\\u001b[31m credentials\"}").refusal();
            assert_eq!(found, kind, "{status}");
            assert!(
                text.contains(words) && text.contains("Bad  [31m credentials") && !text.contains('\u{1b}'),
                "{text}"
            );
        };
        check(301, ErrorKind::Invalid, "redirects");
        check(401, ErrorKind::Forbidden, "token");
        check(403, ErrorKind::Forbidden, "forbids");
        check(404, ErrorKind::NotFound, "`owner_is`");
        check(410, ErrorKind::NotFound, "`owner`");
        check(422, ErrorKind::Invalid, "refuses");
        check(500, ErrorKind::Unavailable, "failure");
        check(503, ErrorKind::Unavailable, "failure");
        assert!(answer(500, &[], "<html>").refusal().1.ends_with("(status 500)"));
    }
}
