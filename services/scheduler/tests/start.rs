//! The program as an operator starts it, without what it needs.

use std::io::Write;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

#[test]
fn missing_settings_are_named() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cairn-scheduler"));
    program.env_remove("CAIRN_CLUSTER_CONFIG").arg("run");
    let output = program.output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("[s3]"), "{said}");
}

/// A store that takes connections and says nothing keeps it waiting for a minute.
#[test]
fn who_still_connects_ends_when_asked_to() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut settings = tempfile::NamedTempFile::new().expect("a file");
    let url = format!("http://{}", silent.local_addr().expect("an address"));
    write!(
        settings,
        "[s3]\nbucket = 'b'\nendpoint = '{url}'\naccess_key_id = {{ env = 'PATH' }}\nsecret_access_key = {{ env = 'PATH' }}\n\
         [neo4j]\nurl = 'bolt://127.0.0.1:9'\n"
    )
    .expect("settings");
    for command in ["tick", "run"] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_cairn-scheduler"));
        program.arg("--config").arg(settings.path()).arg(command).stderr(Stdio::piped());
        let program = program.spawn().expect("the program starts");
        let (connected, pid) = (silent.accept().expect("it asks the store"), program.id().to_string());
        assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill").success());
        let (ended, end) = mpsc::channel();
        thread::spawn(move || ended.send(program.wait_with_output()));
        let output = end.recv_timeout(Duration::from_secs(20)).expect("it ends").expect("its output");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("asked to stop"), "{command}: {said}");
        drop(connected);
    }
}
