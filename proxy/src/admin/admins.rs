//! Who is an administrator: account patterns such as `app` or `ops@10.%`.

use std::net::IpAddr;

/// An account pattern. A name without a host means every host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    user: String,
    host: Host,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Any,
    /// The Unix socket, or the loopback interface.
    Localhost,
    /// An address or a pattern with `%` and `_`, compared with the address's text.
    Like(String),
}

impl Pattern {
    /// Reads `user`, `user@host`, `user@10.%`; the name may be empty for the anonymous user, with a host.
    ///
    /// # Errors
    /// What is wrong, for a configuration fault.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err("expected a user name, or user@host");
        }
        let (user, host) = text.rsplit_once('@').unwrap_or((text, "%"));
        Self::new(user, host)
    }

    /// A user's name and a host pattern apart.
    ///
    /// # Errors
    /// What is wrong, for a configuration fault.
    pub(crate) fn new(user: &str, host: &str) -> Result<Self, &'static str> {
        let host = match host {
            "" => return Err("expected a host after `@`, such as `10.%`"),
            "%" => Host::Any,
            host if host.eq_ignore_ascii_case("localhost") => Host::Localhost,
            host if host.contains('/') => {
                return Err("expected an address or a pattern with `%`, not a network mask");
            }
            host => Host::Like(host.to_ascii_lowercase()),
        };
        Ok(Self { user: user.to_owned(), host })
    }

    /// Whether this account, coming from there, is meant; `None` is the Unix socket. Names are compared byte by byte.
    #[must_use]
    pub(crate) fn matches(&self, user: &str, from: Option<IpAddr>) -> bool {
        self.user == user
            && match (&self.host, from.map(|address| address.to_canonical())) {
                (Host::Any, _) | (Host::Localhost, None) => true,
                (Host::Localhost, Some(address)) => address.is_loopback(),
                (Host::Like(pattern), Some(address)) => {
                    wildcard(pattern.as_bytes(), address.to_string().as_bytes(), b'%', b'_')
                }
                (Host::Like(_), None) => false,
            }
    }
}

/// The accounts listed under `admins`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Admins(Vec<Pattern>);

impl Admins {
    /// Admins by these patterns; none of them means nobody.
    #[must_use]
    pub(crate) fn new(patterns: Vec<Pattern>) -> Self {
        Self(patterns)
    }

    /// Whether any pattern matches, see [`Pattern::matches`].
    #[must_use]
    pub(crate) fn contains(&self, user: &str, from: Option<IpAddr>) -> bool {
        self.0.iter().any(|pattern| pattern.matches(user, from))
    }
}

/// Whether `text` matches, where `many` stands for any number of bytes and `one` for exactly one; there is no escape.
/// Takes at most the product of both lengths.
pub(crate) fn wildcard(pattern: &[u8], text: &[u8], many: u8, one: u8) -> bool {
    let (mut at, mut read) = (0_usize, 0_usize);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(at), text.get(read)) {
            (Some(wanted), _) if *wanted == many => {
                at = at.saturating_add(1);
                retry = Some((at, read));
            }
            (Some(wanted), Some(found)) if wanted == found || *wanted == one => {
                (at, read) = (at.saturating_add(1), read.saturating_add(1));
            }
            (None, None) => return true,
            _ => match retry {
                Some((after, from)) if from < text.len() => {
                    retry = Some((after, from.saturating_add(1)));
                    (at, read) = (after, from.saturating_add(1));
                }
                _ => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests;
