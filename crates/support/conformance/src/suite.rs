//! Runs the checks of a suite on an adapter, with and without planted faults.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use futures::future::LocalBoxFuture;

/// The time limit of a check. Even on a slow server, every check needs less time, so a check that reaches the
/// limit would never end.
const CHECK_DEADLINE: Duration = Duration::from_secs(120);

/// A check of one rule in a port's contract. `P` is the port's trait.
pub struct Check<P: ?Sized + 'static> {
    /// The name of the function that checks the rule.
    pub name: &'static str,
    pub run: for<'a> fn(&'a P) -> LocalBoxFuture<'a, Result<()>>,
}

/// A fault that is planted in an adapter by a wrapper around the adapter.
pub struct PlantedFault<P: ?Sized + 'static> {
    pub name: &'static str,
    /// The name of the check that must notice the fault.
    pub caught_by: &'static str,
    pub plant: Box<dyn Fn(Box<P>) -> Box<P> + Send + Sync>,
}

/// Lists functions as checks; the name of each check is the name of the function.
macro_rules! checks {
    ($($check:ident),+ $(,)?) => {
        vec![$($crate::suite::Check { name: stringify!($check), run: |subject| Box::pin($check(subject)) }),+]
    };
}
pub(crate) use checks;

/// An environment variable. If its value is the name of a check, only this check is run, and no faults are
/// planted.
const ONLY: &str = "CAIRN_CHECK";

/// Runs every check on a subject that `open` returns, and reports all failures.
pub async fn passes<P: ?Sized>(checks: &[Check<P>], open: impl AsyncFn() -> Result<Box<P>>) -> Result<()> {
    let only = std::env::var(ONLY).ok();
    let checks: Vec<_> = checks.iter().filter(|check| only.as_ref().is_none_or(|only| only == check.name)).collect();
    ensure!(!checks.is_empty(), "{ONLY} names no check of this suite: {}", only.unwrap_or_default());
    let mut failures = Vec::new();
    for check in &checks {
        let subject = opened(&open, check).await?;
        if let Err(error) = run_check(check, &subject).await {
            failures.push(format!("{}: {error:#}", check.name));
        }
    }
    if failures.is_empty() {
        return Ok(());
    }
    bail!("{} of {} checks fail:\n{}", failures.len(), checks.len(), failures.join("\n"))
}

/// Plants each fault in a subject that `open` returns. Fails if the check that the fault names does not
/// notice the fault. If the checks are independent, `open` may always return the same subject; then call this
/// function first, and call `passes` with this subject afterwards.
pub async fn catches<P: ?Sized>(
    checks: &[Check<P>],
    faults: &[PlantedFault<P>],
    open: impl AsyncFn() -> Result<Box<P>>,
) -> Result<()> {
    if std::env::var_os(ONLY).is_some() {
        return Ok(());
    }
    let mut missed = Vec::new();
    for fault in faults {
        let check = checks.iter().find(|check| check.name == fault.caught_by);
        let check = check.with_context(|| format!("`{}`: no check is called {}", fault.name, fault.caught_by))?;
        let subject = (fault.plant)(opened(&open, check).await?);
        if run_check(check, &subject).await.is_ok() {
            missed.push(format!("{} does not notice: {}", check.name, fault.name));
        }
    }
    if missed.is_empty() { Ok(()) } else { bail!("{}", missed.join("\n")) }
}

async fn opened<P: ?Sized>(open: &impl AsyncFn() -> Result<Box<P>>, check: &Check<P>) -> Result<Box<P>> {
    let opening = tokio::time::timeout(CHECK_DEADLINE, open()).await;
    opening
        .map_err(Into::into)
        .flatten()
        .with_context(|| format!("the subject for `{}` could not be opened", check.name))
}

async fn run_check<P: ?Sized>(check: &Check<P>, subject: &P) -> Result<()> {
    match tokio::time::timeout(CHECK_DEADLINE, (check.run)(subject)).await {
        Ok(outcome) => outcome,
        Err(_) => bail!("the check did not end within {CHECK_DEADLINE:?}"),
    }
}

/// Fails unless both values are equal. The error contains both values.
macro_rules! expect_eq {
    ($found:expr, $expected:expr $(,)?) => {
        match (&$found, &$expected) {
            (found, expected) => {
                anyhow::ensure!(*found == *expected, "{}: found {found:?}, expected {expected:?}", stringify!($found))
            }
        }
    };
}
pub(crate) use expect_eq;

/// Fails unless the result is an error of the given kind.
macro_rules! expect_kind {
    ($outcome:expr, $kind:ident) => {
        match $outcome {
            Ok(value) => {
                anyhow::bail!(
                    "{}: returned {:?}, expected the error {}",
                    stringify!($outcome),
                    value,
                    stringify!($kind)
                )
            }
            Err(error) => anyhow::ensure!(
                error.kind == cairn_ports::ErrorKind::$kind,
                "{}: returned the error {:?}, expected {}",
                stringify!($outcome),
                error,
                stringify!($kind)
            ),
        }
    };
}
pub(crate) use expect_kind;
