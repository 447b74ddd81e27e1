//! Measures the time to read the history of a bare repository: `cargo run --release -p cairn-git --example
//! history_speed -- REPO`.
//!
//! Prints the time of three reads. The first read has no cache. The second read has the history of the head
//! in the cache. The third read has the history of the head's parent in the cache. For comparison, the
//! program also prints the time that `git log` takes to list the paths of every commit.

use std::process::{Command, Stdio};
use std::time::Instant;

use cairn_domain::Source;
use cairn_git::{GitSettings, GitSources};
use cairn_ports::{ReadOptions, SourceCache, SourceReader};

fn read(path: &str, branch: &str, cache: &SourceCache) -> Result<SourceCache, Box<dyn std::error::Error>> {
    let options = ReadOptions { branch: Some(branch.to_owned()), cache: cache.clone(), ..ReadOptions::default() };
    let started = Instant::now();
    let tree = GitSources::new(GitSettings::new("clones")).open(&Source::Bare { path: path.to_owned() }, &options)?;
    let num_dated = tree.entries().iter().filter(|entry| entry.changed_at.is_some()).count();
    println!("{branch}: {:?}, {num_dated} of {} paths have a time", started.elapsed(), tree.entries().len());
    Ok(tree.cache().clone())
}

fn git(path: &str, arguments: &[&str]) -> std::io::Result<()> {
    Command::new("git").args(["-C", path]).args(arguments).stdout(Stdio::null()).status().map(drop)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("the path of a bare repository")?;
    git(&path, &["branch", "-f", "history-speed-head", "HEAD"])?;
    git(&path, &["branch", "-f", "history-speed-parent", "HEAD~1"])?;
    let cache = read(&path, "history-speed-head", &SourceCache::default())?;
    read(&path, "history-speed-head", &cache)?;
    let parent = read(&path, "history-speed-parent", &SourceCache::default())?;
    read(&path, "history-speed-head", &parent)?;
    let started = Instant::now();
    git(&path, &["log", "--format=%ct", "--name-only", "HEAD"])?;
    println!("git log --name-only: {:?}", started.elapsed());
    Ok(())
}
