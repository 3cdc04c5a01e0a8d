//! The host part of an account: which clients it matches, and how it ranks.
//!
//! Sources: <https://dev.mysql.com/doc/refman/8.4/en/connection-access.html>,
//! <https://mariadb.com/docs/server/reference/sql-statements/account-management-sql-statements/create-user>, and what the servers
//! answered in `backend/tests/accounts.rs`.

use std::net::{IpAddr, Ipv4Addr};

/// The host part of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    text: String,
    network: Option<Network>,
}

/// An IPv4 network, written as `address/netmask` or `address/length`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Network {
    address: u32,
    mask: u32,
}

/// A higher rank is tried first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// The netmask of an address or network, where the server ranks these first.
    mask: Option<u32>,
    /// 128 without a wildcard, else the position of the first one, 1 to 127; 0 for an empty host part.
    prefix: u8,
}

impl HostPattern {
    /// Reads the host part; every text is one. An empty one matches every client, as `%` does.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self { text: text.to_owned(), network: Network::parse(text) }
    }

    /// Whether a client with this address and this name is meant.
    #[must_use]
    pub fn matches(&self, ip: Option<IpAddr>, name: Option<&str>) -> bool {
        if self.text.is_empty() {
            return true;
        }
        if let (Some(network), Some(IpAddr::V4(ip))) = (self.network, ip) {
            return network.contains(ip);
        }
        let pattern = self.text.as_bytes();
        name.is_some_and(|name| like(pattern, name.as_bytes()))
            || ip.is_some_and(|ip| like(pattern, ip.to_string().as_bytes()))
    }

    /// How early the server tries it. `networks_first` is MySQL's order.
    #[must_use]
    pub fn rank(&self, networks_first: bool) -> Rank {
        let single = || self.text.parse::<Ipv4Addr>().ok().map(|_| u32::MAX);
        let mask = match networks_first {
            true => self.network.map(|network| network.mask).or_else(single),
            false => None,
        };
        Rank { mask, prefix: prefix(self.text.as_bytes()) }
    }
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (address, mask) = text.split_once('/')?;
        let address = u32::from(address.parse::<Ipv4Addr>().ok()?);
        let mask = match mask.parse::<Ipv4Addr>() {
            Ok(mask) => u32::from(mask),
            // CIDR notation: MySQL 8.0.23 and later.
            Err(_) => match mask.parse::<u32>().ok()? {
                0 => 0,
                length @ 1..=32 => u32::MAX << (32 - length),
                _ => return None,
            },
        };
        Some(Self { address, mask })
    }

    /// As the servers compute it: an address with bits outside its mask matches nobody.
    fn contains(self, ip: Ipv4Addr) -> bool {
        u32::from(ip) & self.mask == self.address
    }
}

fn prefix(text: &[u8]) -> u8 {
    let mut bytes = text.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'%' | b'_' => return u8::try_from(at + 1).unwrap_or(127).min(127),
            _ => {}
        }
    }
    if text.is_empty() { 0 } else { 128 }
}

/// LIKE without regard to the case of ASCII letters; `\` makes the next byte ordinary. Linear in the text for each
/// `%`, without recursion.
fn like(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        let here = text.get(t).copied().unwrap_or_default();
        let step = match pattern.get(p) {
            Some(b'%') => {
                retry = Some((p + 1, t));
                p += 1;
                continue;
            }
            Some(b'_') => Some(1),
            Some(b'\\') if p + 1 < pattern.len() => {
                pattern.get(p + 1).is_some_and(|b| b.eq_ignore_ascii_case(&here)).then_some(2)
            }
            Some(byte) => byte.eq_ignore_ascii_case(&here).then_some(1),
            None => None,
        };
        match (step, retry) {
            (Some(step), _) => {
                p += step;
                t += 1;
            }
            (None, Some((after, from))) => {
                retry = Some((after, from + 1));
                p = after;
                t = from + 1;
            }
            (None, None) => return false,
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'%'))
}

#[cfg(test)]
mod tests;
