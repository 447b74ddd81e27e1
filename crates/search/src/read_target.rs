//! Reads the code for a text that is the path of a file or the name of a symbol.

use cairn_domain::{Scope, View};
use cairn_question::file_and_lines;

use crate::code::{Code, CodeRequest};
use crate::file_names::{FileRequest, MAX_CALLS, is_like_a_file, no_file, read_call};
use crate::repositories::KnownRepository;
use crate::resolve::{NameMatching, NameRequest, Substitution};
use crate::{QueryError, QueryErrorCode, Searcher, bounds, default_exports};

impl Searcher {
    /// Reads the file, the directory or the symbol that `target` names. The fields `path` and `symbol` of the
    /// request must be empty.
    pub async fn read_target(&self, target: &str, request: &CodeRequest) -> Result<Code, QueryError> {
        bounds::word("target", target)?;
        let (view, selected) = self.view_for(request).await?;
        let read = self.read_file_or_symbol(&view, &selected, target, request).await;
        let position = file_and_lines(target).filter(|_| request.lines.is_none());
        match (read, position) {
            (Err(error), Some((path, lines))) if error.code == QueryErrorCode::NotFound => {
                Box::pin(self.read_code(&request.at(path, &lines))).await
            }
            (Err(error), _) => {
                let error = self.explain_absent_name(error, target, &view, &selected).await?;
                Err(self.with_misspelled_files(error, target, &view, &self.scope_of(&selected)).await?)
            }
            (read, _) => read,
        }
    }

    /// Adds the files whose names are similar to an absent name, and the call that reads the first of them.
    async fn with_misspelled_files(
        &self,
        mut error: QueryError,
        target: &str,
        view: &View,
        scope: &Scope,
    ) -> Result<QueryError, QueryError> {
        if error.code != QueryErrorCode::NotFound || !error.similar_files.is_empty() {
            return Ok(error);
        }
        error.similar_files = self.misspelled_files(view, scope, target, |_| true).await?;
        if let Some(best) = error.similar_files.first() {
            let read = read_call(best);
            error.next_calls.truncate(MAX_CALLS - 1);
            error.next_calls.insert(0, read);
        }
        Ok(error)
    }

    /// A text that looks like a path is first compared with files; any other text is first compared with
    /// symbols. A symbol with a different name is used only if no file, directory or module has the requested
    /// name.
    async fn read_file_or_symbol(
        &self,
        view: &View,
        selected: &[KnownRepository],
        target: &str,
        request: &CodeRequest,
    ) -> Result<Code, QueryError> {
        let (scope, near_path) = (self.scope_of(selected), request.context_path.as_deref());
        let is_file = is_like_a_file(target);
        if (is_file || target.contains(['/', '.']))
            && let Some(exact) = self.read_exact(view, selected, target, request).await?
        {
            return Ok(exact);
        }
        if let Some(exact) = self.path_like_a_function(view, &scope, target).await? {
            return self.read_named(view, selected, exact, request).await;
        }
        let file = FileRequest::new(target, near_path);
        if is_file && let Some(changed) = self.read_exact_changed(selected, file, request).await? {
            return Ok(changed);
        }
        let name = NameRequest { near_path, ..NameRequest::new(target) };
        match self.file_before_symbols(view, (&scope, selected), name, read_call).await {
            Ok(Some(file)) => return self.read_named(view, selected, file, request).await,
            Ok(None) => {}
            Err(absent) if absent.code == QueryErrorCode::NotFound => {
                return self.read_changed_or(selected, file, request, absent).await;
            }
            Err(error) => return Err(error),
        }
        let read = self.read_symbol(view, selected, target, None, request).await;
        if is_file || has_same_name(&read) {
            return read;
        }
        let place = FileRequest::of_any_name(target, near_path);
        match self.named_place(view, (&scope, selected), place).await? {
            Some(file) => self.read_named(view, selected, file, request).await,
            None => read.map_err(|error| without_file(error, target)),
        }
    }
}

/// Adds to the error that no file has the path either.
fn without_file(mut error: QueryError, target: &str) -> QueryError {
    if error.code == QueryErrorCode::NotFound {
        error.message = error.message.and("; ").and(no_file(target));
    }
    error
}

/// Whether the code has the requested name, apart from case and style, or is the default export of a file
/// with this name.
fn has_same_name(read: &Result<Code, QueryError>) -> bool {
    let is_same = |used: &Substitution| {
        used.is_same_name() || used.matching == NameMatching::Fuzzy && used.score >= default_exports::SCORE
    };
    read.as_ref().is_ok_and(|code| code.substitution.as_ref().is_none_or(is_same))
}
