//! The only rule that decides which addresses are allowed in URLs from users or servers.
//!
//! A literal address, or a name that is local by definition, is checked without a name server. Every other
//! name must be resolved. The caller that opens the connection checks all resolved addresses and connects
//! only to these addresses, so a different result of a later resolution has no effect.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Host;

/// Whether a host may be public. This check uses no name server. `None` means that the URL has no host.
pub fn may_be_public<S: AsRef<str>>(host: Option<&Host<S>>) -> bool {
    match host {
        Some(Host::Ipv4(address)) => is_public((*address).into()),
        Some(Host::Ipv6(address)) => is_public((*address).into()),
        Some(Host::Domain(name)) => is_public_name(name.as_ref()),
        None => false,
    }
}

/// Whether a name may be public. Names that are local by definition are not public, even if a name server
/// returns a public address for them.
fn is_public_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let local = ["localhost", "local", "internal", "localdomain", "home.arpa"];
    let is_local = |suffix: &&str| name == *suffix || name.ends_with(&format!(".{suffix}"));
    name.contains('.') && !local.iter().any(is_local)
}

/// Whether the address is on the public internet. Loopback, private, link-local, shared, documentation,
/// multicast and reserved addresses are not public. Link-local addresses are refused because clouds serve
/// metadata there. An IPv6 address that contains a non-public IPv4 address is also not public.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    /// The refused networks, each with the length of its prefix in bits.
    const REFUSED: &[([u8; 4], u32)] = &[
        ([0, 0, 0, 0], 8),
        ([10, 0, 0, 0], 8),
        ([100, 64, 0, 0], 10),
        ([127, 0, 0, 0], 8),
        // One cloud serves metadata to virtual machines at this address, although the address is in a public
        // range.
        ([168, 63, 129, 16], 32),
        ([169, 254, 0, 0], 16),
        ([172, 16, 0, 0], 12),
        ([192, 0, 0, 0], 24),
        ([192, 0, 2, 0], 24),
        ([192, 88, 99, 0], 24),
        ([192, 168, 0, 0], 16),
        ([198, 18, 0, 0], 15),
        ([198, 51, 100, 0], 24),
        ([203, 0, 113, 0], 24),
        ([224, 0, 0, 0], 4),
        ([240, 0, 0, 0], 4),
    ];
    let bits = u32::from(address);
    !REFUSED.iter().any(|(network, length)| (bits ^ u32::from_be_bytes(*network)) >> (32 - length) == 0)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    // If the address has the prefix for translation to IPv4, the embedded IPv4 address is checked.
    if segments[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        return is_public_v4(Ipv4Addr::from((u32::from(segments[6]) << 16) | u32::from(segments[7])));
    }
    let is_global_unicast = segments[0] & 0xe000 == 0x2000;
    let refused = match segments {
        // Protocol assignments (including Teredo), documentation, and 6to4.
        [0x2001, second, ..] => second < 0x200 || second == 0xdb8,
        [0x2002, ..] => true,
        [0x3fff, second, ..] => second < 0x1000,
        _ => false,
    };
    is_global_unicast && !refused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_checked_without_a_name_server() {
        let check = |host: &str, expect: bool| {
            let host = Host::parse(host).expect("host");
            assert_eq!(may_be_public(Some(&host)), expect, "{host}");
        };
        for public in ["github.com", "git.example.com.", "1.1.1.1", "[2606:4700::1111]"] {
            check(public, true);
        }
        for refused in ["localhost", "x.localhost.", "intranet", "a.internal", "127.1", "0x7f000001", "[::1]"] {
            check(refused, false);
        }
        assert!(!may_be_public::<String>(None));
    }

    #[test]
    fn only_public_addresses_pass() {
        let check = |text: &str, expect: bool| {
            assert_eq!(is_public(text.parse().expect("address")), expect, "{text}");
        };
        for public in [
            "1.1.1.1",
            "140.82.121.4",
            "172.15.255.255",
            "172.32.0.0",
            "100.63.0.1",
            "2606:4700::1111",
            "64:ff9b::101:101",
        ] {
            check(public, true);
        }
        let refused = [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "198.19.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:1.1.1.1",
            "::127.0.0.1",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "2002:7f00:1::",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "3fff::1",
            "fec0::1",
        ];
        for address in refused {
            check(address, false);
        }
    }
}
