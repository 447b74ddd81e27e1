//! `cairn doctor` against a cluster.

use super::installation::Installation;
use super::survey::{self, Finding, State};
use crate::commands::Outcome;
use crate::commands::doctor::{Check, report};

/// Each dependency: whether it answers, which it is, whether it is prepared.
pub(super) async fn doctor(installation: &Installation, json: bool) -> Outcome {
    let (mut findings, model) = tokio::join!(survey::of_servers(installation), survey::of_model(installation));
    findings.push(model);
    Ok(report(&findings.iter().map(check).collect::<Vec<_>>(), json))
}

fn check(finding: &Finding) -> Check {
    let name = finding.name.to_owned();
    match &finding.state {
        State::Fault(fault) => Check { what: name, fault: Some(fault.clone()) },
        State::Answers(answer) => {
            let known: Vec<&str> = answer.version.as_deref().into_iter().chain(answer.remark).collect();
            let known = if known.is_empty() { String::new() } else { format!(" ({})", known.join("; ")) };
            let missing = answer.missing.join(", ");
            let fault = format!("lacks {missing}; `cairn topology apply` makes what is missing");
            Check { what: format!("{name}{known}"), fault: (!missing.is_empty()).then_some(fault) }
        }
    }
}
