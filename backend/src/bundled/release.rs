//! The version of a MariaDB server as far as its files on disk depend on it.

use std::fmt;

/// A server version, `major.minor.patch`; ordered as the versions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// First number, 10 in `10.11.19`.
    pub major: u16,
    /// Second number, 11 in `10.11.19`.
    pub minor: u16,
    /// Third number, 19 in `10.11.19`.
    pub patch: u16,
}

impl Release {
    /// Reads the version at the start of `text`; what follows it (`-MariaDB-0+deb12u1`) is ignored.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let mut numbers = text.get(..end)?.splitn(3, '.').map(str::parse::<u16>);
        let mut next = || numbers.next()?.ok();
        Some(Self { major: next()?, minor: next()?, patch: next()? })
    }

    /// Reads what `mariadbd --version` prints; `None` for MySQL, which cannot take MariaDB's place.
    #[must_use]
    pub fn of_banner(banner: &str) -> Option<Self> {
        let (_, version) = banner.split_once("Ver ")?;
        version.contains("MariaDB").then(|| Self::parse(version.trim_start()))?
    }

    /// `(major, minor)`: servers of one series read each other's data folders, an older series
    /// does not read a newer one's (MariaDB's documentation on downgrading).
    #[must_use]
    pub const fn series(self) -> (u16, u16) {
        (self.major, self.minor)
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests;
