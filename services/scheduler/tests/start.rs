//! Starts the program without settings, and stops it while it connects.

use std::io::Write;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(30);

#[test]
fn missing_settings_are_named() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cairn-scheduler"));
    program.env_remove("CAIRN_CLUSTER_CONFIG").arg("run");
    let output = program.output().expect("the program starts");
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && reported.contains("[s3]"), "{reported}");
}

/// The store accepts connections but never replies, so the start of the program would take a minute.
#[test]
fn stops_while_it_connects() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut settings = tempfile::NamedTempFile::new().expect("a file");
    let url = format!("http://{}", silent.local_addr().expect("an address"));
    write!(
        settings,
        "[s3]\nbucket = 'tests'\nendpoint = '{url}'\naccess_key_id = {{ env = 'KEY' }}\nsecret_access_key = {{ env = 'KEY' }}\n\
         [neo4j]\nurl = 'bolt://127.0.0.1:9'\n"
    )
    .expect("settings");
    let (connected, connections) = mpsc::channel();
    thread::spawn(move || silent.incoming().for_each(|connection| drop(connected.send(connection))));
    for command in ["tick", "reconcile", "sweep", "run"] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_cairn-scheduler"));
        program.arg("--config").arg(settings.path()).arg(command).env("KEY", "key").stderr(Stdio::piped());
        let program = program.spawn().expect("the program starts");
        let pid = program.id().to_string();
        let connection = connections.recv_timeout(DEADLINE).expect("the process connects to the store");
        assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill").success());
        let (ended, end) = mpsc::channel();
        thread::spawn(move || ended.send(program.wait_with_output()));
        let output = end.recv_timeout(DEADLINE).expect("it ends").expect("its output");
        let reported = String::from_utf8_lossy(&output.stderr);
        assert!(reported.contains("asked to stop"), "{command}: {reported}");
        drop(connection);
    }
}
