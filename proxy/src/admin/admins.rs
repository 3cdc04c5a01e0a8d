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
        let host = match host {
            "" => return Err("expected a host after `@`"),
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
                    like(pattern.as_bytes(), address.to_string().as_bytes())
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

/// SQL's LIKE over bytes without an escape character; linear but for the last `%`.
fn like(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut read) = (0_usize, 0_usize);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(at), text.get(read)) {
            (Some(b'%'), _) => {
                at = at.saturating_add(1);
                retry = Some((at, read));
            }
            (Some(b'_'), Some(_)) => (at, read) = (at.saturating_add(1), read.saturating_add(1)),
            (Some(wanted), Some(found)) if wanted == found => {
                (at, read) = (at.saturating_add(1), read.saturating_add(1))
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
