//! Builds the command line of ssh.

use std::net::IpAddr;
use std::path::Path;

use crate::settings::SshSettings;

/// Options that never change: only the configured host keys are trusted, and configuration files, prompts and
/// forwarding are off.
const FIXED: &str = "BatchMode=yes StrictHostKeyChecking=yes GlobalKnownHostsFile=/dev/null UpdateHostKeys=no \
                     CheckHostIP=no ProxyCommand=none ForwardAgent=no ClearAllForwardings=yes PermitLocalCommand=no \
                     ConnectTimeout=30";

/// Returns `None` if a path or the alias cannot be quoted.
pub(super) fn ssh_command(ssh: &SshSettings, host_key_alias: &str, address: Option<&IpAddr>) -> Option<String> {
    let is_quotable = |text: &&str| !text.contains(['\'', '"', '\n']);
    let quoted = |path: &Path| path.to_str().filter(is_quotable).map(str::to_owned);
    let (known_hosts, host_key_alias) = (quoted(&ssh.known_hosts)?, Some(host_key_alias).filter(is_quotable)?);
    let mut line =
        format!("ssh -F /dev/null -o 'UserKnownHostsFile=\"{known_hosts}\"' -o 'HostKeyAlias={host_key_alias}'");
    for option in FIXED.split_whitespace() {
        line.push_str(&format!(" -o {option}"));
    }
    if let Some(key) = &ssh.key {
        line.push_str(&format!(" -o IdentitiesOnly=yes -i '{}'", quoted(key)?));
    }
    if let Some(address) = address {
        line.push_str(&format!(" -o HostName={address}"));
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssh_command_pins_host_keys_and_address() {
        let ssh =
            SshSettings { known_hosts: "/keys/known hosts".into(), key: Some("/keys/id".into()), tenants: Vec::new() };
        let line = ssh_command(&ssh, "git.example.com", Some(&"1.1.1.1".parse().expect("address"))).expect("quotable");
        assert!(
            line.contains("-o 'UserKnownHostsFile=\"/keys/known hosts\"'") && line.ends_with("-o HostName=1.1.1.1"),
            "{line}"
        );
        let hostile = SshSettings { known_hosts: "/keys/'; touch x".into(), key: None, tenants: Vec::new() };
        assert_eq!(ssh_command(&hostile, "x", None), None);
        assert_eq!(ssh_command(&ssh, "x';touch y;'", None), None);
    }
}
