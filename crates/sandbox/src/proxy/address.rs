//! Which addresses are public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is one of the public internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match plain(address) {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Whether an address may be dialled even for a host that may be private: not one that stands for
/// nobody, for many, or for the cloud's own services.
pub(super) fn is_host(address: IpAddr) -> bool {
    match plain(address) {
        IpAddr::V4(address) => {
            !(address.is_unspecified()
                || address.is_multicast()
                || address.is_broadcast()
                || address.is_link_local())
        }
        IpAddr::V6(address) => {
            !(address.is_unspecified()
                || address.is_multicast()
                || address.is_unicast_link_local()
                // The cloud's own services.
                || address.segments()[..2] == [0xfd00, 0x0ec2])
        }
    }
}

/// The IPv4 address behind an IPv6 one that only wraps it.
fn plain(address: IpAddr) -> IpAddr {
    let IpAddr::V6(six) = address else {
        return address;
    };
    let nat64 = six.segments()[..6] == [0x64, 0xff9b, 0, 0, 0, 0];
    let [.., a, b, c, d] = six.octets();
    match six.to_ipv4_mapped() {
        Some(four) => four.into(),
        None if nat64 => Ipv4Addr::new(a, b, c, d).into(),
        None => address,
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_shared = a == 100 && (64..128).contains(&b);
    let is_benchmark = a == 198 && (b == 18 || b == 19);
    let is_protocol = (a, b, c) == (192, 0, 0) || (a, b, c) == (192, 88, 99);
    !(a == 0
        || a >= 224
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || is_shared
        || is_benchmark
        || is_protocol)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let is_global = a & 0xe000 == 0x2000;
    let is_protocol = a == 0x2001 && b < 0x0200;
    let is_documentation = (a == 0x2001 && b == 0x0db8) || (a == 0x3fff && b < 0x1000);
    let is_wrapped = a == 0x2002;
    is_global && !is_protocol && !is_documentation && !is_wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_public_or_at_least_a_host() {
        for (address, expected) in [
            ("1.1.1.1", (true, true)),
            ("8.8.8.8", (true, true)),
            ("2606:4700::1111", (true, true)),
            ("127.0.0.1", (false, true)),
            ("10.1.2.3", (false, true)),
            ("172.16.0.1", (false, true)),
            ("192.168.1.1", (false, true)),
            ("100.64.0.1", (false, true)),
            ("198.18.0.1", (false, true)),
            ("192.0.0.8", (false, true)),
            ("203.0.113.7", (false, true)),
            ("240.0.0.1", (false, true)),
            ("0.0.0.0", (false, false)),
            ("0.1.2.3", (false, true)),
            ("169.254.169.254", (false, false)),
            ("224.0.0.1", (false, false)),
            ("255.255.255.255", (false, false)),
            ("::", (false, false)),
            ("::1", (false, true)),
            ("fe80::1", (false, false)),
            ("fc00::1", (false, true)),
            ("fd00:ec2::254", (false, false)),
            ("ff02::1", (false, false)),
            ("::ffff:127.0.0.1", (false, true)),
            ("::ffff:169.254.169.254", (false, false)),
            ("::ffff:8.8.8.8", (true, true)),
            ("64:ff9b::8.8.8.8", (true, true)),
            ("64:ff9b::127.0.0.1", (false, true)),
            ("64:ff9b::169.254.169.254", (false, false)),
            ("::127.0.0.1", (false, true)),
            ("2002:7f00:1::", (false, true)),
            ("2001:db8::1", (false, true)),
            ("2001::1", (false, true)),
        ] {
            let parsed: IpAddr = address.parse().unwrap();
            assert_eq!((is_public(parsed), is_host(parsed)), expected, "{address}");
        }
    }
}
