//! Which hosts and addresses may be asked for a page.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Permission to request pages from a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageHostAccess {
    /// Not allowed.
    No,
    /// Allowed if the addresses of the host are public.
    Public,
    /// Allowed, also in a private network or on this machine.
    AlsoPrivate,
}

/// Network location of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AddressScope {
    /// On the internet.
    Public,
    /// On this machine or in a private network.
    Private,
    /// Never has a page: links without a router (metadata of clouds), groups, reserved ranges.
    Never,
}

/// Returns the network location of an address.
pub(super) fn reach(address: IpAddr) -> AddressScope {
    match address {
        IpAddr::V4(address) => reach_v4(address),
        IpAddr::V6(address) => reach_v6(address),
    }
}

fn reach_v4(address: Ipv4Addr) -> AddressScope {
    let [first, second, third, _] = address.octets();
    if address.is_loopback() || address.is_private() || (first == 100 && (second & 0xc0) == 64) {
        return AddressScope::Private;
    }
    let is_special = first == 0
        || first >= 224
        || address.is_link_local()
        || address.is_documentation()
        || (first == 192 && second == 0 && third == 0)
        || (first == 192 && second == 88 && third == 99)
        || (first == 198 && (second & 0xfe) == 18);
    if is_special { AddressScope::Never } else { AddressScope::Public }
}

fn reach_v6(address: Ipv6Addr) -> AddressScope {
    let [first, second, third, fourth, fifth, sixth, seventh, eighth] = address.segments();
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        reach_v4(Ipv4Addr::new(a, b, c, d))
    };
    if address.is_loopback() || (first & 0xfe00) == 0xfc00 {
        return AddressScope::Private;
    }
    // Addresses of IPv4 in the clothes of IPv6: mapped, compatible, translated (NAT64), and 6to4.
    let upper = [first, second, third, fourth, fifth];
    if upper == [0; 5] && (sixth == 0xffff || sixth == 0) {
        return if address.is_unspecified() { AddressScope::Never } else { v4(seventh, eighth) };
    }
    if first == 0x64 && second == 0xff9b {
        // A prefix of a network (`64:ff9b:1::/48`) leads into that network.
        return if [third, fourth, fifth, sixth] == [0; 4] {
            v4(seventh, eighth)
        } else {
            AddressScope::Never
        };
    }
    if first == 0x2002 {
        return v4(second, third);
    }
    let is_public = (first & 0xe000) == 0x2000 && first != 0x2001;
    // Of 2001::/16, the ranges for protocols and documentation are no places of pages.
    let is_ordinary_2001 = first == 0x2001 && second >= 0x200 && second != 0xdb8;
    if is_public || is_ordinary_2001 { AddressScope::Public } else { AddressScope::Never }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart() {
        let check = |expected: AddressScope, addresses: &[&str]| {
            for address in addresses {
                assert_eq!(reach(address.parse().unwrap()), expected, "{address}");
            }
        };
        check(
            AddressScope::Public,
            &["1.1.1.1", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111"],
        );
        check(
            AddressScope::Public,
            &["2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"],
        );
        check(
            AddressScope::Private,
            &["127.0.0.1", "127.9.9.9", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1"],
        );
        check(
            AddressScope::Private,
            &["::1", "fd00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1"],
        );
        check(AddressScope::Private, &["64:ff9b::7f00:1", "2002:7f00:1::", "2002:c0a8:101::1"]);
        check(
            AddressScope::Never,
            &["169.254.169.254", "0.0.0.0", "0.1.2.3", "224.0.0.1", "255.255.255.255"],
        );
        check(
            AddressScope::Never,
            &["192.0.2.1", "198.18.0.1", "192.0.0.8", "240.0.0.1", "::", "fe80::1", "ff02::1"],
        );
        check(
            AddressScope::Never,
            &["::ffff:169.254.169.254", "64:ff9b:1::1", "2001:db8::1", "2001::1", "4000::1"],
        );
    }
}
