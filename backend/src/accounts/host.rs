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

/// The order in which a server tries host parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// MariaDB: what matches fewer texts comes first. Without wildcards; then with `_` only, the fewer the better; then
    /// with `%`, the more other characters the better.
    FewestMatches,
    /// MySQL: addresses and networks, the narrowest first; then by the length of what comes before the first wildcard.
    NetworksThenPrefix,
}

/// The least rank is tried first; equal ones in no promised order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank([u32; 4]);

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

    /// How early a server tries it.
    #[must_use]
    pub fn rank(&self, order: Order) -> Rank {
        match order {
            Order::FewestMatches => Rank(Shape::of(&self.text).rank()),
            Order::NetworksThenPrefix => {
                let single = || self.text.parse::<Ipv4Addr>().ok().map(|_| u32::MAX);
                let wider = match self.network.map(|network| network.mask).or_else(single) {
                    Some(mask) => [0, !mask],
                    None => [1, 0],
                };
                let [kind, free] = wider;
                Rank([kind, free, 128 - Shape::of(&self.text).prefix.min(128), 0])
            }
        }
    }
}

/// What a pattern consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    literals: u32,
    ones: u32,
    /// Runs of `%`.
    manies: u32,
    /// Bytes before the first wildcard, counted from 1; 128 without a wildcard, 0 for an empty text.
    prefix: u32,
}

/// The longest host part: `mysql.global_priv.Host`.
const LONGEST: u32 = 255;

impl Shape {
    fn of(text: &str) -> Self {
        let mut shape = Self { literals: 0, ones: 0, manies: 0, prefix: 0 };
        let mut wild = None;
        let mut bytes = text.bytes().zip(1_u32..).peekable();
        while let Some((byte, at)) = bytes.next() {
            match byte {
                b'%' => {
                    wild.get_or_insert(at.min(127));
                    shape.manies += 1;
                    while bytes.next_if(|(next, _)| *next == b'%').is_some() {}
                }
                b'_' => {
                    wild.get_or_insert(at.min(127));
                    shape.ones += 1;
                }
                b'\\' => {
                    bytes.next();
                    shape.literals += 1;
                }
                _ => shape.literals += 1,
            }
        }
        shape.prefix = wild.unwrap_or(if text.is_empty() { 0 } else { 128 });
        shape
    }

    /// A pattern of M ones and K runs of `%` matches texts with up to L free characters in the runs: about c^M + c^L
    /// times a factor that grows with K, for an alphabet of c characters.
    fn rank(self) -> [u32; 4] {
        let Self { literals, ones, manies, prefix } = self;
        let free = if manies == 0 { 0 } else { LONGEST.saturating_sub(literals + ones) };
        let wild = ones > 0 || manies > 0;
        let prefix = if wild { prefix } else { 0 };
        if free > ones { [free * 2 + 1, manies, ones, prefix] } else { [ones * 2, free, manies, prefix] }
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
