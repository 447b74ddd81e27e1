//! Checks that the parser with child processes fulfils the contract of parsers. This program is also the
//! child: with the argument `parse-worker`, it runs `serve`.

use anyhow::Result;
use cairn_conformance::{file_parser, suite};
use cairn_local_parser::{ChildParser, serve};
use cairn_ports::FileParser;
use libtest_mimic::{Arguments, Trial};

const WORKER: &str = "parse-worker";

fn main() -> Result<()> {
    if std::env::args().nth(1).as_deref() == Some(WORKER) {
        return Ok(serve(&mut std::io::stdin().lock(), &mut std::io::stdout().lock())?);
    }
    let contract = Trial::test("child_processes_keep_the_contract_of_parsers", || {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(check()).map_err(|error| format!("{error:#}").into())
    });
    libtest_mimic::run(&Arguments::from_args(), vec![contract]).exit()
}

async fn check() -> Result<()> {
    let program = std::env::current_exe()?;
    let open = async || Ok(Box::new(ChildParser::new(program.clone(), vec![WORKER.to_owned()])) as Box<dyn FileParser>);
    suite::passes(&file_parser::checks(), open).await?;
    suite::catches(&file_parser::checks(), &file_parser::faults(), open).await?;
    Ok(())
}
