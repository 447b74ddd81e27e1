//! A reply of the service. The module interprets its status and finds the address of the next page.

use cairn_ports::ErrorKind;
use url::Url;

use crate::foreign::ForeignText;

/// Maximum number of bytes of JSON that are parsed at once. The number is limited, because parsed JSON uses
/// several times as much memory. GitHub has the longest entries, with ten thousand bytes.
pub(crate) const MAX_JSON_BYTES: usize = 1 << 20;
/// Maximum length of the query in a link to the next page. A link with a longer query is invalid.
const MAX_QUERY_BYTES: usize = 4_096;

/// An HTTP reply. Header names are in lower case. A header that was sent several times is in the list several
/// times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct HttpReply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl HttpReply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the kind of error that an unsuccessful status represents, and a sentence that describes the
    /// error.
    pub(crate) fn refusal(&self, foreign: &ForeignText) -> (ErrorKind, String) {
        let (kind, meaning) = match self.status {
            300..=399 => (
                ErrorKind::Invalid,
                "redirects the request, but redirects are not followed: set `url` and `owner` to the current values",
            ),
            401 => (ErrorKind::Forbidden, "does not accept the token, or requires a token"),
            403 => (ErrorKind::Forbidden, "forbids the request: the token may not list this owner's repositories"),
            404 | 410 => (
                ErrorKind::NotFound,
                "has no such owner, or the token may not see it; see `owner`, `owner_is`, `url` and the token's scopes",
            ),
            500.. => (ErrorKind::Unavailable, "has an internal failure"),
            _ => (ErrorKind::Invalid, "refuses the request"),
        };
        let message = self.message().map_or(String::new(), |text| format!(": {}", foreign.quoted(&text)));
        (kind, format!("the service {meaning} (status {}{message})", self.status))
    }

    /// Returns the error message in the body of the reply.
    fn message(&self) -> Option<String> {
        let body = Some(&self.body).filter(|body| body.len() <= MAX_JSON_BYTES)?;
        let body: serde_json::Value = serde_json::from_slice(body).ok()?;
        ["message", "error"].iter().find_map(|key| body.get(key)?.as_str()).map(ToOwned::to_owned)
    }

    /// Returns the query of the next page's address; `Ok(None)` after the last page. All other parts of the
    /// address are ignored, because the service must not decide where requests are sent.
    pub(crate) fn next_query(&self, current: &Url) -> Result<Option<String>, String> {
        let links = self.headers.iter().filter(|(name, _)| name == "link");
        if let Some(target) = links.filter_map(|(_, value)| next_target(value)).next() {
            let target = current.join(target).map_err(|_| "the link to the next page is not a URL".to_owned())?;
            let query = target.query().filter(|query| query.len() <= MAX_QUERY_BYTES);
            return query
                .map(|query| Some(query.to_owned()))
                .ok_or("the link to the next page has no query".to_owned());
        }
        let Some(page) = self.header("x-next-page").map(str::trim).filter(|page| !page.is_empty()) else {
            return Ok(None);
        };
        let page: u64 = page.parse().map_err(|_| "`X-Next-Page` is not a number".to_owned())?;
        let kept = current.query_pairs().filter(|(name, _)| name != "page");
        let mut next = current.clone();
        next.query_pairs_mut().clear().extend_pairs(kept).append_pair("page", &page.to_string());
        Ok(next.query().map(ToOwned::to_owned))
    }
}

/// Returns the target of the link with `rel="next"` in a `Link` header.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, headers: &[(&str, &str)], body: &str) -> HttpReply {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        HttpReply { status, headers, body: body.as_bytes().to_vec() }
    }

    #[test]
    fn only_the_query_of_a_link_is_used() {
        let current = Url::parse("https://api.example/orgs/a/repos?per_page=100&page=1").expect("URL");
        let check = |headers: &[(&str, &str)], expect: Result<Option<&str>, ()>| {
            let found = reply(200, headers, "").next_query(&current).map_err(drop);
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
    fn refusals_name_the_settings_to_check() {
        let check = |status: u16, kind: ErrorKind, words: &str| {
            let reply = reply(status, &[], "{\"message\":\"Bad\\n\\u001b[31m credentials\"}");
            let (found, text) = reply.refusal(&ForeignText::default());
            assert_eq!(found, kind, "{status}");
            assert!(text.contains(words) && text.contains("«Bad\\n\\u{1b}[31m credentials»"), "{text}");
        };
        check(301, ErrorKind::Invalid, "redirects");
        check(401, ErrorKind::Forbidden, "token");
        check(403, ErrorKind::Forbidden, "forbids");
        check(404, ErrorKind::NotFound, "`owner_is`");
        check(410, ErrorKind::NotFound, "`owner`");
        check(422, ErrorKind::Invalid, "refuses");
        check(500, ErrorKind::Unavailable, "failure");
        check(503, ErrorKind::Unavailable, "failure");
        assert!(reply(500, &[], "<html>").refusal(&ForeignText::default()).1.ends_with("(status 500)"));
    }
}
