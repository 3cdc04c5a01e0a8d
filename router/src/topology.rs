//! Which backends there are and what lives where.

use std::sync::Arc;

/// A backend's place in the configuration: the first one, 0, is the *home backend*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BackendId(pub u16);

impl BackendId {
    /// The home backend: it holds every schema that is not placed elsewhere.
    pub const HOME: Self = Self(0);
}

/// The layout of the data, as routing sees it. Every change has a new epoch, so that a plan made under an older
/// layout is never used again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    epoch: u64,
    backends: Vec<Arc<str>>,
}

impl Topology {
    /// A layout of backends by name, the home backend first; `None` without any.
    #[must_use]
    pub fn new(epoch: u64, backends: Vec<Arc<str>>) -> Option<Self> {
        if backends.is_empty() { None } else { Some(Self { epoch, backends }) }
    }

    /// The number of this layout; larger is newer.
    #[must_use]
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The backends with their names, in the file's order.
    pub fn backends(&self) -> impl Iterator<Item = (BackendId, &Arc<str>)> {
        (0u16..).map(BackendId).zip(&self.backends)
    }

    /// The name of a backend.
    #[must_use]
    pub fn name(&self, id: BackendId) -> Option<&str> {
        self.backends.get(usize::from(id.0)).map(AsRef::as_ref)
    }
}
