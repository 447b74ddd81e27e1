//! Measures the time to load the model and to embed files. Embedding is measured in processor time if the
//! system reports it.
//!
//! ```text
//! cargo run --release -p cairn-local-embedding --example measure_embedding -- FILE...
//! ```

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use cairn_local_embedding::LocalEmbedder;

const CHUNK_LINES: usize = 25;
const ROUNDS: u32 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut texts = Vec::new();
    for path in std::env::args().skip(1) {
        texts.push(std::fs::read_to_string(path)?);
    }
    let started = Instant::now();
    let embedder = LocalEmbedder::shipped()?;
    let loaded = started.elapsed();
    black_box(embedder.embed_query("how are documents embedded"));
    println!("model loaded after {loaded:?}, first question embedded after {:?}", started.elapsed());

    let lines: Vec<&str> = texts.iter().flat_map(|text| text.lines()).collect();
    let chunks: Vec<String> = lines.chunks(CHUNK_LINES).map(|lines| lines.join("\n")).collect();
    let chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
    let size_bytes: usize = chunks.iter().map(|chunk| chunk.len()).sum();
    let mut fastest = f64::MAX;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let cpu_started = cpu_seconds();
        black_box(embedder.embed_passages(&chunks));
        let elapsed = cpu_seconds().zip(cpu_started).map(|(now, then)| now - then);
        fastest = fastest.min(elapsed.unwrap_or_else(|| started.elapsed().as_secs_f64()));
    }
    println!(
        "{} chunks, {:.1} MB: {:.1} MB/s, {:.2} us a chunk (best of {ROUNDS})",
        chunks.len(),
        size_bytes as f64 / 1e6,
        size_bytes as f64 / 1e6 / fastest,
        fastest * 1e6 / chunks.len().max(1) as f64,
    );
    Ok(())
}

/// Processor time of this thread, if the system reports it. On a busy machine, wall time would include the
/// time of other processes.
fn cpu_seconds() -> Option<f64> {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: u64 = statistics.split(' ').next()?.parse().ok()?;
    Some(nanoseconds as f64 / 1e9)
}
