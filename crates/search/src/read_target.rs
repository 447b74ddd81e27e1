//! Reads code by a text that is the path of a file or the name of a symbol.

use cairn_question::is_written_like_a_file;

use crate::{Code, CodeRequest, QueryError, QueryErrorCode, Searcher};

/// Maximum number of calls of an error.
const MAX_CALLS: usize = 2;

impl Searcher {
    /// Reads the file or the symbol that `target` names. `path` and `symbol` of the request must be empty. A
    /// file comes first if the text contains a slash or a dot. A text that is written like a path never
    /// becomes a symbol with another name.
    pub async fn read_target(&self, target: &str, request: &CodeRequest) -> Result<Code, QueryError> {
        let path = target.strip_prefix("./").unwrap_or(target).to_owned();
        let of_path = CodeRequest { path: Some(path), ..request.clone() };
        let of_symbol = CodeRequest { symbol: Some(target.to_owned()), ..request.clone() };
        if !target.contains(['/', '.']) {
            return match self.read_code(&of_symbol).await {
                Ok(code) if has_same_name(&code) => Ok(code),
                Ok(code) => self.read_code(&of_path).await.or(Ok(code)),
                Err(symbol) if symbol.code == QueryErrorCode::NotFound => {
                    self.read_code(&of_path).await.map_err(|file| of_both(symbol, file))
                }
                Err(error) => Err(error),
            };
        }
        let file = match self.read_code(&of_path).await {
            Err(error) if error.code == QueryErrorCode::NotFound => error,
            read => return read,
        };
        match self.read_code(&of_symbol).await {
            Ok(code) if has_same_name(&code) || !is_written_like_a_file(target) => Ok(code),
            Ok(code) => Err(with_near_name(file, &code)),
            Err(symbol) if is_written_like_a_file(target) => Err(of_both(file, symbol)),
            Err(symbol) => Err(of_both(symbol, file)),
        }
    }
}

fn has_same_name(code: &Code) -> bool {
    code.substitution.as_ref().is_none_or(|used| used.is_same_name())
}

/// The error for an absent file, with the name of a near symbol.
fn with_near_name(mut file: QueryError, near: &Code) -> QueryError {
    let used = near.substitution.iter();
    file.similar_symbols = used.flat_map(|used| [&used.used].into_iter().chain(&used.similar)).cloned().collect();
    file
}

/// The error for a text that is neither a file nor a symbol. The first error is the one for the kind that
/// the text is written like.
fn of_both(first: QueryError, second: QueryError) -> QueryError {
    if first.code != QueryErrorCode::NotFound || second.code != QueryErrorCode::NotFound {
        return first;
    }
    let or = |first: Vec<String>, second: Vec<String>| if first.is_empty() { second } else { first };
    let mut next_calls = first.next_calls;
    // Searching for the words is the last resort.
    let is_search = next_calls.last().is_some_and(|call| call.tool == "search_code");
    let at = next_calls.len() - usize::from(is_search);
    let reading = second.next_calls.into_iter().filter(|call| call.tool != "search_code");
    next_calls.splice(at..at, reading);
    next_calls.truncate(MAX_CALLS);
    QueryError {
        message: format!("{}; {}", first.message, second.message),
        similar_symbols: or(first.similar_symbols, second.similar_symbols),
        similar_files: or(first.similar_files, second.similar_files),
        hint: first.hint.or(second.hint),
        next_calls,
        ..QueryError::new(QueryErrorCode::NotFound, "")
    }
}
